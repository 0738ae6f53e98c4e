"""Pages of PDFs as pictures, with a passage's words marked. On the event loop's thread.

The file is opened where it lies, and only if it has the bytes that were read: a place in other
bytes is no place.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from headstart.chat.background import Background, Timer
from headstart.chat.knowledge.indexing import read_bytes
from headstart.core.chats.parts import PassagePart
from headstart.core.errors import EnvironmentProblem
from headstart.core.knowledge.values import PagePicture
from headstart.extraction.pieces_process import PieceReader, ReadingEnded

# seconds without work until the child ends
_REST = 20.0


class PagePictures:
    def __init__(self, background: Background) -> None:
        self._background = background
        self._reader = PieceReader()
        self._turn = asyncio.Lock()
        self._resting: Timer | None = None

    async def draw(
        self, part: PassagePart, page: int, words: str, width: int
    ) -> PagePicture | None:
        """A page of a passage's file, `width` pixels wide; None for a file that is no PDF, is not
        there, or has changed."""
        if not part.source or not part.name.lower().endswith(".pdf"):
            return None
        async with self._turn:
            try:
                return await asyncio.to_thread(self._drawn, part, page, words, width)
            except (EnvironmentProblem, ReadingEnded, OSError, ValueError):
                return None
            finally:
                self._rest_later()

    def close(self) -> None:
        if self._resting is not None:
            self._resting.cancel()
        self._reader.close()

    def _rest_later(self) -> None:
        """End the child some time after its last page."""
        if self._resting is not None:
            self._resting.cancel()
        if not self._background.closing:
            self._resting = self._background.later(_REST, self._rest)

    def _rest(self) -> None:
        if not self._turn.locked() and not self._background.closing:
            self._background.run(asyncio.to_thread(self._reader.rest))

    def _drawn(self, part: PassagePart, page: int, words: str, width: int) -> PagePicture | None:
        data, digest = read_bytes(Path(part.source, part.path))
        if digest.hex() != part.digest:
            return None
        return self._reader.draw(data, part.name, page, words, width)
