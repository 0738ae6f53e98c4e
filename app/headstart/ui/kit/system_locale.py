"""Numbers, dates and lists: the system's forms, in the language of the window. Main thread."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from PySide6.QtCore import QDate, QLocale, Qt, QTime

from headstart.core.text.locale import use_locale
from headstart.ui.kit.keys import key_text

# by language, from CLDR 48: a day, a day with its year, a month, in the notation of Qt; Qt's own
# formats have the day of the week or no month's name
_DATES: dict[str, tuple[str, str, str]] = {
    "de": ("d. MMMM", "d. MMMM yyyy", "MMMM yyyy"),
    "es": ("d 'de' MMMM", "d 'de' MMMM 'de' yyyy", "MMMM 'de' yyyy"),
    "ja": ("M月d日", "yyyy年M月d日", "yyyy年M月"),
    "ko": ("M월 d일", "yyyy년 M월 d일", "yyyy년 M월"),
    "pt": ("d 'de' MMMM", "d 'de' MMMM 'de' yyyy", "MMMM 'de' yyyy"),
    "ru": ("d MMMM", "d MMMM yyyy 'г'.", "LLLL yyyy 'г'."),
    "uk": ("d MMMM", "d MMMM yyyy 'р'.", "LLLL yyyy 'р'."),
    "pl": ("d MMMM", "d MMMM yyyy", "LLLL yyyy"),
    "vi": ("d MMMM", "d MMMM, yyyy", "MMMM 'năm' yyyy"),
    "zh": ("M月d日", "yyyy年M月d日", "yyyy年M月"),
}
_USUAL_DATES = ("d MMMM", "d MMMM yyyy", "MMMM yyyy")
# where a sign of per cent has a space before it, or stands first
_SPACED_PERCENT = frozenset(("de", "es", "fr", "ru"))
_PERCENT_FIRST = "tr"
_SHORT = QLocale.FormatType.ShortFormat
_ANY = QLocale.Language.AnyLanguage


class SystemLocale:
    """A Locale by Qt: words in `language` (as Qt names it: “de”, “pt_BR”); numbers and the order of
    dates in the form of the system, or of `country` if given."""

    def __init__(self, language: str = "en", country: QLocale.Country | None = None) -> None:
        self.language = language.partition("_")[0]
        self._words = QLocale(language)
        self._forms = self._of_system() if country is None else QLocale(_ANY, country)
        self._from_right = self._words.textDirection() is Qt.LayoutDirection.RightToLeft
        if self._forms.zeroDigit() != "0":
            # digits of another script do not fit into the sentences
            self._forms = self._words

    def install(self) -> None:
        """Use this locale for sentences and for Qt's own fields."""
        QLocale.setDefault(self._forms)
        use_locale(self)

    def number(self, value: float, digits: int = 0) -> str:
        return self._forms.toString(float(value), "f", digits)

    def percent(self, share: float, digits: int = 0) -> str:
        number, sign = self.number(100 * share, digits), self._forms.percent()
        if self.language == _PERCENT_FIRST:
            return f"{sign}{number}"
        space = "\u00a0" if self.language in _SPACED_PERCENT else ""
        return f"{number}{space}{sign}"

    def listed(self, items: Sequence[str]) -> str:
        return self._words.createSeparatedList(list(items))

    def keys(self, keys: str) -> str:
        return key_text(keys)

    def clock(self, moment: dt.time) -> str:
        form = self._forms.timeFormat(_SHORT)
        if "a" in form.casefold() and self.language != "en":
            # half a day: where its name stands, and whether it has one, is the language's
            form = self._words.timeFormat(_SHORT)
        form = form.replace(":ss", "").replace(".ss", "")
        shown = self._own_digits(self._words.toString(QTime(moment.hour, moment.minute), form))
        # its digits would join a name before it
        return f"\u2067{shown}\u2069" if self._from_right else shown

    def day(self, day: dt.date, year: bool) -> str:
        short, long, _ = _DATES.get(self.language, _USUAL_DATES)
        if self.language == "en":
            # English is written in many countries
            first = self._forms.dateFormat(_SHORT).casefold().lstrip().startswith("m")
            short, long = ("MMMM d", "MMMM d, yyyy") if first else _USUAL_DATES[:2]
        return self._date(day, long if year else short)

    def month(self, day: dt.date) -> str:
        return self._date(day, _DATES.get(self.language, _USUAL_DATES)[2])

    def _of_system(self) -> QLocale:
        system = QLocale.system()
        # the C locale is nobody's: it groups no digits
        return self._words if system.language() == QLocale.Language.C else system

    def _date(self, day: dt.date, form: str) -> str:
        if "LLLL" in form:
            # a month that stands alone has a form of its own; Qt's formats do not know it
            form = form.replace("LLLL", f"'{self._words.standaloneMonthName(day.month)}'")
        shown = self._words.toString(QDate(day.year, day.month, day.day), form)
        return self._own_digits(shown)

    def _own_digits(self, shown: str) -> str:
        """Digits as in all other numbers of the window."""
        wanted, zero = self._forms.zeroDigit(), self._words.zeroDigit()
        if wanted == zero:
            return shown
        digits = {ord(zero) + one: chr(ord(wanted) + one) for one in range(10)}
        return shown.translate(digits)
