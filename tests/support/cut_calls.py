"""Replies with a call in every family's form, cut anywhere: what of them reads as a whole call."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator

from msgspec import Struct

from headstart.core.chats.parts import PartKind
from headstart.core.events import CallStep, TextPiece
from headstart.engine.markup.formats import ReplyFormat, format_of, with_calls
from headstart.engine.markup.text_stream import TextStream
from tests.models.llama_source import templates
from tests.support.tool_forms import TOOLS, shapes, written

SCHEMAS = {tool.name: tool.parameters for tool in TOOLS}
# ends of prompts whose replies begin within a header
PROMPTS = {
    "harmony": "<|start|>assistant", "recipients": "<|start|>assistant", "addressee": ">>>",
}  # fmt: skip
# a text with all that is written in two ways; words, a number, a list; objects within
ARGUMENTS = (
    ("read_file", '{"path": "/home/it\'s a \\"b\\", c] \\u00e9\\\\n日本", "from": 12}'),
    ("run", '{"command": ["ls", "-l a"], "background": true, "timeout": 2.5}'),
    ("run", '{"command": [], "background": false, "env": {"HOME": "x y", "N": "<b>"}}'),
)
# a text's last word would be another one with more of it
DANGEROUS = ("read_file", '{"path": "/home/me/project/build"}')
ENDED = (CallStep.WHOLE, CallStep.CUT)


class CutReply(Struct, frozen=True):
    """A reply of the template `name` that calls `tool` with `arguments`; `whole` are these as the
    form's own reader gives them."""

    name: str
    tool: str
    raw: str
    whole: str


@functools.cache
def form_of_shape(name: str) -> ReplyFormat:
    way, _, _ = shapes()[name]
    return with_calls(format_of(templates()[name]), way.form, offered=True)


def stream_of(name: str) -> TextStream:
    """A stream at the beginning of a reply with tools."""
    form = form_of_shape(name)
    stream = TextStream(form=form, tools=SCHEMAS)
    stream.follow(PROMPTS.get(form.calls.name if form.calls is not None else "", ""))
    return stream


def pushed(name: str, raw: str, ended: bool, size: int = 0) -> list[TextPiece]:
    """The pieces of a reply that comes `size` bytes at a time, or at once."""
    stream, data, pieces = stream_of(name), raw.encode(), list[TextPiece]()
    size = size or max(1, len(data))
    for at in range(0, len(data), size):
        pieces += stream.push(data[at : at + size])
    return pieces + stream.finish(ended=ended)


def calls_in(pieces: Iterable[TextPiece]) -> list[TextPiece]:
    return [one for one in pieces if one.kind is PartKind.TOOL_CALL and one.step in ENDED]


@functools.cache
def replies(names: tuple[str, ...] = ()) -> tuple[CutReply, ...]:
    """A reply of each layout with each of the arguments."""
    found = []
    for name, (way, layout, mark) in sorted(shapes().items()):
        if names and name not in names:
            continue
        for call in (DANGEROUS, *ARGUMENTS):
            raw = written(way, layout, mark, [call])
            raw = f">>>{raw}" if way.form.name == "addressee" else raw
            (whole,) = calls_in(pushed(name, raw, ended=True))
            assert whole.step is CallStep.WHOLE, raw
            assert (whole.name, json.loads(whole.text)) == (call[0], json.loads(call[1])), raw
            found.append(CutReply(name, call[0], raw, whole.text))
    return tuple(found)


def faults(reply: CutReply, cuts: Iterable[int], size: int = 0) -> Iterator[str]:
    """The cuts after which a call is not as far as it was written: one that reads as whole
    although it is not, that says more or other than was written, or that is cut and says whole."""
    for cut in cuts:
        for call in calls_in(pushed(reply.name, reply.raw[:cut], ended=False, size=size)):
            reads = _reads(call.text)
            right = call.name == reply.tool and reply.whole.startswith(call.text)
            if call.step is CallStep.WHOLE:
                right = right and call.text == reply.whole
            if not right or reads is not (call.step is CallStep.WHOLE):
                yield f"{reply.name} at {cut}: {call.step} {call.text!r} of {reply.whole!r}"


def _reads(text: str) -> bool:
    try:
        json.loads(text, strict=False)
    except ValueError:
        return False
    return True
