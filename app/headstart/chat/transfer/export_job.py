"""One export, on a worker thread: reads chats, writes the file, and renames it into place."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from headstart.chat.transfer.export_request import ExportCancelled, ExportJobRun, ExportRequest
from headstart.chat.transfer.trees import ModelNames, to_conversation
from headstart.core import patient
from headstart.core.chats.parts import BlobRef, Part, needed_blobs
from headstart.core.chats.tree import ChatTree
from headstart.core.chats.values import MessageStatus
from headstart.core.errors import EnvironmentProblem
from headstart.core.files import let_others_read, new_partial, write_whole
from headstart.core.settings.schema import changed
from headstart.exchange import own_format
from headstart.exchange.formats import HEADSTART, FileFormat, Render, format_of
from headstart.exchange.names import Names
from headstart.exchange.tree import ExchangeChat
from headstart.storage.worker import Storage, Store

# chats read at once
_READ = 8
_COMPRESSION = 3


class ExportContext(Protocol):
    """Sources for an export: model names, system prompts, and the window's renderers."""

    @property
    def renderers(self) -> Mapping[str, Render]: ...

    def models(self) -> ModelNames: ...

    def system_prompt(self, tree: ChatTree) -> str: ...


class Job:
    """One export, on a worker thread."""

    def __init__(
        self,
        context: ExportContext,
        wanted: ExportRequest,
        sources: Mapping[str, Storage],
        open_parts: Mapping[str, tuple[Part, ...]],
        run: ExportJobRun,
    ) -> None:
        self._context = context
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

    def conversations(self) -> Iterator[ExchangeChat]:
        """Yield the chats one by one; missing ones are left out."""
        models = self._context.models()
        ids = list(self._sources)
        for start in range(0, len(ids), _READ):
            some = ids[start : start + _READ]
            by_storage: dict[Storage, list[str]] = {}
            for chat_id in some:
                by_storage.setdefault(self._sources[chat_id], []).append(chat_id)
            for storage, own in by_storage.items():
                for tree in storage.submit(partial(self._read, ids=own)).result():
                    if self._run.stop.is_set():
                        raise ExportCancelled
                    yield self._conversation(tree, models)
                    self._run.count += 1

    def _read(self, store: Store, ids: Sequence[str]) -> list[ChatTree]:
        found = []
        for chat_id in ids:
            tree = store.transfers.read(chat_id)
            if tree is not None:
                tree = self._with_open(tree)
                found.append(self._with_blobs(store, tree) if self._blobs else tree)
        return found

    def _with_blobs(self, store: Store, tree: ChatTree) -> ChatTree:
        blobs = {}
        for digest in needed_blobs(part for one in tree.messages for part in one.parts):
            try:
                blobs[digest] = store.blobs.get(BlobRef(digest, 0, ""))
            except EnvironmentProblem:
                # the window reports the missing file too; the text is exported
                continue
        return replace(tree, blobs=blobs)

    def _with_open(self, tree: ChatTree) -> ChatTree:
        """The tree with the parts of replies being written, which are not stored yet; they may
        have ended since."""
        if not self._open_parts:
            return tree
        messages = tuple(
            replace(one, parts=self._open_parts.get(one.id, one.parts))
            if one.status is MessageStatus.OPEN
            else one
            for one in tree.messages
        )
        return replace(tree, messages=messages)

    def _conversation(self, tree: ChatTree, models: ModelNames) -> ExchangeChat:
        found = to_conversation(tree, models)
        if self._format is not HEADSTART and not found.options.system_prompt:
            prompt = self._context.system_prompt(tree)
            if prompt:
                found = replace(found, options=changed(found.options, system_prompt=prompt))
        return found

    def _bytes(self, conversation: ExchangeChat) -> bytes:
        render = self._context.renderers.get(self._format.code)
        return self._format.to_bytes(conversation, self._include, render)

    def _one(self, path: Path) -> int:
        found = next(self.conversations(), None)
        if found is None:
            raise EnvironmentProblem("chat-gone")
        write_whole(path, self._bytes(found), shared=True)
        return 1

    def _into_folder(self, folder: Path) -> int:
        given, count = Names(), 0
        taken = {path.name.casefold() for path in folder.iterdir()}
        for conversation in self.conversations():
            name = given.take(conversation.title, self._format.suffix)
            while name.casefold() in taken:
                # an existing file is never overwritten
                name = given.take(conversation.title, self._format.suffix)
            write_whole(folder / name, self._bytes(conversation), wait=False, shared=True)
            count += 1
        return count

    def _whole(self, path: Path, fill: Callable[[Path], int]) -> int:
        partial = new_partial(path.parent)
        try:
            count = fill(partial)
            let_others_read(partial)
            patient.replace(partial, path)
            return count
        finally:
            patient.remove(partial)

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


def _in_folder(conversation: ExchangeChat, name: str) -> str:
    """The path in the archive: folders of chats become folders; their names cannot lead outside."""
    parts = [part.strip(" .") for part in conversation.folder.split("/")]
    return "/".join([*(part for part in parts if part), name])
