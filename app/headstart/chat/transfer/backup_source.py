"""The contents of a backup or of a database copy: opened beside our database, chat by chat."""

from __future__ import annotations

import contextlib
import shutil
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from headstart.chat.transfer.importing import scratch_folder
from headstart.chat.transfer.intake import IncomingChat
from headstart.core.chats.parts import BlobRef, needed_blobs
from headstart.core.chats.tree import ChatTree
from headstart.core.errors import EnvironmentProblem
from headstart.core.files import open_regular
from headstart.exchange.material import Archive, ImportProblem
from headstart.storage.blobs import Blobs
from headstart.storage.worker import Storage, Store

# members of a backup
DATABASE, SETTINGS = "headstart.db", "settings.json"
_MAGIC = b"SQLite format 3\0"


@contextlib.contextmanager
def opened(path: Path, home: Storage, scratch: Path | None) -> Iterator[BackupSource]:
    """Open a copy of a backup's database; its file is never touched. `home`: has the files that an
    automatic copy only refers to. Raises EnvironmentProblem."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(scratch_folder(scratch))
        archive: Archive | None = None
        copy = folder / DATABASE
        try:
            if zipfile.is_zipfile(path):
                archive = Archive(path, folder, trusted=True)
                stack.callback(archive.close)
                if DATABASE not in archive.members:
                    raise ImportProblem("backup-not-known", name=path.name)
                shutil.move(archive.unpacked(DATABASE), copy)
            elif path.suffix == copy.suffix or _is_database(path):
                shutil.copyfile(path, copy)
                log = path.with_name(f"{path.name}-wal")
                if log.is_file():
                    # the last writes of a killed program
                    shutil.copyfile(log, copy.with_name(f"{copy.name}-wal"))
            else:
                raise ImportProblem("backup-not-known", name=path.name)
        except OSError as error:
            reason = error.strerror or error
            raise ImportProblem("import-no-file", name=path.name, reason=reason) from error
        storage = Storage(copy, folder / "backups")
        stack.callback(storage.close)
        storage.submit(lambda store: store.interrupted).result()
        yield BackupSource(storage, archive, home, path.parent / "blobs")


class BackupSource:
    """The chats of a backup, one after another."""

    def __init__(
        self, storage: Storage, archive: Archive | None, home: Storage, beside: Path
    ) -> None:
        """`beside`: the folder of files next to the database of a whole home folder."""
        self._storage = storage
        self._beside = Blobs(beside)
        self._archive = archive
        self._home = home

    @property
    def settings(self) -> Path | None:
        """The backup's settings file; None if it has none."""
        if self._archive is None or SETTINGS not in self._archive.members:
            return None
        return self._archive.unpacked(SETTINGS)

    def incoming(self) -> Iterator[IncomingChat]:
        ids = self._storage.submit(lambda store: store.transfers.ids()).result()
        for chat_id in ids:
            tree = self._storage.submit(partial(_read, chat_id=chat_id)).result()
            if tree is not None:
                yield IncomingChat(self._with_blobs(tree), "Backup")

    def _with_blobs(self, tree: ChatTree) -> ChatTree:
        digests = needed_blobs(part for one in tree.messages for part in one.parts)
        blobs = {digest: self._blob(digest) for digest in digests}
        return replace(tree, blobs={key: data for key, data in blobs.items() if data is not None})

    def _blob(self, digest: str) -> bytes | None:
        member = f"blobs/{digest}"
        if self._archive is not None and member in self._archive.members:
            return bytes(self._archive.data(member))
        try:
            # automatic copies do not include files
            ref = BlobRef(digest, 0, "")
            return self._home.submit(lambda store: store.blobs.get(ref)).result()
        except EnvironmentProblem:
            pass
        try:
            return self._beside.get(ref)
        except EnvironmentProblem:
            return None


def _is_database(path: Path) -> bool:
    with open_regular(path) as file:
        return file.read(len(_MAGIC)) == _MAGIC


def _read(store: Store, chat_id: str) -> ChatTree | None:
    return store.transfers.read(chat_id)
