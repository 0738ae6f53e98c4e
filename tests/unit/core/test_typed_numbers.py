"""Numbers as people of many places type them."""

import pytest

from headstart.core.text.typed_numbers import may_become_number, number_of

SAID = {
    # text, decimal sign of the place: the number
    ("1.5", "."): 1.5, ("1.5", ","): 1.5, ("1,5", "."): 1.5, ("1,5", ","): 1.5,
    ("0.05", ","): 0.05, ("0,05", "."): 0.05, ("0,500", "."): 0.5, (".5", ","): 0.5,
    ("1,500", "."): 1500, ("1,500", ","): 1.5, ("1.500", ","): 1500, ("1.500", "."): 1.5,
    ("1,234,567", ","): 1234567, ("1.234.567", "."): 1234567, ("1.234,5", "."): 1234.5,
    ("1,234.5", ","): 1234.5, ("12,34,567", "."): 1234567, ("1 500", ","): 1500,
    ("1\u202f500,25", ","): 1500.25, ("1\u00a0500", "."): 1500, ("1'500.5", "."): 1500.5,
    ("1’500", "."): 1500, ("١٥٠٠", "٫"): 1500, ("١٬٥٠٠٫٥", "٫"): 1500.5, ("۱٫۵", "."): 1.5,
    ("१२", "."): 12, ("１５", "."): 15, ("−2", "."): -2, ("-2,5", ","): -2.5, ("+3", "."): 3,
    ("\u200f١٥", "٫"): 15, (" 7 ", "."): 7, ("007", "."): 7,
}  # fmt: skip
NONE = ("", " ", "-", ".", ",", "1.", "1,2,3", "15.5.5", "1 5", "1'5", "1.234.5", "1,23,4", "½",
        "²", "1e3", "0x10", "nan", "inf", "1_000", "1.5.", "--1", "一", "9" * 50,
        "1,234 567")  # fmt: skip


@pytest.mark.parametrize(("text", "point"), SAID)
def test_a_number_is_read_as_it_is_meant(text: str, point: str) -> None:
    assert number_of(text, point) == SAID[text, point]
    assert all(may_become_number(text[:end]) for end in range(len(text)))


@pytest.mark.parametrize("text", NONE)
@pytest.mark.parametrize("point", [".", ",", "٫"])
def test_a_text_that_is_not_clear_is_no_number(text: str, point: str) -> None:
    assert number_of(text, point) is None
