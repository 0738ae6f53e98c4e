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
    append_run,
    cut_runs,
    written,
)
from headstart.core.events import CallStep, TextPiece, ToolDone
from headstart.core.tools import call_id


def parts_of(events: Iterable[TextPiece | ToolDone], message_id: str) -> list[Part]:
    """The parts, a call only once it is over. White space before a call belongs to its mark."""
    found: list[Part] = []
    runs: list[OriginRun] = []
    for event in events:
        if isinstance(event, ToolDone):
            called = call_id(message_id, event.call)
            found.append(
                ToolResultPart(
                    called,
                    event.name,
                    event.text,
                    event.failed,
                    event.end,
                    event.seconds,
                    event.whole,
                    event.source,
                )
            )
            found += event.more
            continue
        if event.step is CallStep.BEGAN:
            runs = []
        elif event.step is CallStep.MORE:
            append_run(runs, len(event.text), event.origin)
        if event.step not in (CallStep.WHOLE, CallStep.CUT):
            continue
        if event.kind is not PartKind.TOOL_CALL:
            run = OriginRun(len(event.text), event.origin)
            found.append(written(event.kind, event.text, (run,)))
            continue
        _end_text(found)
        called, cut = call_id(message_id, event.call), event.step is CallStep.CUT
        known = sum(run.length for run in runs)
        # a call that was journaled in pieces has lost the origins of its beginning
        whole = known == len(event.text) or (cut and known < len(event.text))
        origins = tuple(runs) if whole else ()
        found.append(ToolCallPart(called, event.name, event.text, cut, origins))
        runs = []
    return found


def _end_text(found: list[Part]) -> None:
    """Take away white space at the end, which belongs to the mark of a call, however its pieces
    came."""
    while found and isinstance(found[-1], TextPart):
        last = found.pop()
        text = last.text.rstrip()
        if text:
            found.append(TextPart(text, cut_runs(last.origins, len(text))))
            return
