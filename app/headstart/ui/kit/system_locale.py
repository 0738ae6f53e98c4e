"""Numbers, dates and lists: the system's forms, in the language of the window. Main thread."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from PySide6.QtCore import QDate, QLocale, QTime

from headstart.core.text.locale import use_locale

_SHORT = QLocale.FormatType.ShortFormat
_ANY = QLocale.Language.AnyLanguage


class SystemLocale:
    """A Locale by Qt: words in `language` (as Qt names it: “de”, “pt_BR”); numbers and the order of
    dates in the form of the system, or of `country` if given."""

    def __init__(self, language: str = "en", country: QLocale.Country | None = None) -> None:
        self.language = language.partition("_")[0]
        self._words = QLocale(language)
        self._forms = _of_system() if country is None else QLocale(_ANY, country)
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
        return f"{self.number(100 * share, digits)}{self._forms.percent()}"

    def listed(self, items: Sequence[str]) -> str:
        return self._words.createSeparatedList(list(items))

    def clock(self, moment: dt.time) -> str:
        form = self._forms.timeFormat(_SHORT).replace(":ss", "").replace(".ss", "")
        return self._words.toString(QTime(moment.hour, moment.minute), form)

    def day(self, day: dt.date, year: bool) -> str:
        month_first = self._forms.dateFormat(_SHORT).casefold().lstrip().startswith("m")
        form = "MMMM d" if month_first else "d MMMM"
        if year:
            form += ", yyyy" if month_first else " yyyy"
        return self._words.toString(QDate(day.year, day.month, day.day), form)

    def month(self, day: dt.date) -> str:
        return self._words.toString(QDate(day.year, day.month, 1), "MMMM yyyy")


def _of_system() -> QLocale:
    system = QLocale.system()
    # the C locale groups no digits
    return QLocale("en_US") if system.language() == QLocale.Language.C else system
