"""The embedding model of searches: which one, vectors of questions, and those of passages in the
background. On the event loop's thread.

Passages are embedded while no reply is written and the battery is not low. Another model makes new
vectors; the old ones serve until the new ones are whole.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from headstart.chat.answering.battery import Battery
from headstart.chat.background import Background
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import KnowledgeChanged, ModelsChanged
from headstart.chat.models import Models
from headstart.chat.preferences import Preferences
from headstart.core.errors import EnvironmentProblem
from headstart.core.knowledge.embedders import UNRELATED, Recipe, recipe_of
from headstart.core.models.installed import InstalledModel
from headstart.engine.embedding_thread import EmbeddingThread
from headstart.storage.knowledge.index import IndexWriter, KnowledgeIndex

if TYPE_CHECKING:
    from headstart.storage.knowledge.meaning import Unmeant

log = logging.getLogger(__name__)

# passages stored at once, and seconds between two looks while the engine is busy
_BATCH, _PAUSE = 8, 0.5
# standard deviations above the cosines of unrelated texts from which a passage may be an answer:
# 99 % of right passages are above, and a quarter of the best ones for questions about other things
_ABOVE = 3.0


class MeantQuestion(Struct, frozen=True):
    """A question's vector (float32) by a model; `floor`: the least cosine of an answer."""

    vector: bytes
    embedder: int
    floor: float


class Beside(Struct, frozen=True):
    """The rest of the program, as background work sees it. `busy`: the engine works for
    somebody."""

    background: Background
    broadcast: Broadcast
    busy: Callable[[], bool]


class Meaning:
    def __init__(
        self,
        index: KnowledgeIndex,
        models: Models,
        preferences: Preferences,
        beside: Beside,
    ) -> None:
        self._index = index
        self._models = models
        self._preferences = preferences
        self._background, self._broadcast = beside.background, beside.broadcast
        self._busy = beside.busy
        self._battery = Battery()
        self._thread: EmbeddingThread | None = None
        self._task: asyncio.Task[None] | None = None
        self._known: InstalledModel | None = None
        self._looked = False
        self._looking = asyncio.Lock()
        # numbers of the models, and vectors of unrelated texts, by content
        self._numbers: dict[tuple[int, str], int] = {}
        self._unrelated: dict[str, list[bytes]] = {}
        self._broadcast.on(ModelsChanged, lambda _change: self._look_again())

    @property
    def working(self) -> bool:
        """True while passages are embedded."""
        return self._task is not None and not self._task.done()

    async def model(self) -> InstalledModel | None:
        """The embedding model in use; None without one, or if it is switched off."""
        if not self._preferences.current.knowledge.meaning:
            return None
        async with self._looking:
            if not self._looked:
                able = await self.offered()
                wanted = self._preferences.current.knowledge.embedder
                first = next(iter(able), None)
                self._known = next((one for one in able if one.ref.key == wanted), first)
                self._looked = True
        return self._known

    async def offered(self) -> list[InstalledModel]:
        """All embedding models on this computer."""
        files = self._preferences.current.model_files
        listed = await asyncio.to_thread(self._models.shelf.look, files)
        return [
            one
            for one in listed
            if one.about.no_chat == "file-is-embedding" and one.ref.format == "gguf"
        ]

    def look_again(self) -> None:
        """The settings changed: choose the model once more, and go on."""
        self._look_again()
        self.go_on()

    async def number(self) -> int | None:
        """The number of the model in use in the index."""
        model = await self.model()
        if model is None:
            return None
        generation, key = self._index.generation, model.content
        if (generation, key) not in self._numbers:
            number = await self._index.write(lambda index: index.vectors.embedder(key))
            self._numbers[generation, key] = number
        return self._numbers[generation, key]

    async def question(self, text: str) -> MeantQuestion | None:
        """The vector of a question; None without one or without a model, or if it fails."""
        if not text.strip():
            return None
        model = await self.model()
        embedder = await self.number()
        if model is None or embedder is None:
            return None
        recipe = recipe_of(model.ref.name)
        try:
            (vector,) = await self._vectors(model, [recipe.question + text], recipe)
            floor = await self._floor(model, vector, recipe)
        except EnvironmentProblem as problem:
            log.warning("no vector of a question: %s", problem.for_log)
            return None
        if not await self._index.search(lambda reader: reader.begun(embedder)):
            # its vectors are not made yet, those of the model before may be
            return None
        return MeantQuestion(vector, embedder, floor)

    def go_on(self) -> None:
        """Embed the passages that have no vector yet."""
        if not self.working and not self._background.closing:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        if self._thread is not None:
            await asyncio.to_thread(self._thread.close)

    # --- inside --------------------------------------------------------------------------

    def _look_again(self) -> None:
        self._looked = False

    async def _run(self) -> None:
        try:
            await self._embed_all()
        except EnvironmentProblem as problem:
            log.warning("passages could not be embedded: %s", problem.for_log)
        except Exception:
            log.exception("passages could not be embedded")
        finally:
            self._broadcast.tell(KnowledgeChanged(""))

    async def _embed_all(self) -> None:
        if not self._index.exists:
            return
        while not self._background.closing:
            model, embedder = await self.model(), await self.number()
            if model is None or embedder is None:
                return
            missing = await self._index.write(partial(_missing, embedder))
            if not missing:
                await self._index.write(partial(_keep_only, embedder))
                return
            recipe = recipe_of(model.ref.name)
            rows = []
            for piece in missing:
                while self._busy() or await self._battery.low():
                    await asyncio.sleep(_PAUSE)
                (vector,) = await self._vectors(model, [recipe.passage + piece.text], recipe)
                rows.append((piece.digest, vector))
            await self._index.check_room()
            await self._index.write(partial(_add, embedder, rows))
            self._broadcast.tell(KnowledgeChanged(""))

    async def _floor(self, model: InstalledModel, vector: bytes, recipe: Recipe) -> float:
        if model.content not in self._unrelated:
            texts = [recipe.passage + text for text in UNRELATED]
            self._unrelated[model.content] = await self._vectors(model, texts, recipe)
        import numpy as np

        rows = np.frombuffer(b"".join(self._unrelated[model.content]), np.float32)
        near = rows.reshape(len(UNRELATED), -1) @ np.frombuffer(vector, np.float32)
        return float(near.mean() + _ABOVE * near.std())

    async def _vectors(
        self, model: InstalledModel, texts: list[str], recipe: Recipe
    ) -> list[bytes]:
        if self._thread is None:
            self._thread = EmbeddingThread()
        return await self._thread.vectors(model.ref, texts, recipe.most)


def _missing(embedder: int, index: IndexWriter) -> list[Unmeant]:
    return index.vectors.missing(embedder, _BATCH)


def _keep_only(embedder: int, index: IndexWriter) -> None:
    index.vectors.keep_only(embedder)


def _add(embedder: int, rows: list[tuple[bytes, bytes]], index: IndexWriter) -> None:
    index.vectors.add(embedder, rows)
