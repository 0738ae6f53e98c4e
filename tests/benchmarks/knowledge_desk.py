"""A folder, its index and its searches without a window, with MiniLM or with words alone."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from headstart.chat.background import Background
from headstart.chat.broadcast import Broadcast
from headstart.chat.knowledge.indexing import Indexing
from headstart.chat.knowledge.meaning import MeantQuestion
from headstart.chat.knowledge.searching import KnowledgeSearching
from headstart.core.knowledge.embedders import UNRELATED, recipe_of
from headstart.core.models.ref import ModelRef
from headstart.engine.embedding_thread import EmbeddingThread
from headstart.storage.knowledge.index import KnowledgeIndex

# a time long ago, so that no file counts as just written
OLD = 1_000_000_000


class NoMeaning:
    """In place of `Meaning`: words alone."""

    async def question(self, _text: str) -> MeantQuestion | None:
        return None


class MiniLm:
    """In place of `Meaning`: the same steps with a given file. All passages are embedded first."""

    def __init__(self, index: KnowledgeIndex, path: Path) -> None:
        self._index = index
        self._model = ModelRef(path, "all-MiniLM-L6-v2", path.stat().st_size)
        self._recipe = recipe_of(self._model.name)
        self._thread = EmbeddingThread()
        self.number = 0
        self._unrelated: npt.NDArray[np.float32] | None = None
        self.seconds = 0.0
        self.tokens = 0

    async def embed_all(self) -> int:
        """Embed every piece; returns their number."""
        self.number = await self._index.write(lambda index: index.vectors.embedder("minilm"))
        done = 0
        while missing := await self._index.write(
            lambda index: index.vectors.missing(self.number, 16)
        ):
            began = time.perf_counter()
            vectors = await self._vectors([one.text for one in missing])
            self.seconds += time.perf_counter() - began
            rows = [(one.digest, vector) for one, vector in zip(missing, vectors, strict=True)]
            await self._index.write(lambda index, rows=rows: index.vectors.add(self.number, rows))  # type: ignore[misc]
            done += len(rows)
        return done

    async def question(self, text: str) -> MeantQuestion | None:
        if not text:
            return None
        (vector,) = await self._vectors([text])
        if self._unrelated is None:
            rows = await self._vectors(list(UNRELATED))
            self._unrelated = np.frombuffer(b"".join(rows), np.float32).reshape(len(rows), -1)
        near = self._unrelated @ np.frombuffer(vector, np.float32)
        return MeantQuestion(vector, self.number, float(near.mean() + 3.0 * near.std()))

    async def _vectors(self, texts: list[str]) -> list[bytes]:
        return await self._thread.vectors(self._model, texts, self._recipe.most)

    def close(self) -> None:
        self._thread.close()


class Desk:
    """A folder, its index and its searches."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.index = KnowledgeIndex(folder / "knowledge.db")
        self.sources: tuple[str, ...] = ()
        self.broadcast = Broadcast()
        self.indexing = Indexing(self.index, self.broadcast, Background())
        self.searching = KnowledgeSearching(self.index, NoMeaning(), self.known)  # type: ignore[arg-type]

    async def read(self, *sources: Path) -> float:
        """Look at the sources; returns seconds."""
        began = time.perf_counter()
        self.sources = tuple(str(one) for one in sources)
        self.indexing.look(self.sources)
        await self.indexing.settled()
        return time.perf_counter() - began

    def known(self) -> tuple[str, ...]:
        return self.sources

    def with_meaning(self, meaning: MiniLm) -> KnowledgeSearching:
        return KnowledgeSearching(self.index, meaning, self.known)  # type: ignore[arg-type]

    async def close(self) -> None:
        await self.indexing.close()
        await asyncio.to_thread(self.index.close)


def write_all(folder: Path, texts: Sequence[str]) -> None:
    folder.mkdir()
    for number, body in enumerate(texts):
        path = folder / f"{number}.txt"
        path.write_text(body, encoding="utf-8")
        os.utime(path, (OLD, OLD))
