"""Moments as people write them: “14:25”, “yesterday 14:25”, “16 October”. Pure."""

from __future__ import annotations

import datetime as dt

from headstart.core.text.locale import locale
from headstart.ui.wording import say


def when_text(milliseconds: int, today: dt.date | None = None) -> str:
    """A moment in milliseconds since 1970: the time if today or yesterday, else the day; in the
    usual order of the system's region."""
    moment = _moment(milliseconds)
    if moment is None:
        return ""
    today = today or dt.datetime.now().astimezone().date()
    day = moment.date()
    if day == today:
        return locale().clock(moment.time())
    if day == today - dt.timedelta(days=1):
        return say("kit.yesterday", clock=locale().clock(moment.time()))
    return day_text(day, today)


def moment_text(milliseconds: int, today: dt.date | None = None) -> str:
    """A moment as in `when_text`, but always with the time."""
    moment = _moment(milliseconds)
    if moment is None:
        return ""
    today = today or dt.datetime.now().astimezone().date()
    clock = locale().clock(moment.time())
    if moment.date() == today:
        return say("kit.today", clock=clock)
    if moment.date() == today - dt.timedelta(days=1):
        return say("kit.yesterday", clock=clock)
    return say("kit.day-and-clock", day=day_text(moment.date(), today), clock=clock)


def clock_text(milliseconds: int) -> str:
    """The time of day, without seconds."""
    moment = _moment(milliseconds)
    return "" if moment is None else locale().clock(moment.time())


def day_text(day: dt.date, today: dt.date) -> str:
    """A day like “16 October”, with the year if it is not the current one."""
    return locale().day(day, year=day.year != today.year)


def _moment(milliseconds: int) -> dt.datetime | None:
    """The moment; None if it is beyond the calendar, because an import may contain anything, and
    for 0, the time of messages whose file has none."""
    if milliseconds <= 0:
        return None
    try:
        return dt.datetime.fromtimestamp(milliseconds / 1000).astimezone()
    except (OverflowError, OSError, ValueError):
        return None
