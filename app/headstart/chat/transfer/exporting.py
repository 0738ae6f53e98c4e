"""Chats out: one, several or all, in any format. A file is complete or does not exist; long work
shows how far it is, and can be cancelled."""

from __future__ import annotations

import asyncio
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from headstart.chat.databases import Databases
from headstart.chat.preferences import Preferences
from headstart.chat.reply import Reply
from headstart.chat.transfer.trees import ModelNames, to_conversation
from headstart.core.chat_tree import ChatTree
from headstart.core.errors import EnvironmentProblem
from headstart.core.files import PARTIAL, write_whole
from headstart.core.inheritance import effective
from headstart.core.parts import BlobRef, Part
from headstart.core.settings import changed
from headstart.core.values import MessageStatus
from headstart.exchange import names, own_format
from headstart.exchange.copying import Copied, copies_of
from headstart.exchange.formats import FORMATS, HEADSTART, FileFormat, Render, format_of
from headstart.exchange.include import Include
from headstart.exchange.names import Names
from headstart.exchange.tree import Conversation
from headstart.hub.shelf import Shelf
from headstart.storage.worker import Storage, Store

__all__ = ["Cancelled", "Copied", "Exporting", "Run", "Wanted", "file_name", "formats"]

# chats that are read at once
_READ = 8
_COMPRESSION = 3


class Cancelled(Exception):
    """The user stopped it."""


