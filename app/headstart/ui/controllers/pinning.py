"""Whole documents of the open chat: read, shown, given up. Main thread."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from headstart.chat.knowledge.costs import PinCost
from headstart.chat.knowledge.pinning import PinnedState, Pinning
from headstart.core.chats.values import Chat
from headstart.core.errors import EnvironmentProblem
from headstart.core.knowledge.pinned import PinnedDocument
from headstart.ui.kit.tasks import Tasks
from headstart.ui.open_chat import OpenChat


class PinningController(QObject):
    # a document that was read to be pinned: the chat, its state, its cost, the digest that it is
    # to replace
    pin_read = Signal(str, PinnedState, PinCost, str)
    # the path of a folder of chats, and a document for it
    document_read = Signal(str, PinnedDocument)
    # the documents of the open chat, and the digests of its own ones
    pinned = Signal(list, tuple)

    def __init__(self, pinning: Pinning, open_chat: OpenChat, tasks: Tasks) -> None:
        super().__init__()
        self._pinning = pinning
        self._open = open_chat
        self._tasks = tasks

    def keep_only(self) -> None:
        """Give up the texts that the open chat no longer pins."""
        self._tasks.spawn(self._pinning.keep_only(self._open.chat))

    def pin(self, paths: Sequence[str], before: str = "") -> None:
        """Read documents for the open chat; `pin_read` follows for each. `before`: the digest of
        the one that they replace."""
        self._tasks.spawn(self._pin(self._open.chat, paths, before))

    def pin_again(self, digest: str) -> None:
        """Read a pinned document as its file is now; `pin_read` follows."""
        found = next((one for one in self._open.chat.options.pinned if one.digest == digest), None)
        if found is not None:
            self.pin([str(Path(found.source, found.path))], digest)

    def read(self, folder: str, paths: Sequence[str]) -> None:
        """Read documents for a folder of chats; `document_read` follows for each."""
        self._tasks.spawn(self._read(folder, paths))

    def keep_for_folder(self, path: str, documents: Sequence[PinnedDocument]) -> None:
        """Keep the texts of a folder's documents, and give up its others."""
        self._tasks.spawn(self._pinning.keep_for_folder(path, documents))

    def show_pinned(self) -> None:
        """Emit `pinned`."""
        self._tasks.spawn(self._show_pinned(self._open.chat))

    async def _read(self, folder: str, paths: Sequence[str]) -> None:
        async for document in self._documents(paths):
            self.document_read.emit(folder, document)

    async def _documents(self, paths: Sequence[str]) -> AsyncIterator[PinnedDocument]:
        """The documents at these paths, in their order; raises the first problem after the
        others."""
        problems = list[EnvironmentProblem]()
        for path in paths:
            try:
                document = await self._pinning.read(path)
            except EnvironmentProblem as problem:
                problems.append(problem)
            else:
                yield document
        if problems:
            raise problems[0]

    async def _pin(self, chat: Chat, paths: Sequence[str], before: str) -> None:
        async for document in self._documents(paths):
            (state,) = await self._pinning.states([document])
            cost = await self._pinning.cost(chat, state.tokens)
            self.pin_read.emit(chat.id, state, cost, before)

    async def _show_pinned(self, chat: Chat) -> None:
        own = tuple(one.digest for one in chat.options.pinned)
        if not own and not any(one.pinned for one in chat.above):
            self.pinned.emit([], ())
            return
        states = await self._pinning.states(self._pinning.documents(chat))
        if chat.id == self._open.id:
            self.pinned.emit(states, own)
