"""Whole sentences of a growing text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.core.text.sentences import whole_until


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ""),
        ("A beginning", ""),
        ("One. Two", "One."),
        ("One! “Two?” Three", "One! “Two?”"),
        ("Version 3.11 is here. And", "Version 3.11 is here."),
        ("1. first\n2. second", ""),
        ("**Bold.** More", "**Bold.**"),
        ("# Title\n\nText", "# Title\n\n"),
        ("这是。然后", "这是。"),
        ("هل هذا؟ نعم", "هل هذا؟"),
        ("यह है। और", "यह है।"),
        ("See. ```\n", "See."),
        ("See.\n```python\nprint(1). \n\n", "See."),
        ("See.\n```python\nprint(1). \n```\nAnd", "See.\n```python\nprint(1). \n```"),
    ],
)
def test_sentences_that_are_whole(text: str, told: str) -> None:
    assert text[: whole_until(text, 0)] == told


@given(st.text(alphabet="ab.! \n`。", max_size=60), st.data())
def test_pieces_follow_each_other(text: str, data: st.DataObject) -> None:
    """However a text arrives, the pieces are its beginning, and nothing is told twice."""
    told = 0
    for end in sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8))):
        after = whole_until(text[:end], told)
        assert told <= after <= end or after == told
        told = after
