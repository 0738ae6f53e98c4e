"""The sections of a message in the order in which they are read: thoughts, words, tool calls. Pure.

A call and its result are one section.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from headstart.core.chats.grounds import CallGround
from headstart.core.chats.parts import (
    PARAGRAPH,
    BlobRef,
    CallEnd,
    Origin,
    OriginRun,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    append_run,
)


class CallState(StrEnum):
    WRITING = "writing"
    # the model has written it, and nothing has begun
    WAITING = "waiting"
    # the user is asked
    ASKED = "asked"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    DENIED = "denied"
    STOPPED = "stopped"
    # the reply ended inside the call
    CUT = "cut"
    # the reply ended before the result
    INTERRUPTED = "interrupted"

    @property
    def over(self) -> bool:
        return self not in (self.WRITING, self.WAITING, self.ASKED, self.RUNNING)


class SaidText(Struct, frozen=True):
    text: str


class Thought(Struct, frozen=True):
    text: str


class CallProgress(Struct, frozen=True):
    """Progress of a tool that runs; `total`: 0 if unknown."""

    done: float
    total: float = 0.0
    message: str = ""


class ShownCall(Struct, frozen=True):
    """A call, by its number in the reply from 1 on; `arguments` are JSON. `ground`: that of a
    server's tool which the user is asked about."""

    number: int
    name: str
    arguments: str = ""
    # sources of the arguments' characters
    origins: tuple[OriginRun, ...] = ()
    state: CallState = CallState.WAITING
    result: str = ""
    # seconds that the tool ran
    seconds: float = 0.0
    # the result before it was shortened
    whole: BlobRef | None = None
    ground: CallGround | None = None
    progress: CallProgress | None = None


Section = SaidText | Thought | ShownCall


class ReplySections(Struct, frozen=True):
    """All sections of a message; `origins` are those of the characters of `text`."""

    all: tuple[Section, ...] = ()
    origins: tuple[OriginRun, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.all)

    @property
    def words(self) -> list[str]:
        return [one.text for one in self.all if isinstance(one, SaidText)]

    @property
    def text(self) -> str:
        """The same text as `parts.text_of`."""
        return PARAGRAPH.join(self.words)

    @property
    def calls(self) -> list[ShownCall]:
        return [one for one in self.all if isinstance(one, ShownCall)]


def sections_of(
    parts: Iterable[Part], origins: tuple[OriginRun, ...] = (), writing: bool = False
) -> ReplySections:
    """The sections of a message with these parts; `writing`: its reply goes on."""
    found: list[Section] = []
    missing = CallState.WAITING if writing else CallState.INTERRUPTED
    # places in `found`, by the id of the call
    places: dict[str, int] = {}
    nameless: list[int] = []
    number = 0
    # a call or a result stood after the last text
    apart = False
    for part in parts:
        if isinstance(part, ToolCallPart | ToolResultPart):
            apart = True
        if isinstance(part, TextPart) and part.text:
            if apart:
                found.append(SaidText(part.text))
            else:
                add_words(found, part.text)
            apart = False
        elif isinstance(part, ReasoningPart):
            add_thought(found, part.text)
        elif isinstance(part, ToolCallPart):
            number += 1
            state = CallState.CUT if part.cut else missing
            if part.id:
                places[part.id] = len(found)
            else:
                nameless.append(len(found))
            found.append(ShownCall(number, part.name, part.text, part.origins, state))
        elif isinstance(part, ToolResultPart):
            place = places.pop(part.id, None)
            if place is None and nameless:
                place = nameless.pop(0)
            if place is None:
                # a result without its call, from another program
                number += 1
                place = len(found)
                found.append(ShownCall(number, part.name))
            call = found[place]
            assert isinstance(call, ShownCall)
            found[place] = with_result(
                call, (part.text, part.failed, part.end), part.seconds, part.whole
            )
    return ReplySections(tuple(found), origins)


def add_words(found: list[Section], text: str) -> None:
    """Add text to that of the same step, or as a section of its own."""
    if not _grow(found, SaidText, text) and text:
        found.append(SaidText(text))


def add_thought(found: list[Section], text: str) -> None:
    """Add reasoning to that of the same step, or as a section before its text."""
    if _grow(found, Thought, text) or not text:
        return
    # before the words of its step: it is read as their ground
    at = len(found)
    while at and isinstance(found[at - 1], SaidText):
        at -= 1
    found.insert(at, Thought(text))


def _grow(found: list[Section], kind: type[SaidText | Thought], text: str) -> bool:
    """Add text to the section of a kind that follows the last call; False if there is none."""
    for place in range(len(found) - 1, -1, -1):
        last = found[place]
        if isinstance(last, ShownCall):
            break
        if isinstance(last, kind):
            found[place] = kind(last.text + text)
            return True
    return False


def with_result(
    call: ShownCall,
    result: tuple[str, bool, CallEnd],
    seconds: float = 0.0,
    whole: BlobRef | None = None,
) -> ShownCall:
    """The call with its result: its text, True if it is an error, and how the call ended."""
    text, failed, end = result
    state = CallState.FAILED if failed else CallState.DONE
    state = {CallEnd.DENIED: CallState.DENIED, CallEnd.STOPPED: CallState.STOPPED}.get(end, state)
    return replace(call, state=state, result=text, seconds=seconds, whole=whole)


def origins_of_call(known: Sequence[OriginRun], more: str, origin: Origin) -> tuple[OriginRun, ...]:
    """The origins with those of further characters."""
    runs = list(known)
    append_run(runs, len(more), origin)
    return tuple(runs)
