"""The system's numbers, dates and lists in the language of the window. Main thread."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from PySide6.QtCore import QDate, QLocale, QTime

from headstart.core.text.locale import use_locale

_SHORT = QLocale.FormatType.ShortFormat


class SystemLocale:
    """A Locale by Qt: `language` as ISO 639, with the conventions of the system's region."""

    def __init__(self, language: str = "en", region: QLocale.Country | None = None) -> None:
        self.language = language
        code = QLocale.codeToLanguage(language)
        territory = QLocale.system().territory() if region is None else region
        self._qt = QLocale(code, territory)

    def install(self) -> None:
        """Have sentences, and Qt's own fields, written this way from now on."""
        QLocale.setDefault(self._qt)
        use_locale(self)

    def number(self, value: float, digits: int = 0) -> str:
        return self._qt.toString(float(value), "f", digits)

    def percent(self, share: float, digits: int = 0) -> str:
        return f"{self.number(100 * share, digits)}{self._qt.percent()}"

    def listed(self, items: Sequence[str]) -> str:
        return self._qt.createSeparatedList(list(items))

    def clock(self, moment: dt.time) -> str:
        form = self._qt.timeFormat(_SHORT).replace(":ss", "").replace(".ss", "")
        return self._qt.toString(QTime(moment.hour, moment.minute), form)

    def day(self, day: dt.date, year: bool) -> str:
        month_first = self._qt.dateFormat(_SHORT).casefold().lstrip().startswith("m")
        form = "MMMM d" if month_first else "d MMMM"
        if year:
            form += ", yyyy" if month_first else " yyyy"
        return self._qt.toString(QDate(day.year, day.month, day.day), form)

    def month(self, day: dt.date) -> str:
        return self._qt.toString(QDate(day.year, day.month, 1), "MMMM yyyy")
