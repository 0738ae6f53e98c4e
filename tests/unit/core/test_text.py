"""Text as Unicode: positions, texts that show nothing, fences, stop strings, days."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.core.chats.search import parsed
from headstart.core.text.shown import is_blank, isolated
from headstart.core.text.stop_lines import stop_text, stops_of
from headstart.core.text.typing_help import is_in_code, next_line
from headstart.core.text.units import from_units, spans_in_units, to_units, units
from headstart.ui.transcript.highlight import lex

# ASCII, wide and narrow signs, marks, emoji of several characters
texts = st.text(st.sampled_from("ab \n\t\\|é語क्😀👩\u200d🏽🇳🇴\u00a0\u2028"), max_size=30)


def in_units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


@given(texts, st.data())
def test_positions_are_those_of_utf16(text: str, data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, len(text)))
    places = [in_units(text[:begin]), in_units(text[:end])]
    assert units(text) == in_units(text)
    assert to_units(text, [begin, end]) == places
    assert spans_in_units(text, [(begin, end, "x")]) == [(*places, "x")]
    assert [from_units(text, place) for place in places] == [begin, end]


def test_a_place_inside_of_a_pair_is_the_one_before_it() -> None:
    assert [from_units("a😀b", place) for place in range(5)] == [0, 1, 1, 2, 3]


@given(st.lists(texts.filter(bool), max_size=5))
def test_stop_strings_come_back_from_their_lines(stops: list[str]) -> None:
    assert stops_of(stop_text(tuple(stops))) == tuple(stops)


@pytest.mark.parametrize(
    ("text", "stops"),
    [
        ("<|im_end|>", ("<|im_end|>",)),
        ("a|b\nc", ("a|b", "c")),
        ("\\n\\nUser:", ("\n\nUser:",)),
        ("\\end{x}\n\n", ("\\end{x}",)),
        (" x ", (" x ",)),
    ],
)
def test_a_line_is_a_stop_string(text: str, stops: tuple[str, ...]) -> None:
    assert stops_of(text) == stops


@pytest.mark.parametrize(
    ("text", "blank"),
    [
        ("", True), (" \n\t", True), ("\u00a0\u3000", True), ("\u200b\ufeff\u2060", True),
        ("\u2800", True), ("\u3164", True), ("\ufe0f", True), ("\u2028", True), ("\u202e", True),
        ("a", False), (" .", False), ("\u0301", False), ("👍", False), ("\u200bא", False),
    ],
)  # fmt: skip
def test_a_text_that_shows_nothing_is_blank(text: str, blank: bool) -> None:
    assert is_blank(text) is blank


@pytest.mark.parametrize(
    ("before", "inside"),
    [
        ("```ls``` what is it ```", False),
        ("```python\nx", True),
        ("```\nx\n```", False),
        ("````\nx\n```", True),
        ("````\nx\n`````", False),
        ("~~~\nx\n```", True),
        ("~~~ a`b\nx", True),
        ("```\nx\n``` y", True),
        ("    ```\nx", False),
        ("text ```\nx", False),
    ],
)
def test_fences_are_those_of_commonmark(before: str, inside: bool) -> None:
    assert is_in_code(before) is inside


def test_an_item_after_an_emoji_goes_on() -> None:
    assert next_line("😀😀\n- abc") == (0, "- ")
    assert next_line("😀\n- ") == (2, "")


def test_colours_of_code_lie_on_their_words() -> None:
    code = 'x = "😀😀"  # 語\ny = 1\n'
    raw = code.encode("utf-16-le")
    words = {
        raw[2 * at : 2 * (at + size)].decode("utf-16-le") for at, size, _ in lex(code, "python")
    }
    assert {'"', "😀😀", "# 語", "1"} <= words or {'"😀😀"', "# 語", "1"} <= words


@pytest.fixture
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="Windows has one time zone for all")
@pytest.mark.usefixtures("in_berlin")
@pytest.mark.parametrize(
    ("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-06-01", 24)]
)
def test_a_day_is_as_long_as_it_is_there(day: str, hours: int) -> None:
    _, filters = parsed(f"on:{day}")
    assert (filters.before - filters.after) / 3_600_000 == hours
    begin = dt.datetime.fromtimestamp(filters.after / 1000)
    assert (begin.hour, begin.minute, begin.date().isoformat()) == (0, 0, day)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("Tides", "Tides"), ("潮?", "潮?"), ("Ça va?", "Ça va?"),
        ("למה יש גאות?", "\u2068למה יש גאות?\u2069"), ("كيف؟ 🌊", "\u2068كيف؟ 🌊\u2069"),
    ],
)  # fmt: skip
def test_a_line_from_right_to_left_keeps_its_direction(line: str, shown: str) -> None:
    assert isolated(line) == shown
