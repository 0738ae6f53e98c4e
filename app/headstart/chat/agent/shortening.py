"""Results of tools that are too long for the context: cut for the model, kept whole on disk.

On the event loop's thread; counting and storing are done on other threads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from headstart.chat.databases import Databases
from headstart.core.chats.parts import BlobRef

# bytes of a token where nobody can count, and the most characters of one
_BYTES, _MOST = 3, 16
# pieces whose tokens are counted to find the cut
_PIECES = 64
# the smallest share of a context that a result is cut to, in tokens
LEAST_TOKENS = 128

# tokens of texts; None: the model cannot count
Count = Callable[[Sequence[str]], Awaitable[Sequence[int] | None]]


class Shortening:
    def __init__(self, databases: Databases) -> None:
        self._databases = databases

    async def fit(
        self, chat_id: str, text: str, most: int, count: Count
    ) -> tuple[str, BlobRef | None]:
        """The text in at most `most` tokens, and the whole of it where that is a part."""
        most = max(LEAST_TOKENS, most)
        # a token has at least a byte
        if len(text) <= most and len(text.encode("utf-8", "replace")) <= most:
            return text, None
        kept = await _beginning(text, most, count)
        if len(kept) == len(text):
            return text, None
        whole = await asyncio.to_thread(text.encode, "utf-8", "replace")
        blob = await self._databases.run(
            chat_id, lambda store: store.blobs.put(whole, "text/plain")
        )
        return f"{kept}\n[{len(text) - len(kept)} more characters were left out]", blob


async def _beginning(text: str, most: int, count: Count) -> str:
    possible = text[: most * _MOST]
    size = max(1, -(-len(possible) // _PIECES))
    pieces = [possible[at : at + size] for at in range(0, len(possible), size)]
    counts = await count(pieces)
    if counts is None:
        counts = [-(-len(piece.encode("utf-8", "replace")) // _BYTES) for piece in pieces]
    kept = total = 0
    for piece, tokens in zip(pieces, counts, strict=True):
        total += tokens
        if total > most:
            break
        kept += len(piece)
    return text[:kept]
