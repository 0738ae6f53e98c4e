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
from tests.support.plain import plain

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
    assert plain(size_text(3_400_000_000)) == size
    assert locale().clock(moment.time()).replace(" ", "\u202f") == clock
    assert locale().day(moment.date(), year=False) == day
    assert locale().month(moment.date()) == month
    # fields of numbers speak the same
    assert QLocale().toString(1_234_567) == number


def test_lists_and_shares_are_written_by_the_language() -> None:
    SystemLocale("de", COUNTRY.Germany).install()
    assert locale().listed(["a", "b", "c"]) == "a, b und c"
    assert locale().percent(0.256, 1) == "25,6\u00a0%"
    assert locale().language == "de"


def test_words_get_their_numbers_from_it() -> None:
    SystemLocale("en", COUNTRY.Germany).install()
    said = say("inspector.used-of-size-exactly", used=1_200, size=8_192)
    assert plain(said) == "1.200 of 8.192 tokens"


@pytest.mark.parametrize(
    ("language", "day", "whole", "month", "share"),
    [
        ("de", "16. Oktober", "16. Oktober 2026", "Oktober 2026", "50\u00a0%"),
        ("es", "16 de octubre", "16 de octubre de 2026", "octubre de 2026", "50\u00a0%"),
        ("fr", "16 octobre", "16 octobre 2026", "octobre 2026", "50\u00a0%"),
        ("it", "16 ottobre", "16 ottobre 2026", "ottobre 2026", "50%"),
        ("pt_BR", "16 de outubro", "16 de outubro de 2026", "outubro de 2026", "50%"),
        ("ru", "16 октября", "16 октября 2026 г.", "октябрь 2026 г.", "50\u00a0%"),
        ("pl", "16 października", "16 października 2026", "październik 2026", "50%"),
        ("uk", "16 жовтня", "16 жовтня 2026 р.", "жовтень 2026 р.", "50%"),
        ("tr", "16 Ekim", "16 Ekim 2026", "Ekim 2026", "%50"),
        ("id", "16 Oktober", "16 Oktober 2026", "Oktober 2026", "50%"),
        ("vi", "16 tháng 10", "16 tháng 10, 2026", "tháng 10 năm 2026", "50%"),
        ("ar", "16 أكتوبر", "16 أكتوبر 2026", "أكتوبر 2026", "50%"),
        ("fa", "16 اکتبر", "16 اکتبر 2026", "اکتبر 2026", "50%"),
        ("hi", "16 अक्टूबर", "16 अक्टूबर 2026", "अक्टूबर 2026", "50%"),
        ("zh_CN", "10月16日", "2026年10月16日", "2026年10月", "50%"),
        ("zh_TW", "10月16日", "2026年10月16日", "2026年10月", "50%"),
        ("ja", "10月16日", "2026年10月16日", "2026年10月", "50%"),
        ("ko", "10월 16일", "2026년 10월 16일", "2026년 10월", "50%"),
    ],
)
def test_dates_and_shares_are_written_by_the_language(
    language: str, day: str, whole: str, month: str, share: str
) -> None:
    """The forms are those of CLDR; digits are those of all other numbers."""
    SystemLocale(language, COUNTRY.UnitedStates).install()
    moment = dt.date(2026, 10, 16)
    assert locale().day(moment, year=False) == day
    assert locale().day(moment, year=True) == whole
    assert locale().month(moment) == month
    assert locale().percent(0.5) == share


@pytest.mark.parametrize(
    ("language", "country", "clock"),
    [
        ("en", COUNTRY.UnitedStates, "2:05 PM"), ("en", COUNTRY.Germany, "14:05"),
        ("de", COUNTRY.UnitedStates, "14:05"), ("de", COUNTRY.Germany, "14:05"),
        ("ja", COUNTRY.UnitedStates, "14:05"), ("ko", COUNTRY.UnitedStates, "오후 2:05"),
        ("ru", COUNTRY.Finland, "14.05"), ("zh_CN", COUNTRY.UnitedStates, "14:05"),
        ("ar", COUNTRY.UnitedStates, "\u20672:05 م\u2069"),
    ],
)  # fmt: skip
def test_half_days_stand_where_the_language_has_them(
    language: str, country: QLocale.Country, clock: str
) -> None:
    shown = SystemLocale(language, country).clock(dt.time(14, 5))
    assert shown.replace("\u202f", " ") == clock
