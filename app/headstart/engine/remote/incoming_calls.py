"""Tool calls of a server's stream, in the API's own fields, as pieces of the reply. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from headstart.core.chats.parts import Origin, PartKind
from headstart.core.events import CallStep, TextPiece
from headstart.core.text.begun import is_begun, is_object
from headstart.engine.markup.tool_calls.feed import BEGUN
from headstart.engine.remote.fields import fields_of

# calls in one reply, and characters of a name
_MOST, _LONGEST = 64, 128


class IncomingCalls:
    """`take` each event's calls, in the order in which they are written; `end` after the last."""

    def __init__(self) -> None:
        # the server's number of the open call, its name and arguments so far
        self._open: int | None = None
        self._name, self._arguments = "", ""
        self.count = 0

    def take(self, delta: Mapping[str, Any]) -> list[TextPiece]:
        calls = delta.get("tool_calls")
        if not isinstance(calls, list):
            return []
        return [piece for at, call in enumerate(calls) for piece in self._call(at, fields_of(call))]

    def end(self, whole: bool) -> list[TextPiece]:
        """The reply ended, or it was cut inside the last call. A server that stops inside a call
        says so in many ways: arguments that are not closed are not whole."""
        if self._open is None:
            return []
        self._open = None
        text = self._arguments
        if is_object(text) or (whole and not is_begun(text)):
            return [self._piece(CallStep.WHOLE, text or "{}")]
        return [self._piece(CallStep.CUT, text or BEGUN)]

    def _call(self, at: int, call: Mapping[str, Any]) -> Iterator[TextPiece]:
        number = call.get("index")
        number = number if isinstance(number, int) else at
        function = fields_of(call.get("function"))
        name, more = function.get("name"), function.get("arguments")
        if number != self._open:
            yield from self.end(whole=True)
            if self.count >= _MOST or not isinstance(name, str) or not name:
                return
            self.count += 1
            self._open, self._name, self._arguments = number, name[:_LONGEST], ""
            yield self._piece(CallStep.BEGAN, "")
        if isinstance(more, str) and more:
            self._arguments += more
            yield self._piece(CallStep.MORE, more)

    def _piece(self, step: CallStep, text: str) -> TextPiece:
        return TextPiece(PartKind.TOOL_CALL, text, Origin.TARGET, self._name, self.count, step)
