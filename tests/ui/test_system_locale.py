"""The system's conventions in an English window."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QLocale

from headstart.core.text.locale import locale, use_locale
from headstart.core.text.shown import size_text
from headstart.ui.kit.system_locale import SystemLocale
from headstart.ui.wording import say

COUNTRY = QLocale.Country


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before, default = locale(), QLocale()
    yield
    use_locale(before)
    QLocale.setDefault(default)


@pytest.mark.parametrize(
    ("country", "number", "size", "clock", "day", "month"),
    [
        (COUNTRY.UnitedStates, "1,234,567", "3.4 GB", "2:05\u202fPM", "October 16", "October 2026"),
        (COUNTRY.UnitedKingdom, "1,234,567", "3.4 GB", "14:05", "16 October", "October 2026"),
        (COUNTRY.Brazil, "1.234.567", "3,4 GB", "14:05", "16 October", "October 2026"),
        (COUNTRY.Egypt, "1,234,567", "3.4 GB", "2:05\u202fPM", "October 16", "October 2026"),
        (COUNTRY.Germany, "1.234.567", "3,4 GB", "14:05", "16 October", "October 2026"),
    ],
    ids=["US", "UK", "Brazil", "Egypt", "Germany"],
)
def test_numbers_and_dates_are_those_of_the_region(
    country: QLocale.Country, number: str, size: str, clock: str, day: str, month: str
) -> None:
    SystemLocale("en", country).install()
    moment = dt.datetime(2026, 10, 16, 14, 5)
    assert locale().number(1_234_567) == number
    assert size_text(3_400_000_000) == size
    assert locale().clock(moment.time()).replace(" ", "\u202f") == clock
    assert locale().day(moment.date(), year=False) == day
    assert locale().month(moment.date()) == month
    # fields of numbers speak the same
    assert QLocale().toString(1_234_567) == number


def test_lists_and_shares_are_written_by_the_language() -> None:
    SystemLocale("de", COUNTRY.Germany).install()
    assert locale().listed(["a", "b", "c"]) == "a, b und c"
    assert locale().percent(0.256, 1) == "25,6%"
    assert locale().language == "de"


def test_words_get_their_numbers_from_it() -> None:
    SystemLocale("en", COUNTRY.Germany).install()
    assert say("inspector.used-of-size-exactly", used=1_200, size=8_192) == "1.200 of 8.192 tokens"
