"""A reply's events as the parts of a message. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from headstart.core.chats.parts import (
    OriginRun,
    Part,
    PartKind,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    written,
)
from headstart.core.events import CallStep, TextPiece, ToolDone
from headstart.core.tools import call_id


def parts_of(events: Iterable[TextPiece | ToolDone], message_id: str) -> list[Part]:
    """The parts, a call only once it is over. White space before a call belongs to its mark."""
    found: list[Part] = []
    for event in events:
        if isinstance(event, ToolDone):
            called = call_id(message_id, event.call)
            found.append(ToolResultPart(called, event.name, event.text, event.failed))
            continue
        if event.step not in (CallStep.WHOLE, CallStep.CUT):
            continue
        if event.kind is not PartKind.TOOL_CALL:
            run = OriginRun(len(event.text), event.origin)
            found.append(written(event.kind, event.text, (run,)))
            continue
        while found and isinstance(found[-1], TextPart) and found[-1].text.isspace():
            found.pop()
        found.append(ToolCallPart(call_id(message_id, event.call), event.name, event.text))
    return found
