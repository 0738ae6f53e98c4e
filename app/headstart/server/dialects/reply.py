"""A reply as it is written, for the writers of the dialects. Pure.

A call is held back until it is whole, or the reply ended inside it: an answer on the network cannot
be taken back, and a call that turns out to be none is text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Literal, Protocol

from msgspec import Struct, field

from headstart.core.chats.parts import PartKind
from headstart.core.chats.values import FinishReason, TurnStats
from headstart.core.events import CallStep, TextPiece
from headstart.core.serving.request import ServedRequest
from headstart.core.text.begun import begun_string
from headstart.core.tools import call_id
from headstart.server.dialects.declined import Declined

# a call's one text as JSON, up to the quotation mark
_FREE_BEGUN = re.compile(r'\s*\{\s*"input"\s*:\s*(?=")')


class WrittenCall(Struct, frozen=True):
    """A call; `arguments` are JSON. `cut`: the reply ended inside it, and they are as far as they
    were written. No program may take it for a whole one."""

    id: str
    name: str
    arguments: str
    cut: bool = False

    @property
    def free_text(self) -> str:
        """The one text of a call whose tool takes one, as far as it is written."""
        if self.cut:
            begun = _FREE_BEGUN.match(self.arguments)
            return begun_string(self.arguments[begun.end() :]) or "" if begun is not None else ""
        try:
            found = json.loads(self.arguments)
        except (ValueError, RecursionError):
            return self.arguments
        text = found.get("input") if isinstance(found, dict) else None
        return text if isinstance(text, str) else self.arguments


class Piece(Struct, frozen=True):
    """The next piece of a reply: of its reasoning or text, or a call, whose `index` counts the
    calls; `item` is the position of its item."""

    kind: Literal["reasoning", "text", "call"]
    text: str = ""
    call: WrittenCall | None = None
    index: int = 0
    item: int = 0


class ReplyItem(Struct):
    """A run of reasoning or text, or a call, in the order in which they were written."""

    kind: Literal["reasoning", "text", "call"]
    parts: list[str] = field(default_factory=list)
    call: WrittenCall | None = None

    @property
    def text(self) -> str:
        return "".join(self.parts)


class Ended(Struct, frozen=True):
    """The end of a reply. `stop`: the stop string that ended it, where it is known."""

    stats: TurnStats
    reasoning_tokens: int = 0
    stop: str | None = None

    @property
    def cut(self) -> bool:
        """True if the reply was cut for its length."""
        return self.stats.finish in (FinishReason.LENGTH, FinishReason.CONTEXT_FULL)

    @property
    def timings(self) -> dict[str, Any]:
        """Figures for programs that show them, with the names that llama.cpp's server uses."""
        stats = self.stats
        processed = stats.prompt_tokens - stats.reused_tokens
        found: dict[str, Any] = {
            "cache_n": stats.reused_tokens,
            "prompt_n": processed,
            "prompt_ms": round(stats.prefill_seconds * 1000, 3),
            "predicted_n": stats.generated_tokens,
            "predicted_ms": round(stats.generate_seconds * 1000, 3),
        }
        if stats.tokens_per_second is not None:
            found["predicted_per_second"] = round(stats.tokens_per_second, 2)
        if stats.speculation is not None:
            found["draft_n"] = stats.speculation.verified
            found["draft_n_accepted"] = stats.speculation.accepted
        return found

    @property
    def own(self) -> dict[str, Any]:
        """Figures of this program: where the reused tokens came from, and why others did not."""
        prefix = self.stats.prefix
        found: dict[str, Any] = {
            "from_memory": prefix.from_memory,
            "from_disk": prefix.from_disk,
            "recomputed": prefix.recomputed,
        }
        if prefix.reason is not None:
            found["why"] = prefix.reason.text
        return found


class ReplyItems:
    """A reply's items so far. `id` is that of the reply, from which its calls get theirs."""

    def __init__(self, reply_id: str) -> None:
        self._id = reply_id
        self.items: list[ReplyItem] = []

    def take(self, pieces: Iterable[TextPiece]) -> list[Piece]:
        """Add text of the engine; returns what a program may get of it."""
        found: list[Piece] = []
        for piece in pieces:
            if piece.kind is PartKind.TOOL_CALL:
                if piece.step in (CallStep.WHOLE, CallStep.CUT):
                    number = piece.call or 1 + len(self.calls)
                    cut = piece.step is CallStep.CUT
                    call = WrittenCall(call_id(self._id, number), piece.name, piece.text, cut)
                    index, place = len(self.calls), len(self.items)
                    found.append(Piece("call", call=call, index=index, item=place))
                    self.items.append(ReplyItem("call", call=call))
            elif piece.text:
                kind: Literal["reasoning", "text"] = (
                    "reasoning" if piece.kind is PartKind.REASONING else "text"
                )
                if not self.items or self.items[-1].kind != kind:
                    self.items.append(ReplyItem(kind))
                self.items[-1].parts.append(piece.text)
                found.append(Piece(kind, piece.text, item=len(self.items) - 1))
        return found

    @property
    def calls(self) -> list[WrittenCall]:
        return [item.call for item in self.items if item.call is not None]

    @property
    def asks(self) -> bool:
        """True if a whole call waits for its result."""
        return any(not call.cut for call in self.calls)

    @property
    def cut_call(self) -> WrittenCall | None:
        """The call inside which the reply ended."""
        last = self.items[-1].call if self.items else None
        return last if last is not None and last.cut else None

    @property
    def text(self) -> str:
        return "".join(item.text for item in self.items if item.kind == "text")

    @property
    def reasoning(self) -> str:
        return "".join(item.text for item in self.items if item.kind == "reasoning")


class Answered(Struct, frozen=True):
    """Facts of an answer that its writer repeats: `id` without a dialect's prefix, `created` in
    seconds."""

    request: ServedRequest
    id: str
    model: str
    created: int


class AnswerWriter(Protocol):
    """Writes one answer in a dialect: bytes of a stream, or the whole body at its end."""

    def begin(self, prompt_tokens: int, reused: int) -> bytes:
        """The first bytes of a stream; 0 tokens where nobody knows them yet."""
        ...

    def alive(self, done: int, total: int) -> bytes:
        """A sign of life: `done` of `total` prompt tokens are processed."""
        ...

    def take(self, pieces: Iterable[TextPiece]) -> bytes:
        """The bytes of new text and calls."""
        ...

    def end(self, ended: Ended) -> bytes:
        """The last bytes of a stream."""
        ...

    def fail(self, declined: Declined) -> bytes:
        """The last bytes of a stream that cannot go on."""
        ...

    def whole(self, pieces: Iterable[TextPiece], ended: Ended) -> dict[str, Any]:
        """The body of an answer that is no stream."""
        ...
