"""A call that a model only considers is text of its thoughts; one in thoughts that never end is a
call. In every family."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import pytest

from headstart.core.chats.parts import PartKind
from headstart.core.events import CallStep, TextPiece
from headstart.core.requests import WrittenSoFar
from headstart.engine.markup.formats import FORMATS, THINK, ThoughtsEnd, with_calls
from headstart.engine.markup.text_stream import TextStream
from headstart.engine.markup.tool_calls.forms import GENERIC
from tests.support.cut_calls import calls_in, form_of_shape
from tests.support.thoughts import CALL, OTHER, called, heard, is_several, marks_of, thinking

# families in which nothing but a mark, or the end of a section, ends thoughts
ENCLOSED = [*thinking(ThoughtsEnd.MARK), *thinking(ThoughtsEnd.SECTION)]
WAYS = [(1, False), (7, False), (0, False), (1, True), (0, True)]


def _read(calls: Sequence[tuple[str, str]]) -> list[tuple[str, Any]]:
    return [(name, json.loads(text)) for name, text in calls]


def _said(pieces: Sequence[TextPiece], kind: PartKind) -> str:
    return "".join(one.text for one in pieces if one.kind is kind)


@pytest.mark.parametrize(("size", "tokens"), WAYS)
@pytest.mark.parametrize("name", ENCLOSED)
def test_a_call_that_is_only_considered_is_none(name: str, size: int, tokens: bool) -> None:
    form = form_of_shape(name)
    thought = f"I could write {called(name, CALL)} but I ask first."
    raw = f"{form.opens}{thought}{form.turns}Shall I delete it?"
    stream, pieces = heard(name, raw, size, tokens)
    assert stream.calls == []
    assert [one for one in pieces if one.kind is PartKind.TOOL_CALL] == []
    assert (stream.reasoning.strip(), stream.text) == (thought, "Shall I delete it?")
    assert _said(pieces, PartKind.REASONING) == stream.reasoning
    assert _said(pieces, PartKind.TEXT) == stream.text


@pytest.mark.parametrize(("size", "tokens"), WAYS)
@pytest.mark.parametrize("name", ENCLOSED)
def test_a_call_in_thoughts_that_never_end_is_a_call(name: str, size: int, tokens: bool) -> None:
    raw = f"{form_of_shape(name).opens}I look.\n{called(name, CALL)}\n"
    stream, pieces = heard(name, raw, size, tokens)
    assert _read(stream.calls) == _read([CALL])
    (call,) = calls_in(pieces)
    assert (call.step, call.call) == (CallStep.WHOLE, 1)
    assert next(one.step for one in pieces if one.kind is PartKind.TOOL_CALL) is CallStep.BEGAN
    # the call is shown once
    assert "notes" not in stream.reasoning
    assert stream.reasoning.startswith("I look.")
    assert stream.text == ""


@pytest.mark.parametrize("name", ENCLOSED)
def test_thoughts_that_a_limit_cuts_might_still_have_ended(name: str) -> None:
    thought = f"I look.\n{called(name, CALL)}"
    stream, pieces = heard(name, form_of_shape(name).opens + thought, ended=False)
    assert (stream.calls, calls_in(pieces)) == ([], [])
    assert stream.reasoning == thought
    assert stream.text == ""


@pytest.mark.parametrize("name", ENCLOSED)
def test_a_call_after_thoughts_about_one_is_the_only_call(name: str) -> None:
    form = form_of_shape(name)
    thought = f"Not {called(name, CALL)} but"
    raw = f"{form.opens}{thought}{form.turns}{called(name, OTHER)}"
    stream, pieces = heard(name, raw, 1)
    assert _read(stream.calls) == _read([OTHER])
    assert [one.call for one in calls_in(pieces)] == [1]
    assert stream.reasoning.strip() == thought
    assert "think" not in stream.text.casefold()


@pytest.mark.parametrize("name", ENCLOSED)
def test_words_after_a_call_do_not_unmake_it_where_thoughts_never_end(name: str) -> None:
    thought = f"I look. {called(name, CALL)} Now I wait."
    stream, pieces = heard(name, form_of_shape(name).opens + thought, 3)
    assert _read(stream.calls) == _read([CALL])
    assert len(calls_in(pieces)) == 1
    # the words were shown as they were written
    assert stream.reasoning == thought


@pytest.mark.parametrize("name", [name for name in ENCLOSED if is_several(name)])
def test_several_calls_in_thoughts_that_never_end(name: str) -> None:
    raw = f"{form_of_shape(name).opens}Both.\n{called(name, CALL, OTHER)}"
    stream, pieces = heard(name, raw, 5)
    assert _read(stream.calls) == _read([CALL, OTHER])
    assert [one.call for one in calls_in(pieces)] == [1, 2]
    assert stream.reasoning.strip() == "Both."


@pytest.mark.parametrize("name", thinking(ThoughtsEnd.MESSAGE))
def test_a_call_that_is_a_message_of_its_own_ends_the_thoughts(name: str) -> None:
    """Its header says whom it is for, and no thought has a header."""
    form = form_of_shape(name)
    turn = "<|end|><|start|>assistant" if form.name == "harmony" else "<|eom|><|start|>assistant"
    raw = f"{form.opens}I look.{turn}{called(name, CALL)}"
    for size in (1, 0):
        stream, pieces = heard(name, raw, size)
        assert _read(stream.calls) == _read([CALL])
        # as it is written, not at the end of the reply
        assert [one.step for one in pieces].count(CallStep.MORE) > 1 or not size
        assert (stream.reasoning, stream.text) == ("I look.", "")


def test_each_family_says_how_its_thoughts_end() -> None:
    """Where a header announces calls they are messages of their own, except in sections."""
    for form in FORMATS:
        expected = ThoughtsEnd.MESSAGE if form.caller else ThoughtsEnd.MARK
        if form.name == "sections":
            expected = ThoughtsEnd.SECTION
        assert form.thoughts_end is expected, form.name


@pytest.mark.parametrize("name", ENCLOSED)
def test_thoughts_go_on_as_they_are_written(name: str) -> None:
    """A mark in them is held back until it is a call or none: not to the end of the thoughts."""
    form = form_of_shape(name)
    stream = TextStream(form=form, tools={})
    stream.follow("")
    pieces = stream.push(f"{form.opens}The mark {called(name, CALL)[:20]} ".encode())
    for _ in range(120):
        pieces += stream.push(b"begins. ")
    assert len(_said(pieces, PartKind.REASONING)) > 300
    assert stream.so_far.reasoning.count("begins.") == 120


def test_what_is_held_back_of_a_call_is_part_of_the_text_so_far() -> None:
    """A reply whose chat is shortened meanwhile is rendered again with it."""
    stream = TextStream(form=with_calls(THINK, GENERIC), tools={"lamp": {}})
    said = 'Hm. <tool_call>{"name": "lamp", "argu'
    stream.push(f"<think>\n{said}".encode())
    assert stream.so_far == WrittenSoFar(said)
    assert not stream.all_shown


@pytest.mark.parametrize("count", [1, 40])
def test_a_mark_before_a_call_does_not_hide_the_call(count: int) -> None:
    call = '<tool_call>{"name": "lamp", "arguments": {}}</tool_call>'
    stream = TextStream(form=with_calls(THINK, GENERIC), tools={"lamp": {}})
    stream.push(f"<think>\n{'A <tool_call> is one. ' * count}{call}".encode())
    stream.finish()
    assert stream.calls == [("lamp", "{}")]
    assert stream.reasoning == "A <tool_call> is one. " * count


def test_the_name_of_a_tool_that_nobody_offered_is_a_word() -> None:
    call = '<tool_call>{"name": "lump", "arguments": {}}</tool_call>'
    stream = TextStream(form=with_calls(THINK, GENERIC), tools={"lamp": {}})
    stream.push(f"<think>\n{call}".encode())
    stream.finish()
    assert (stream.calls, stream.reasoning) == ([], call)


PROSE = ("I could ", "Hm: ", "no. ", "Wait <b>. ", "日本 ", "")
WORDS = ("</tool_call>", '"}]', "it's", "a\nb", "naïve 👩‍👩‍👧", "\\n", "[ARGS]", "plain", "{", "=")


def _fuzz(name: str, count: int, seed: int) -> int:
    """Replies that lost a word of their thoughts, or a call, or gained one."""
    form, rng, lost = form_of_shape(name), random.Random(f"{name}{seed}"), 0
    own = marks_of(form)
    for _ in range(count):
        path = " ".join(rng.choice(WORDS) for _ in range(3))
        for mark in own:
            path = path.replace(mark, "")
        if name in thinking(ThoughtsEnd.SECTION) or "<arg_key>" in called(name, CALL):
            path = "notes"
        calls = [("read_file", json.dumps({"path": path})) for _ in range(rng.randint(1, 2))]
        parts = [part for one in calls for part in (rng.choice(PROSE), called(name, one))]
        thought = "".join([*parts, rng.choice(PROSE)]).strip()
        closes = rng.random() < 0.6
        raw = form.opens + thought + (f"{form.turns}Four." if closes else "")
        size, tokens = rng.choice((1, 2, 5, 40, 0)), rng.random() < 0.5
        stream, pieces = heard(name, raw, size, tokens)
        whole, _ = heard(name, raw, 0, tokens)
        same = (stream.reasoning, stream.text, stream.calls) == (
            whole.reasoning, whole.text, whole.calls,
        )  # fmt: skip
        right = stream.text == ("Four." if closes else "")
        right = right and _said(pieces, PartKind.REASONING) == stream.reasoning
        if closes:
            right = right and (stream.reasoning.strip(), stream.calls) == (thought, [])
        else:
            right = right and len(stream.calls) == len(calls)
        lost += not (same and right)
    return lost


@pytest.mark.parametrize("name", ENCLOSED)
def test_thoughts_with_calls_lose_nothing(name: str) -> None:
    assert _fuzz(name, 8, 1) == 0


@pytest.mark.proof
@pytest.mark.parametrize("name", ENCLOSED)
def test_many_thoughts_with_calls_lose_nothing(name: str) -> None:
    assert _fuzz(name, 1000, 2) == 0
