"""Variables in prompts."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.core.chats.variables import day_text, filled, names

DAY = date(2026, 11, 23)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Translate {{text}} into {{ Language }}, {{text}}", ["text", "language"]),
        ("Today is {{date}}.", []),
        ("{{clipboard}} {{first name}}", ["clipboard", "first name"]),
        ("{{größe}}", ["größe"]),
        ("{ {text}} {{1}} {{}} {{{x}} {{a b", ["x"]),
        ("no variables", []),
    ],
)
def test_names_are_found_once_in_their_order(text: str, found: list[str]) -> None:
    assert names(text) == found


def test_values_are_filled_in_and_not_looked_into() -> None:
    text = "On {{date}}, {{ Who }} wrote {{what}}; {{other}}."
    values = {"who": "Ada", "what": "{{date}} {{who}}"}
    assert filled(text, values, DAY) == (
        "On Monday, 23 November 2026, Ada wrote {{date}} {{who}}; {{other}}."
    )


def test_the_date_can_be_given() -> None:
    assert filled("{{date}}", {"date": "today"}, DAY) == "today"
    assert day_text(date(2024, 2, 29)) == "Thursday, 29 February 2024"


@given(st.text(alphabet="{} ab\n", max_size=40))
def test_any_text_is_no_trouble(text: str) -> None:
    values = dict.fromkeys(names(text), "v")
    assert names(filled(text, values, DAY)) == []
