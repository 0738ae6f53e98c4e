"""The index of files on its two threads: one writes, one searches meanwhile.

Opened at its first use: a program without folders never imports it.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from headstart.core.errors import EnvironmentProblem
from headstart.core.files import DISK_RESERVE

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from headstart.storage.knowledge.files import FileTable
    from headstart.storage.knowledge.meaning import MeaningSearch, VectorTable
    from headstart.storage.knowledge.searching import KnowledgeSearch
    from headstart.storage.knowledge.texts import IndexedTexts

log = logging.getLogger(__name__)
T = TypeVar("T")


class IndexWriter(Struct, frozen=True):
    engine: Engine
    files: FileTable
    vectors: VectorTable


class IndexReader(Struct):
    engine: Engine
    search: KnowledgeSearch
    texts: IndexedTexts
    # of the model whose vectors were searched last
    meaning: MeaningSearch | None = None

    def begun(self, embedder: int) -> bool:
        """True if any piece has a vector of this model."""
        from headstart.storage.knowledge.meaning import VectorTable

        return VectorTable(self.engine).begun(embedder)

    def meant(self, embedder: int) -> MeaningSearch:
        """The search over the vectors of a model."""
        from headstart.storage.knowledge.meaning import MeaningSearch

        if self.meaning is None or self.meaning.embedder != embedder:
            self.meaning = MeaningSearch(self.engine, embedder)
        return self.meaning


class KnowledgeIndex:
    """Every call raises EnvironmentProblem where the disk refuses."""

    def __init__(self, path: Path | None) -> None:
        """None: there is no index, and nothing is kept."""
        self._path = path
        self._writing = ThreadPoolExecutor(1, "knowledge")
        self._searching = ThreadPoolExecutor(1, "knowledge-search")
        self._writer: IndexWriter | None = None
        self._reader: IndexReader | None = None
        # set, unless the index is being deleted
        self._ready = asyncio.Event()
        self._ready.set()
        # of an index that was deleted and begun again: its numbers mean others
        self.generation = 0

    @property
    def exists(self) -> bool:
        return self._path is not None and self._path.exists()

    @property
    def size(self) -> int:
        """Bytes on disk."""
        try:
            return 0 if self._path is None else self._path.stat().st_size
        except OSError:
            return 0

    async def check_room(self) -> None:
        """Raise EnvironmentProblem if what is left of the disk is for chats and settings."""
        place = self._place()
        while not place.exists() and place != place.parent:
            place = place.parent
        free = (await asyncio.to_thread(shutil.disk_usage, place)).free
        if free < DISK_RESERVE:
            raise EnvironmentProblem("knowledge-no-room", least=DISK_RESERVE, free=free)

    async def write(self, call: Callable[[IndexWriter], T]) -> T:
        """Run `call` on the writing thread."""
        await self._ready.wait()
        return await self._run(self._writing, lambda: call(self._opened()))

    async def search(self, call: Callable[[IndexReader], T]) -> T:
        """Run `call` on the search thread."""
        await self._ready.wait()
        if self._writer is None:
            # makes the tables
            await self.write(lambda _writer: None)
        return await self._run(self._searching, lambda: call(self._read()))

    async def delete(self) -> None:
        """Delete everything; the next call begins an empty index."""
        self._ready.clear()
        try:
            await self._run(self._writing, lambda: None)
            await self._run(self._searching, self._close_reader)
            await self._run(self._writing, self._delete)
        finally:
            self.generation += 1
            self._ready.set()

    def close(self) -> None:
        """End both threads; waits for the running calls."""
        self._searching.submit(self._close_reader)
        self._writing.submit(self._close_writer)
        self._searching.shutdown(cancel_futures=False)
        self._writing.shutdown(cancel_futures=False)

    async def _run(self, pool: ThreadPoolExecutor, call: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, call)
        except EnvironmentProblem:
            raise
        except RuntimeError as error:
            if "shutdown" not in str(error):
                raise
            raise EnvironmentProblem("database-closed") from error
        except OSError as error:
            raise EnvironmentProblem("knowledge-disk", reason=error.strerror or error) from error
        except Exception as error:
            from sqlalchemy.exc import SQLAlchemyError

            if not isinstance(error, SQLAlchemyError):
                raise
            log.warning("the index of files: %s", type(error).__name__)
            reason = getattr(error, "orig", None) or type(error).__name__
            raise EnvironmentProblem("knowledge-disk", reason=reason) from error

    def _opened(self) -> IndexWriter:
        if self._writer is None:
            from headstart.storage.knowledge.files import FileTable
            from headstart.storage.knowledge.meaning import VectorTable
            from headstart.storage.knowledge.opening import open_index

            engine = open_index(self._place())
            self._writer = IndexWriter(engine, FileTable(engine), VectorTable(engine))
        return self._writer

    def _read(self) -> IndexReader:
        if self._reader is None:
            from headstart.storage.knowledge.opening import open_reader
            from headstart.storage.knowledge.searching import KnowledgeSearch
            from headstart.storage.knowledge.texts import IndexedTexts

            engine = open_reader(self._place())
            self._reader = IndexReader(engine, KnowledgeSearch(engine), IndexedTexts(engine))
        return self._reader

    def _close_reader(self) -> None:
        if self._reader is not None:
            self._reader.engine.dispose()
        self._reader = None

    def _close_writer(self) -> None:
        if self._writer is not None:
            self._writer.engine.dispose()
        self._writer = None

    def _delete(self) -> None:
        from headstart.storage.knowledge.opening import delete_index

        self._close_writer()
        delete_index(self._place())

    def _place(self) -> Path:
        if self._path is None:
            raise EnvironmentProblem("knowledge-disk", reason="no home")
        return self._path
