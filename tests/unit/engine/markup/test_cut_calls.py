"""A reply that ends inside a call gives the call as far as it was written: whatever its form and
wherever the cut, its arguments read as whole only if the model closed them."""

from __future__ import annotations

import json
import random

import pytest

from headstart.core.chats.parts import PartKind
from headstart.core.chats.values import FinishReason
from headstart.core.events import CallStep, TextPiece
from headstart.engine.markup.formats import FORMATS, THINK, ReplyFormat, with_calls
from headstart.engine.markup.text_stream import TextStream
from headstart.engine.markup.tool_calls.forms import FORMS
from headstart.engine.markup.tool_calls.values import begun_json, to_json
from tests.support.cut_calls import CutReply, calls_in, faults, pushed, replies
from tests.support.run_calls import DIALECTS, ended, runs
from tests.support.tool_forms import TOOLS, shapes

LAMP = {"lamp": {"type": "object", "properties": {"on": {"type": "string"}}}}


@pytest.mark.parametrize("name", sorted(shapes()))
def test_a_call_is_as_far_as_it_was_written_wherever_it_is_cut(name: str) -> None:
    for reply in replies((name,)):
        found = list(faults(reply, range(len(reply.raw))))
        assert found == []


@pytest.mark.parametrize("name", sorted(shapes()))
def test_every_form_shows_a_call_that_is_cut(name: str) -> None:
    """From the name on, and with the words that were written: a form whose calls vanish, or stay
    empty, would have no faults either."""
    reply = replies((name,))[0]
    cut = reply.raw.index("proj")
    (call,) = calls_in(pushed(name, reply.raw[:cut], ended=False))
    assert call.step is CallStep.CUT
    assert call.text == '{"path": "/home/me/'


@pytest.mark.proof
@pytest.mark.parametrize("name", sorted(shapes()))
def test_every_cut_in_every_dialect_letter_by_letter(name: str) -> None:
    for reply in replies((name,)):
        assert list(faults(reply, range(len(reply.raw)), size=1)) == []
        for cut in range(len(reply.raw)):
            assert _ran(reply, cut) == []


@pytest.mark.parametrize("name", sorted(shapes()))
def test_some_cuts_in_every_dialect(name: str) -> None:
    rng = random.Random(name)
    for reply in replies((name,)):
        for cut in rng.sample(range(len(reply.raw)), 3):
            assert _ran(reply, cut) == []


def _ran(reply: CutReply, cut: int) -> list[object]:
    """What a program would run after this cut, other than the call as it was meant."""
    whole = (reply.tool, json.loads(reply.whole))
    found: list[object] = []
    for is_cut in (True, False):
        pieces = pushed(reply.name, reply.raw[:cut], ended=not is_cut)
        end = ended(FinishReason.LENGTH if is_cut else FinishReason.END)
        for dialect in DIALECTS:
            found += [one for one in runs(dialect, pieces, end) if one != whole]
    return found


def _stream(form: ReplyFormat, raw: str, end: bool) -> list[TextPiece]:
    stream = TextStream(form=form, tools=LAMP)
    return stream.push(raw.encode()) + stream.finish(ended=end)


@pytest.mark.parametrize("end", [True, False])
def test_a_program_in_place_of_json_is_whole_only_with_its_message(end: bool) -> None:
    """gpt-oss calls its own tools with plain text, which nothing closes but the message."""
    form = with_calls(FORMATS[0], FORMS[0])
    stream = TextStream(form=form, tools=LAMP)
    stream.follow("<|start|>assistant")
    raw = "<|channel|>commentary to=functions.lamp<|message|>print(1"
    (call,) = calls_in(stream.push(raw.encode()) + stream.finish(ended=end))
    assert call.text == "print(1"
    assert call.step is (CallStep.WHOLE if end else CallStep.CUT)


@pytest.mark.parametrize("end", [True, False])
@pytest.mark.parametrize("cut", range(1, len('"{\\"on\\": \\"x\\"}"')))
def test_arguments_in_a_string_are_cut_as_well(cut: int, end: bool) -> None:
    """Some models write the object into a string."""
    form = with_calls(THINK, next(one for one in FORMS if one.name == "tool_call"))
    raw = '<tool_call>{"name": "lamp", "arguments": ' + '"{\\"on\\": \\"x\\"}"'[:cut]
    (call,) = calls_in(_stream(form, raw, end))
    assert '{"on": "x"}'.startswith(call.text)
    assert (call.step is CallStep.WHOLE) is (call.text == '{"on": "x"}')


def test_a_name_that_is_not_whole_is_no_call() -> None:
    form = with_calls(THINK, next(one for one in FORMS if one.name == "tool_call"))
    raw = '<tool_call>{"name": "lam'
    pieces = _stream(form, raw, end=False)
    assert {one.kind for one in pieces} == {PartKind.TEXT}
    assert "".join(one.text for one in pieces) == raw


def test_a_call_without_any_arguments_yet_does_not_read_as_one_without_arguments() -> None:
    """Programs take an empty text for no arguments, and run it."""
    form = with_calls(THINK, next(one for one in FORMS if one.name == "tool_call"))
    (call,) = calls_in(_stream(form, '<tool_call>{"name": "lamp", "argum', end=False))
    assert (call.step, call.text) == (CallStep.CUT, "{")


@pytest.mark.parametrize(
    ("text", "more", "types", "shown"),
    [
        ("tru", "e", {"boolean"}, "tru"), ("Tr", "ue", {"boolean"}, "tr"),
        ("No", "ne", {"integer", "null"}, "nu"), ("12", "3", {"integer"}, "12"),
        ("[1, 2", "]", {"array"}, "[1, 2"), ('["a', '"]', {"array"}, '["a'),
        ("['a', 'b", "']", {"array"}, ""), ("12", " monkeys", set(), ""),
        ("12", "", {"string", "integer"}, ""), ("nul", "l", {"string", "null"}, ""),
        ("twelve", " o'clock", set(), '"twelve'), ('a "b', '"', {"string"}, '"a \\"b'),
        ("", "3", {"integer"}, ""),
    ],
)  # fmt: skip
def test_a_value_that_is_cut_says_what_is_sure(
    text: str, more: str, types: set[str], shown: str
) -> None:
    assert begun_json(text, frozenset(types)) == shown
    assert to_json(text + more, frozenset(types)).startswith(shown)


def test_the_tools_of_the_table_are_those_of_the_forms() -> None:
    assert {reply.tool for reply in replies()} <= {tool.name for tool in TOOLS}
    assert {reply.name for reply in replies()} == set(shapes())
