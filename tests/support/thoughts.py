"""Replies of every family that think, with calls inside the thoughts."""

from __future__ import annotations

from collections.abc import Sequence

from headstart.core.events import TextPiece
from headstart.engine.markup.formats import ReplyFormat, ThoughtsEnd
from headstart.engine.markup.text_stream import TextStream
from tests.support.cut_calls import PROMPTS, SCHEMAS, form_of_shape
from tests.support.tool_forms import shapes, written

CALL = ("read_file", '{"path": "notes", "from": 3}')
OTHER = ("now", "{}")


def thinking(end: ThoughtsEnd | None = None) -> list[str]:
    """Templates of families that think, one of each layout of calls, whose thoughts end so."""
    return [
        name
        for name in sorted(shapes())
        if (form := form_of_shape(name)).opens
        and (end is None or form.thoughts_end is end)
        and not (form.calls is not None and form.calls.bare)
    ]


def called(name: str, *calls: tuple[str, str]) -> str:
    """Calls as a model of this template writes them, behind its thoughts."""
    way, layout, mark = shapes()[name]
    raw = written(way, layout, mark, calls)
    if way.form.name == "sections":
        # the example ends thoughts and the answer before it
        raw = raw[raw.index("<|open|>tools") :] + "<|close|>tools<|sep|>"
    return raw


def is_several(name: str) -> bool:
    way, _, _ = shapes()[name]
    return way.several and way.form.name != "sections"


def marks_of(form: ReplyFormat) -> list[str]:
    return [mark for mark in form.marks if mark != "\n"]


def heard(
    name: str, raw: str, size: int = 0, tokens: bool = False, ended: bool = True,
    stop: Sequence[str] = (), ends: Sequence[str] = (),
) -> tuple[TextStream, list[TextPiece]]:  # fmt: skip
    """A reply that comes `size` bytes at a time, its marks as plain text or as tokens."""
    form = form_of_shape(name)
    marks = marks_of(form) if tokens else []
    stream = TextStream(stop, form, marks, SCHEMAS, ends)
    stream.follow(PROMPTS.get(form.name, ""))
    pieces, rest = list[TextPiece](), raw
    while rest:
        at, mark = min(
            ((at, mark) for mark in marks if (at := rest.find(mark)) >= 0),
            default=(len(rest), ""),
            key=lambda found: (found[0], -len(found[1])),
        )
        data = rest[:at].encode()
        step = size or max(1, len(data))
        for begin in range(0, len(data), step):
            pieces += stream.push(data[begin : begin + step])
        if mark:
            pieces += stream.push(mark.encode(), mark=mark)
        rest = rest[at + len(mark) :]
    return stream, pieces + stream.finish(ended=ended)
