"""An edited text keeps the line ends that nobody touched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.core.text.line_ends import as_edited


def shown(text: str) -> str:
    """A text as a field shows it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2029", "\n")


TABLE = [
    ("a\r\nb\r\nc", "a\nB\nc", "a\r\nB\r\nc"),
    ("a\r\nb\r\n", "a\nb\nnew\n", "a\r\nb\r\nnew\r\n"),
    ("a\r\nb\r\n", "a\nb\nnew", "a\r\nb\r\nnew"),
    ("a\r\nb\rc\nd", "a\nb\nc\nD", "a\r\nb\rc\nD"),
    ("a\r\nb\rc\nd", "A\nb\nc\nd", "A\r\nb\rc\nd"),
    ("a\r\na\r\na\r\n", "a\na\n", "a\r\na\r\n"),
    ("a\r\nb", "", ""),
    ("a\r\nb", "ab", "ab"),
    ("one line", "one\nline", "one\nline"),
    ("a\u2029b\u2029c", "a\nb\nd", "a\u2029b\u2029d"),
]
PIECES = ["a", "b", "\r\n", "\r", "\n", "\u2029", "\u2028", "\x85"]
TEXTS = st.lists(st.sampled_from(PIECES)).map("".join)
OF_WINDOWS = st.lists(st.sampled_from(PIECES[:3])).map("".join)


@pytest.mark.parametrize(("text", "now", "kept"), TABLE)
def test_changed_lines_get_the_usual_end(text: str, now: str, kept: str) -> None:
    assert as_edited(text, shown(text), now) == kept


@given(TEXTS, TEXTS)
def test_the_field_would_show_the_result_as_it_is(text: str, now: str) -> None:
    assert shown(as_edited(text, shown(text), shown(now))) == shown(now)


@given(TEXTS)
def test_nothing_changes_where_nothing_was_typed(text: str) -> None:
    assert as_edited(text, shown(text), shown(text)) == text


@given(OF_WINDOWS, OF_WINDOWS)
def test_lines_around_a_change_stay(before: str, after: str) -> None:
    text, wanted = f"{before}\r\n1\r\n{after}", f"{before}\r\n2\r\n{after}"
    assert as_edited(text, shown(text), shown(wanted)) == wanted
