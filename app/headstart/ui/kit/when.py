"""Moments as people write them: “14:25”, “yesterday 14:25”, “16 October”. Main thread."""

from __future__ import annotations

import datetime as dt

from PySide6.QtCore import QDate, QLocale, QTime

_SHORT = QLocale.FormatType.ShortFormat


def when_text(milliseconds: int, today: dt.date | None = None) -> str:
    """A moment in milliseconds since 1970: the time today and yesterday, else the day; in the order
    and with the names of the system's language."""
    moment = _moment(milliseconds)
    if moment is None:
        return ""
    today = today or dt.datetime.now().astimezone().date()
    day = moment.date()
    if day == today:
        return clock_text(milliseconds)
    if day == today - dt.timedelta(days=1):
        return f"yesterday {clock_text(milliseconds)}"
    return day_text(day, today)


def moment_text(milliseconds: int, today: dt.date | None = None) -> str:
    """The same, with the time of every day."""
    moment = _moment(milliseconds)
    if moment is None:
        return ""
    today = today or dt.datetime.now().astimezone().date()
    if moment.date() == today:
        return f"today {clock_text(milliseconds)}"
    text = when_text(milliseconds, today)
    return text if text.startswith("yesterday") else f"{text}, {clock_text(milliseconds)}"


def clock_text(milliseconds: int) -> str:
    """The time of day, without seconds."""
    moment = _moment(milliseconds)
    if moment is None:
        return ""
    form = QLocale().timeFormat(_SHORT).replace(":ss", "").replace(".ss", "")
    return QLocale().toString(QTime(moment.hour, moment.minute), form)


def day_text(day: dt.date, today: dt.date) -> str:
    """“16 October”, with the year where it is another one."""
    month_first = QLocale().dateFormat(_SHORT).casefold().lstrip().startswith("m")
    form = "MMMM d" if month_first else "d MMMM"
    if day.year != today.year:
        form += ", yyyy" if month_first else " yyyy"
    return QLocale().toString(QDate(day.year, day.month, day.day), form)


def _moment(milliseconds: int) -> dt.datetime | None:
    """None for what no calendar has, because an import may say anything, and for 0, which messages
    have whose file says no time."""
    if milliseconds <= 0:
        return None
    try:
        return dt.datetime.fromtimestamp(milliseconds / 1000).astimezone()
    except (OverflowError, OSError, ValueError):
        return None
