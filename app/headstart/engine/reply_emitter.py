"""Collects a reply's text and passes it to the window 30 times a second.

Used by turns on this computer and by those of servers, each on its own thread.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from msgspec.structs import replace

from headstart.core.chats.parts import PartKind
from headstart.core.events import Emit, TextAdded, TextPiece
from headstart.core.text.whole import whole

# smooth to read; on few cores, more frequent painting slows decoding
EMIT_SECONDS = 0.033


class ReplyEmitter:
    """Batches text events. `tokens`: the number so far; `first_at`: the time of the first."""

    def __init__(self, emit: Emit, began: float | None = None, tokens: int = 0) -> None:
        """`began`: the time of the request, if that is not now; `tokens` were passed on before."""
        self._emit = emit
        self.began = time.perf_counter() if began is None else began
        self._waiting: list[TextPiece] = []
        self._last = 0.0
        self.tokens = tokens
        self.first_at: float | None = None
        self._thinking_since: float | None = None
        self._thought: float | None = None

    def begin(self) -> None:
        """Note a new token; the first one starts the speed clock."""
        if self.first_at is None:
            self.first_at = time.perf_counter()

    @property
    def first_token_seconds(self) -> float | None:
        return None if self.first_at is None else self.first_at - self.began

    @property
    def seconds(self) -> float:
        """Seconds since the first token."""
        return 0.0 if self.first_at is None else time.perf_counter() - self.first_at

    @property
    def reasoning_seconds(self) -> float | None:
        """Seconds of reasoning so far; None without reasoning."""
        if self._thinking_since is None:
            return self._thought
        return (self._thought or 0.0) + time.perf_counter() - self._thinking_since

    def add(self, pieces: Iterable[TextPiece]) -> None:
        for piece in pieces:
            # half a character could not be stored
            text = whole(piece.text)
            if text is not piece.text:
                piece = replace(piece, text=text)
            self._waiting.append(piece)
            if piece.kind is PartKind.REASONING:
                if self._thinking_since is None:
                    self._thinking_since = time.perf_counter()
            elif self._thinking_since is not None and piece.text.strip():
                self._thought, self._thinking_since = self.reasoning_seconds, None

    def flush(self, force: bool = False) -> float | None:
        """Pass the waiting text on, if it is due. Returns the seconds since the first token if text
        was passed on."""
        now = time.perf_counter()
        if not self._waiting or (not force and now - self._last < EMIT_SECONDS):
            return None
        pieces, self._waiting = _joined(self._waiting), []
        self._last = now
        since = now - self.first_at if self.first_at is not None else 0.0
        self._emit(TextAdded(pieces, self.tokens, since))
        return since


def _joined(pieces: list[TextPiece]) -> tuple[TextPiece, ...]:
    result: list[TextPiece] = []
    for piece in pieces:
        same = result and (result[-1].kind, result[-1].origin) == (piece.kind, piece.origin)
        # each tool call is one piece
        if same and piece.kind is not PartKind.TOOL_CALL:
            piece = TextPiece(piece.kind, result.pop().text + piece.text, piece.origin)
        result.append(piece)
    return tuple(result)
