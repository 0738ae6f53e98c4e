"""Answers that are JSON: indented, and nothing of them changed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headstart.core.markdown.json_answer import indented_json, is_whole_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(), inside, max_size=4),
    max_leaves=20,
)
ANSWERS = st.lists(VALUES, max_size=4) | st.dictionaries(st.text(), VALUES, max_size=4)


@settings(deadline=None)
@given(ANSWERS, st.sampled_from((None, 0, 1, 4)), st.booleans())
def test_an_answer_is_indented_and_says_the_same(
    value: object, indent: int | None, ascii_only: bool
) -> None:
    written = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert indented_json(written) == json.dumps(value, indent=2, ensure_ascii=ascii_only)


@settings(deadline=None, max_examples=40)
@given(ANSWERS)
def test_what_grows_never_falls_back_to_prose(value: object) -> None:
    written = json.dumps([{"a": value}])
    for end in range(3, len(written), 1 + len(written) // 40):
        shown = indented_json(written[:end], growing=True)
        assert shown is not None
        # only the room between words is another one
        assert "".join(shown.split()) == "".join(written[:end].split())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Hello",
        "[1] says so.",
        "[a link](https://example.org)",
        "{name}, hello",
        '{"a": 1} and more',
        '{"a": 1}}',
        '["a", "b"] are letters',
        "- [x] done",
    ],
)
def test_prose_that_begins_with_a_bracket_stays_prose(text: str) -> None:
    assert indented_json(text) is None


@pytest.mark.parametrize("opens", ["[", '{"a":', '[{"a":'])
@pytest.mark.parametrize("growing", [True, False])
def test_what_is_too_deep_to_read_stays_as_it_is_written(opens: str, growing: bool) -> None:
    """Room before each line would grow with the square of the depth: gigabytes for a loop."""
    assert indented_json(opens * 30_000, growing) is None
    assert indented_json("[" * 64 + "]" * 64) is not None
    assert indented_json("[" * 65 + "]" * 65) is None


def test_numbers_and_escapes_stay_as_they_were_written() -> None:
    written = '{"n":1.0,"big":12345678901234567890123,"e":1E5,"s":"\\u00e9\\/"}'
    shown = indented_json(written)
    assert shown is not None
    for word in ("1.0", "12345678901234567890123", "1E5", '"\\u00e9\\/"'):
        assert word in shown


def test_an_answer_that_was_stopped_is_shown_as_far_as_it_goes() -> None:
    assert indented_json('{"a": [1, 2') == '{\n  "a": [\n    1,\n    2'
    assert not is_whole_json('{"a": [1, 2')
    assert is_whole_json('{"a": [1, 2]}')
