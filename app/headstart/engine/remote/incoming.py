"""Cleans the text of a server's stream: whole characters, reasoning separate, no repeated text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from headstart.core.chats.parts import Origin, PartKind
from headstart.core.events import TextPiece
from headstart.core.servers import Connection
from headstart.core.text.whole import WholeText, whole
from headstart.engine.markup.text_stream import TextStream
from headstart.engine.remote.echoed import Echoed
from headstart.engine.remote.incoming_calls import IncomingCalls
from headstart.engine.remote.problems import too_long

# characters of a reply, reasoning included: several hundred thousand words
_LONGEST_REPLY = 4_000_000
# characters that each event counts as, besides its text
_EVENT = 40


class Incoming:
    """The text of one reply. `text`: the received text; `sent`: the beginning of the reply sent to
    the server, which it may repeat before the rest."""

    def __init__(self, connection: Connection, stop: Sequence[str], sent: str) -> None:
        self._connection = connection
        self.text = TextStream(stop)
        self.text.follow("", sent)
        self._echo = Echoed(connection, sent)
        # joins characters split between two events
        self._contents, self._thoughts = WholeText(), WholeText()
        self._size = 0
        self._calls = IncomingCalls()

    def begin_again(self, sent: str) -> None:
        """Prepare for another stream, which continues `sent`."""
        self._echo = Echoed(self._connection, sent)

    def content(self, text: str) -> Iterable[TextPiece]:
        """Text of the content. Raises ServerProblem, like `reasoning`, if a reply never ends."""
        self._count(len(text))
        return self.text.push(self._echo.new(self._contents.push(text)).encode())

    def reasoning(self, text: str) -> list[TextPiece]:
        """Reasoning that the server sends separately from the content."""
        self._count(len(text))
        return _thought(self._thoughts.push(text))

    def event(self) -> None:
        """Note an event, with or without text. Raises ServerProblem if the events never end."""
        self._count(_EVENT)

    def _count(self, size: int) -> None:
        self._size += size
        if self._size > _LONGEST_REPLY:
            raise too_long(self._connection)

    def drafted(self, text: str, origin: Origin) -> Iterable[TextPiece]:
        """Drafted text that the server confirmed."""
        return self.text.push(whole(text).encode(), origin)

    def called(self, delta: Mapping[str, Any]) -> list[TextPiece]:
        """Tool calls in an event's own fields."""
        pieces = self._calls.take(delta)
        self._count(sum(len(piece.text) for piece in pieces))
        return pieces

    def rest(self, ended: bool) -> list[TextPiece]:
        """Text held back; `ended`: the reply is complete."""
        pieces = _thought(self._thoughts.rest())
        half = self._echo.new(self._contents.rest())
        pieces.extend(self.text.push((half + self._echo.rest()).encode()))
        pieces.extend(self.text.finish(ended=ended))
        pieces.extend(self._calls.end(whole=ended))
        return pieces


def _thought(text: str) -> list[TextPiece]:
    return [TextPiece(PartKind.REASONING, text, Origin.TARGET)] if text else []
