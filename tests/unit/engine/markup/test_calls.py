"""Calls of tools that nobody offered: shown as calls, whatever family writes them."""

from __future__ import annotations

import json

import pytest

from headstart.core.chats.parts import PartKind
from headstart.core.events import CallStep
from headstart.engine.markup.formats import THINK, format_of, with_calls
from headstart.engine.markup.text_stream import TextStream
from headstart.engine.markup.tool_calls.forms import FORMS, CallForm
from tests.support.call_samples import CALLS, ON
from tests.support.reply_samples import template_of


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize("sample", CALLS, ids=range(len(CALLS)))
def test_a_call_is_neither_answer_nor_thought(
    sample: tuple[str, str, str, str, str, list[tuple[str, str]]], size: int
) -> None:
    template, prompt, raw, reasoning, text, calls = sample
    stream = TextStream(form=format_of(template_of(template)))
    stream.follow(prompt)
    data = raw.encode()
    pieces = []
    for at in range(0, len(data), size):
        pieces += stream.push(data[at : at + size])
    pieces += stream.finish()
    assert (stream.reasoning.strip(), stream.text.strip()) == (reasoning, text)
    whole = (CallStep.WHOLE, CallStep.CUT)
    ended = [one for one in pieces if one.kind is PartKind.TOOL_CALL and one.step in whole]
    shown = [(one.name, one.text) for one in ended]
    assert [(name, _plain(words)) for name, words in shown] == [
        (name, _plain(words)) for name, words in calls
    ]


def _plain(arguments: str) -> object:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


@pytest.mark.parametrize(
    ("sign", "raw", "count"),
    [
        ("<|tool_calls_section_begin|>",
         ("<|tool_calls_section_begin|><|tool_call_begin|>functions.lamp:0"
         f"<|tool_call_argument_begin|>{ON}<|tool_call_end|><|tool_calls_section_end|>"), 1),
        ("<｜tool▁calls▁begin｜>",
         (f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>lamp<｜tool▁sep｜>{ON}"
         "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"), 1),
        ("<｜tool▁calls▁begin｜>",
         ("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>lamp\n```json\n"
         f"{ON}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"), 1),
        ("｜DSML｜",
         ('<｜DSML｜function_calls><｜DSML｜invoke name="lamp"><｜DSML｜parameter name="on" '
         'string="false">true</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>'), 1),
        ("<minimax:tool_call>",
         ('<minimax:tool_call><invoke name="lamp"><parameter name="on">true</parameter></invoke>'
         "</minimax:tool_call>"), 1),
        ("[TOOL_CALLS]", f"[TOOL_CALLS]lamp[ARGS]{ON}", 1),
        ("[TOOL_CALLS]", f'[TOOL_CALLS] [{{"name": "lamp", "arguments": {ON}}}]', 1),
        ("<tool_call>", f'<tool_call>[{{"name": "lamp", "arguments": {ON}}}] </tool_call>', 1),
    ],
)  # fmt: skip
@pytest.mark.parametrize("tokens", [False, True])
def test_every_familys_calls_are_read(sign: str, raw: str, count: int, tokens: bool) -> None:
    """As text, and where the marks are tokens of their own."""
    form = format_of(f"<think></think>{sign}")
    marks = [mark for mark in form.marks if mark != "\n"] if tokens else []
    stream = TextStream(form=form, tokens=marks)
    rest = raw
    while rest:
        at, mark = min(
            ((at, mark) for mark in marks if (at := rest.find(mark)) >= 0),
            default=(len(rest), ""),
            key=lambda found: (found[0], -len(found[1])),
        )
        stream.push(rest[:at].encode())
        if mark:
            stream.push(b"", mark=mark)
        rest = rest[at + len(mark) :]
    stream.finish()
    assert [(name, json.loads(arguments)) for name, arguments in stream.calls] == [
        ("lamp", {"on": True})
    ] * count
    assert stream.text == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ON,
        '{\n  "on": true\n}',
        '{"on": ">>> 1 + 1\\n2"}',
        '{"on": [\n\n1,\n 2]}',
        '{"on": ">>>all\\n"}',
    ],
)
def test_arguments_may_have_the_marks_of_a_header(arguments: str) -> None:
    """Functionary's header ends with its line, and begins with three signs."""
    form = format_of(template_of("meetkai-functionary-medium-v3.2"))
    for size in (1, 3, 500):
        stream = TextStream(form=form, tools={"lamp": {}, "now": {}})
        stream.follow("<|start_header_id|>assistant<|end_header_id|>\n\n>>>")
        raw = f"lamp\n{arguments}>>>now\n{{}}"
        for at in range(0, len(raw), size):
            stream.push(raw[at : at + size].encode())
        stream.finish()
        assert stream.calls == [("lamp", arguments), ("now", "{}")]
        assert stream.text == ""


def test_a_header_ends_a_call_that_is_broken() -> None:
    form = format_of(template_of("meetkai-functionary-medium-v3.2"))
    stream = TextStream(form=form, tools={"lamp": {}})
    stream.follow("<|start_header_id|>assistant<|end_header_id|>\n\n>>>")
    stream.push(b'lamp\n{"on": 1 >>>all\nHello there, it is 2.')
    stream.finish()
    assert stream.text == "Hello there, it is 2."


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_runs_of_marks_and_letters_end(form: CallForm) -> None:
    """Each would take minutes if a search began again at every letter, and all of it is text."""
    units = (
        "a", " ", "\n", "a.", *form.opens, *form.inside, "<function=a", "<parameter=",
        "<arg_key>", "<arg_key>a</arg_key>", "<invoke name=a", "<parameter name=a", "a[CALL_ID]",
    )  # fmt: skip
    for unit in units:
        for before in ("", *(f"{mark}<function=a>" for mark in form.opens)):
            stream = TextStream(form=with_calls(THINK, form), tools={})
            text = before + unit * (2_000 // len(unit))
            for at in range(0, len(text), 500):
                stream.push(text[at : at + 500].encode())
            stream.finish()
            if not stream.calls:
                assert len(stream.text.strip()) >= len(text.strip()) - len(before)


@pytest.mark.parametrize("name", ["lamp", "nothing"])
@pytest.mark.parametrize("ended", [True, False])
def test_in_reasoning_only_a_whole_call_of_an_offered_tool_counts(name: str, ended: bool) -> None:
    form = format_of(template_of("Qwen-Qwen3-0.6B"))
    stream = TextStream(form=form, tools={"lamp": {}})
    raw = f'<think>\nHm. <tool_call>\n{{"name": "{name}", "arguments": {ON}'
    stream.push((raw + ("}\n</tool_call>" if ended else "")).encode())
    stream.finish()
    counts = ended and name == "lamp"
    assert [one[0] for one in stream.calls] == (["lamp"] if counts else [])
    assert ("tool_call" in stream.reasoning) is not counts
    assert stream.text == ""
