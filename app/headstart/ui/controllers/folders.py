"""Organizing chats: folders, tags and the archive. Main thread."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ChatChanged, ChatsChanged, FoldersChanged, What
from headstart.chat.chat_list import ChatList
from headstart.chat.folders import Folders
from headstart.core.chats.values import ChatSummary, Folder
from headstart.core.knowledge.pinned import PinnedDocument, replaced
from headstart.core.settings.schema import ChatOptions
from headstart.ui.kit.tasks import Tasks


class FoldersController(QObject):
    listed = Signal(list)  # of Folder
    opened = Signal(Folder)  # the folder whose settings to show
    archive_listed = Signal(list)  # of ChatSummary
    archived = Signal(list)  # chat ids

    def __init__(
        self,
        folders: Folders,
        chat_list: ChatList,
        tasks: Tasks,
        broadcast: Broadcast,
    ) -> None:
        super().__init__()
        self._folders = folders
        self._chat_list = chat_list
        self._tasks = tasks
        broadcast.on(FoldersChanged, lambda _change: self.list())
        broadcast.on(ChatsChanged, lambda _change: self.list())
        broadcast.on(ChatChanged, self._on_chat)

    # --- folders -------------------------------------------------------------------------

    def list(self) -> None:
        self._tasks.spawn(self._list())

    def make(self, name: str, inside: str = "", chat_ids: Sequence[str] = ()) -> None:
        """Create a folder with these chats in it."""
        self._tasks.spawn(self._make(name, inside, chat_ids))

    def rename(self, path: str, name: str) -> None:
        self._tasks.spawn(self._rename(path, name))

    def remove(self, path: str) -> None:
        self._tasks.spawn(self._folders.remove(path))

    def fold(self, path: str, folded: bool) -> None:
        self._tasks.spawn(self._folders.fold(path, folded))

    def move_folder(self, path: str, inside: str) -> None:
        self._tasks.spawn(self._move_folder(path, inside))

    def set_options(self, path: str, options: ChatOptions, model: str | None) -> None:
        self._tasks.spawn(self._folders.set_options(path, options, model))

    def add_document(self, path: str, document: PinnedDocument) -> None:
        """Put a document first in the chats of a folder."""
        self._tasks.spawn(self._add_document(path, document))

    def open(self, path: str) -> None:
        """Show the settings of a folder."""
        self._tasks.spawn(self._show(path))

    # --- chats ---------------------------------------------------------------------------

    def move(self, chat_ids: Sequence[str], folder: str) -> None:
        self._tasks.spawn(self._chat_list.move(chat_ids, folder))

    def set_tags(self, chat_id: str, tags: Sequence[str]) -> None:
        self._tasks.spawn(self._chat_list.set_tags(chat_id, tags))

    def add_tag(self, chat_ids: Sequence[str], tag: str) -> None:
        self._tasks.spawn(self._chat_list.add_tag(chat_ids, tag))

    def archive(self, chat_ids: Sequence[str], archived: bool = True) -> None:
        self._tasks.spawn(self._archive(chat_ids, archived))

    def list_archive(self) -> None:
        self._tasks.spawn(self._list_archive())

    # --- internals -----------------------------------------------------------------------

    async def _list(self) -> None:
        self.listed.emit(await self._folders.all())

    async def _make(self, name: str, inside: str, chat_ids: Sequence[str]) -> None:
        path = await self._folders.make(name, inside)
        if chat_ids:
            await self._chat_list.move(chat_ids, path)

    async def _rename(self, path: str, name: str) -> None:
        try:
            await self._folders.rename(path, name)
        finally:
            await self._list()

    async def _move_folder(self, path: str, inside: str) -> None:
        await self._folders.move(path, inside)

    async def _add_document(self, path: str, document: PinnedDocument) -> None:
        folder = await self._folders.get(path)
        pinned = replaced(folder.options.pinned, document)
        options = replace(folder.options, pinned=pinned)
        await self._folders.set_options(path, options, folder.model)

    async def _show(self, path: str) -> None:
        self.opened.emit(await self._folders.get(path))

    async def _archive(self, chat_ids: Sequence[str], archived: bool) -> None:
        await self._chat_list.archive(chat_ids, archived)
        await self._list_archive()
        if archived:
            self.archived.emit(list(chat_ids))

    async def _list_archive(self) -> None:
        found: list[ChatSummary] = [
            chat for chat in await self._chat_list.summaries() if chat.archived
        ]
        self.archive_listed.emit(found)

    def _on_chat(self, change: ChatChanged) -> None:
        if change.what is What.FOLDER:
            self.list()
