"""Pages and parts of files: chosen, said, and put together again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.core.chats.attachments import (
    Extracted,
    Unit,
    about_tokens,
    in_parts,
    numbers_of,
    ranges_text,
)

PAGES = Extracted("application/pdf", Unit.PAGE, ("one", "", "three", "four"))


def test_pages_have_their_numbers_and_empty_ones_say_so() -> None:
    assert PAGES.text == (
        "[Page 1]\none\n\n[Page 2 has no text]\n\n[Page 3]\nthree\n\n[Page 4]\nfour"
    )
    assert PAGES.without_text == [2]


def test_what_is_left_out_is_said_where_it_was() -> None:
    assert PAGES.chosen([3]) == (
        "[Pages 1–2 of 4 are left out]\n\n[Page 3]\nthree\n\n[Page 4 of 4 is left out]"
    )
    parts = Extracted("text/plain", Unit.PART, ("a ", "b ", "c"))
    assert parts.text == "a b c"
    assert parts.chosen([1, 3]) == "[Part 1]\na\n\n[Part 2 of 3 is left out]\n\n[Part 3]\nc"


def test_one_page_has_no_number() -> None:
    assert Extracted("application/pdf", Unit.PAGE, ("alone",)).text == "alone"


@given(st.text(max_size=20_000))
def test_parts_are_the_text_again(text: str) -> None:
    assert "".join(in_parts(text)) == text


def test_parts_end_at_paragraphs_where_they_can() -> None:
    paragraphs = [f"Paragraph {number}. " + "words " * 60 for number in range(60)]
    parts = in_parts("\n\n".join(paragraphs))
    assert len(parts) > 4
    assert all(part.endswith("\n\n") for part in parts[:-1])
    assert all(1_000 < len(part) <= 6_000 for part in parts)


@given(st.sets(st.integers(1, 60), min_size=1))
def test_ranges_say_the_numbers_again(numbers: set[int]) -> None:
    assert numbers_of(ranges_text(numbers), 60) == numbers


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1-3", {1, 2, 3}),
        ("2, 4", {2, 4}),
        ("1 – 2; 5", {1, 2, 5}),
        ("4-99", {4, 5}),
        ("1\u301c3、5", {1, 2, 3, 5}),
        ("\u0661\u060c\u0663", {1, 3}),
        ("１，2", {1, 2}),
    ],
)
def test_people_write_numbers_in_many_ways(text: str, numbers: set[int]) -> None:
    assert numbers_of(text, 5) == numbers


@pytest.mark.parametrize("text", ["", "x", "0", "3-1", "9", "1--2", "-"])
def test_what_says_no_pages_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        numbers_of(text, 5)


def test_chinese_has_a_token_for_each_character() -> None:
    assert about_tokens("词" * 100) == 100
    assert about_tokens("word " * 72) == 100