@dataclass(slots=True)
class Run:
    """One export: `stop` from any thread ends it soon; how many chats are written, of how many."""

    stop: threading.Event = field(default_factory=threading.Event)
    count: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to write, and how; `chats` empty for everything that is in the list."""

    chats: tuple[str, ...]
    format: str
    include: Include
    # with the bytes of files and images
    blobs: bool = True


class Exporting:
    def __init__(
        self,
        databases: Databases,
        reply_in: Callable[[str], Reply | None],
        shelf: Shelf | None,
        preferences: Preferences,
        renderers: Mapping[str, Render] | None = None,
    ) -> None:
        self._databases = databases
        self._reply_in = reply_in
        self._shelf = shelf
        self._preferences = preferences
        # of formats that need the window's own means, by code
        self.renderers = dict(renderers or {})

    @staticmethod
    def wanted(
        chats: Sequence[str], form: str, *, reasoning: bool, stats: bool, branches: bool
    ) -> Wanted:
        """What to write; no chats for all of the list."""
        return Wanted(tuple(chats), form, Include(reasoning, stats, branches))

    async def write(self, wanted: Wanted, path: Path, run: Run) -> int:
        """Write to a file, or into a folder that is there, a file for each chat; returns how many.
        Raises EnvironmentProblem, or Cancelled."""
        chats = list(wanted.chats) or await self._databases.ids()
        run.total = len(chats)
        open_parts = {
            message_id: parts
            for chat_id in chats
            if (reply := self._reply_in(chat_id)) is not None
            for message_id, parts in ((reply.message_id, reply.parts),)
        }
        sources = {chat_id: self._databases.of(chat_id) for chat_id in chats}
        job = _Job(self, wanted, sources, open_parts, run)
        return await asyncio.to_thread(job.write, path)

    async def copied(self, chat_id: str, message_id: str = "") -> Copied:
        """The branch on show, or one message, for the clipboard; raises EnvironmentProblem."""
        found = await self.conversation(chat_id, blobs=True)
        return await asyncio.to_thread(copies_of, found, message_id)

    async def conversation(self, chat_id: str, blobs: bool = False) -> Conversation:
        """One chat, as it is now; raises EnvironmentProblem where it is gone."""
        wanted = Wanted((chat_id,), HEADSTART.code, Include(), blobs)
        reply = self._reply_in(chat_id)
        parts = {reply.message_id: reply.parts} if reply is not None else {}
        sources = {chat_id: self._databases.of(chat_id)}
        job = _Job(self, wanted, sources, parts, Run(total=1))
        found = await asyncio.to_thread(lambda: next(job.conversations(), None))
        if found is None:
            raise EnvironmentProblem("chat-gone")
        return found

    # --- on a worker thread --------------------------------------------------------------

    def models(self) -> ModelNames:
        if self._shelf is None:
            return ModelNames()
        return ModelNames(self._shelf.look(self._preferences.current.model_files))

    def system_prompt(self, tree: ChatTree) -> str:
        """The one that holds for a chat, wherever it is set."""
        settings, chat = self._preferences.current, tree.chat
        return effective(settings, chat.options, chat.model or settings.model).system_prompt


def formats() -> tuple[FileFormat, ...]:
    """What chats can be written in."""
    return FORMATS


def file_name(title: str) -> str:
    """A title as a name that every system takes, without an ending."""
    return names.file_name(title)


class _Job:
    """One export, on a worker thread."""

    def __init__(
        self,
        exporting: Exporting,
        wanted: Wanted,
        sources: Mapping[str, Storage],
        open_parts: Mapping[str, tuple[Part, ...]],
        run: Run,
    ) -> None:
        self._exporting = exporting
        self._format: FileFormat = format_of(wanted.format)
        self._include = wanted.include
        self._sources = sources
        self._open_parts = open_parts
        self._run = run
        self._blobs = wanted.blobs

    def write(self, path: Path) -> int:
        try:
            if path.is_dir():
                return self._into_folder(path)
            if len(self._sources) == 1 and not path.name.endswith(".zip"):
                return self._one(path)
            if self._format.together and not path.name.endswith(".zip"):
                return self._whole(path, self._together)
            return self._whole(path, self._archive)
        except OSError as error:
            raise EnvironmentProblem(
                "file-not-written", path=path, reason=error.strerror or error, quotes=True
            ) from error

    def conversations(self) -> Iterator[Conversation]:
        """One after another; chats that are gone are left out."""
        models = self._exporting.models()
        ids = list(self._sources)
        for start in range(0, len(ids), _READ):
            some = ids[start : start + _READ]
            by_storage: dict[Storage, list[str]] = {}
            for chat_id in some:
                by_storage.setdefault(self._sources[chat_id], []).append(chat_id)
            for storage, own in by_storage.items():
                for tree in storage.submit(partial(self._read, ids=own)).result():
                    if self._run.stop.is_set():
                        raise Cancelled
                    yield self._conversation(tree, models)
                    self._run.count += 1

    def _read(self, store: Store, ids: Sequence[str]) -> list[ChatTree]:
        found = []
        for chat_id in ids:
            tree = store.transfers.read(chat_id)
            if tree is not None:
                found.append(self._with_blobs(store, tree) if self._blobs else tree)
        return found

    def _with_blobs(self, store: Store, tree: ChatTree) -> ChatTree:
        blobs = {}
        nodes = to_conversation(tree, ModelNames()).nodes
        for digest in own_format.needed(nodes):
            try:
                blobs[digest] = store.blobs.get(BlobRef(digest, 0, ""))
            except EnvironmentProblem:
                # it says so in the window too; the words are there
                continue
        return replace(tree, blobs=blobs)

    def _conversation(self, tree: ChatTree, models: ModelNames) -> Conversation:
        if self._open_parts:
            # what is being written is in no part yet; it may have ended since
            messages = tuple(
                replace(one, parts=self._open_parts.get(one.id, one.parts))
                if one.status is MessageStatus.OPEN
                else one
                for one in tree.messages
            )
            tree = replace(tree, messages=messages)
        found = to_conversation(tree, models)
        if self._format is not HEADSTART and not found.options.system_prompt:
            prompt = self._exporting.system_prompt(tree)
            if prompt:
                found = replace(found, options=changed(found.options, system_prompt=prompt))
        return found

    def _bytes(self, conversation: Conversation) -> bytes:
        render = self._exporting.renderers.get(self._format.code)
        return self._format.to_bytes(conversation, self._include, render)

    def _one(self, path: Path) -> int:
        found = next(self.conversations(), None)
        if found is None:
            raise EnvironmentProblem("chat-gone")
        write_whole(path, self._bytes(found))
        return 1

    def _into_folder(self, folder: Path) -> int:
        given, count = Names(), 0
        taken = {path.name.casefold() for path in folder.iterdir()}
        for conversation in self.conversations():
            name = given.take(conversation.title, self._format.suffix)
            while name.casefold() in taken:
                # what is there belongs to somebody
                name = given.take(conversation.title, self._format.suffix)
            write_whole(folder / name, self._bytes(conversation), wait=False)
            count += 1
        return count

    def _whole(self, path: Path, fill: Callable[[Path], int]) -> int:
        partial = path.with_name(path.name + PARTIAL)
        try:
            count = fill(partial)
            partial.replace(path)
            return count
        finally:
            partial.unlink(missing_ok=True)

    def _together(self, path: Path) -> int:
        count = 0
        with path.open("wb") as file:
            for conversation in self.conversations():
                file.write(self._bytes(conversation))
                count += 1
        return count

    def _archive(self, path: Path) -> int:
        given, count, written = Names(), 0, set[str]()
        kind = zipfile.ZIP_DEFLATED
        with zipfile.ZipFile(path, "w", kind, compresslevel=_COMPRESSION) as archive:
            for conversation in self.conversations():
                name = given.take(conversation.title, self._format.suffix)
                if self._format is not HEADSTART:
                    archive.writestr(_in_folder(conversation, name), self._bytes(conversation))
                else:
                    data = own_format.to_json(conversation, with_blobs=False)
                    archive.writestr(f"chats/{name}", data)
                    for digest, blob in conversation.blobs.items():
                        if digest not in written:
                            written.add(digest)
                            archive.writestr(f"blobs/{digest}", blob)
                count += 1
        return count


def _in_folder(conversation: Conversation, name: str) -> str:
    """Folders of chats are folders of the archive; their names lead nowhere else."""
    parts = [part.strip(" .") for part in conversation.folder.split("/")]
    return "/".join([*(part for part in parts if part), name])
