"""Arithmetic is exact, and a term without a value says why."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.core.calculator import CalculationError, calculate


@pytest.mark.parametrize(
    ("term", "value"),
    [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("0.1 + 0.2", "0.3"),
        ("2 ** 100", "1267650600228229401496703205376"),
        ("2^10", "1024"),
        ("-2 ** 2", "-4"),
        ("2 ** -2", "0.25"),
        ("10 / 4", "2.5"),
        ("7 // 2", "3"),
        ("-7 % 3", "2"),
        ("1 / 3", "1/3, about 0.333333333333333333333333333333"),
        ("sqrt(144)", "12"),
        ("sqrt(2)", "about 1.41421356237309504880168872421"),
        ("4 ** (1/2)", "2"),
        ("round(2.5)", "3"),
        ("round(-2.345, 2)", "-2.35"),
        ("max(1, 7, 3) - min(2, 5)", "5"),
        ("20!", "2432902008176640000"),
        ("1_000 × 3", "3000"),
        ("6 ÷ 4 − 1", "0.5"),
        ("1e3 + .5", "1000.5"),
        ("19.99 * 3", "59.97"),
    ],
)
def test_a_term_has_its_exact_value(term: str, value: str) -> None:
    assert calculate(term) == value


@pytest.mark.parametrize(
    "term",
    [
        "", "1 +", "(1", "1)", "1 / 0", "1 // 0", "0 ** -1", "2 ** 2 ** 99", "9" * 20_000,
        "9 ** 9 ** 9", "sqrt(-1)", "import os", "__import__('os')", "x + 1", "5001!", "(-1)!",
        "1; 2", "2 ** 0.3", "(" * 200 + "1" + ")" * 200, "1e9999 ** 9", "abs(1, 2)", "1..2",
    ],
)  # fmt: skip
def test_a_term_without_a_value_says_why(term: str) -> None:
    with pytest.raises(CalculationError) as why:
        calculate(term)
    assert str(why.value)


@given(st.integers(-(10**12), 10**12), st.integers(-(10**12), 10**12), st.sampled_from("+-*"))
def test_whole_numbers_are_exact(one: int, two: int, sign: str) -> None:
    expected = {"+": one + two, "-": one - two, "*": one * two}[sign]
    assert calculate(f"({one}) {sign} ({two})") == str(expected)


@given(st.decimals(-(10**6), 10**6, places=6), st.decimals(-(10**6), 10**6, places=6))
def test_decimals_are_exact(one: object, two: object) -> None:
    assert Fraction(calculate(f"({one}) + ({two})")) == Fraction(str(one)) + Fraction(str(two))
