"""Keeps a folder of Markdown files up to date, one per chat, for sync, search and version control
by other programs. On the event loop's thread; files are written on a worker thread.

Files that this program did not write, or that changed since, belong to the user: they are never
overwritten or removed. Private chats are never written.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, field

from headstart.chat.background import Background
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import (
    BranchChanged,
    ChatChanged,
    ChatsChanged,
    ReplyEnded,
    Trouble,
    What,
)
from headstart.chat.databases import Databases
from headstart.chat.preferences import Preferences
from headstart.chat.transfer.exporting import Exporting
from headstart.core import patient
from headstart.core.beginnings import Beginning, BegunKind
from headstart.core.errors import EnvironmentProblem
from headstart.core.files import read_regular, remove_partials, shared_folder, write_whole
from headstart.core.settings.schema import Settings
from headstart.core.told import told

if TYPE_CHECKING:
    from headstart.exchange.tree import ExchangeChat

log = logging.getLogger(__name__)

BOOK = ".headstart-mirror.json"
_SUFFIX = ".md"
# largest size of a chat's file and of the book, in bytes
_LARGEST = 256 << 20
# seconds of rest after a change before a file is written
REST = 2.0
# changes of a chat that do not show in its file
_UNSEEN = (What.PINNED, What.MODEL, What.OPTIONS)


class _File(msgspec.Struct):
    """A file the mirror wrote: its name, the digest of its bytes, the last change of its chat."""

    name: str
    digest: str
    updated_at: int = 0


class _Book(msgspec.Struct):
    version: int = 1
    files: dict[str, _File] = {}


class _Wanted(Struct):
    """Chats to write: by id, or all."""

    chats: set[str] = field(default_factory=set)
    everything: bool = False


class Mirror:
    def __init__(
        self,
        databases: Databases,
        exporting: Exporting,
        preferences: Preferences,
        broadcast: Broadcast,
        background: Background,
    ) -> None:
        self._databases = databases
        self._exporting = exporting
        self._preferences = preferences
        self._broadcast = broadcast
        self._background = background
        self._beginnings = background.beginnings
        self._folder = ""
        # the folder already cleared of partial files
        self._cleaned: Path | None = None
        self._wanted = _Wanted()
        self._timer: asyncio.TimerHandle | None = None
        self._working = asyncio.Lock()
        self._said = ""
        # chats deleted since the start of the program
        self._deleted: set[str] = set()
        broadcast.on(ChatChanged, self._on_chat)
        broadcast.on(BranchChanged, lambda change: self._want(change.chat_id))
        broadcast.on(ReplyEnded, lambda change: self._want(change.chat_id))
        broadcast.on(ChatsChanged, lambda _change: self._want(""))
        preferences.listen(self._on_settings, "mirror_folder")

    def wake(self) -> None:
        """Bring the folder up to date, once the chats are available, unless that did not end last
        time."""
        folder = self._preferences.current.mirror_folder
        self._beginnings.begins(BegunKind.MIRROR, lambda _name: self.wake())
        if folder and self._beginnings.why_held(BegunKind.MIRROR) is None:
            self._follow(folder)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def write_now(self) -> None:
        """Write all pending changes; called by the timer, at the end, and in tests."""
        self.close()
        async with self._working:
            wanted, self._wanted = self._wanted, _Wanted()
            if not self._folder or not (wanted.chats or wanted.everything):
                return
            try:
                now = Beginning(BegunKind.MIRROR, title=self._folder)
                async with self._beginnings.noted(now):
                    await self._write(Path(self._folder), wanted)
                self._said = ""
            except OSError as error:
                # reported once, not after every message
                if self._said != self._folder:
                    self._said = self._folder
                    log.warning("the mirror was not written: %s", error.strerror)
                    reason = error.strerror or error
                    why = told("mirror-not-written", path=self._folder, reason=reason)
                    self._broadcast.tell(Trouble(why))

    # --- changes -------------------------------------------------------------------------

    def _on_settings(self, settings: Settings) -> None:
        self._beginnings.ask_for(BegunKind.MIRROR)
        self._follow(settings.mirror_folder)

    def _follow(self, folder: str) -> None:
        self._folder = folder
        self._want("")

    def _on_chat(self, change: ChatChanged) -> None:
        if change.what is What.DELETED:
            self._deleted.add(change.chat_id)
        elif change.what is What.RESTORED:
            self._deleted.discard(change.chat_id)
        if change.what not in _UNSEEN:
            self._want(change.chat_id)

    def _want(self, chat_id: str) -> None:
        if not self._folder or (chat_id and self._databases.is_private(chat_id)):
            return
        if chat_id:
            self._wanted.chats.add(chat_id)
        else:
            self._wanted.everything = True
        self.close()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(REST, lambda: self._background.run(self.write_now()))

    # --- the folder ----------------------------------------------------------------------

    async def _write(self, folder: Path, wanted: _Wanted) -> None:
        if self._cleaned != folder:
            self._cleaned = folder
            await asyncio.to_thread(remove_partials, folder)
        book = await asyncio.to_thread(_read_book, folder)
        summaries = await self._databases.summaries()
        known = {chat.id: chat.updated_at for chat in summaries if not chat.private}
        if wanted.everything:
            stale = await asyncio.to_thread(_stale, book, folder, known)
            wanted.chats |= stale | (set(book.files) - set(known))
        # chats unknown to this database belong to another one: their files stay
        deleted = self._deleted | {chat.id for chat in await self._databases.trashed()}
        changed, problem = False, None
        for chat_id in wanted.chats:
            if self._databases.is_private(chat_id):
                continue
            try:
                if chat_id in known:
                    changed |= await self._write_one(folder, book, chat_id, known[chat_id])
                elif chat_id in deleted:
                    changed |= await asyncio.to_thread(_remove, folder, book, chat_id)
            except OSError as error:
                # the other chats are still written
                problem = error
        if changed:
            await asyncio.to_thread(_write_book, folder, book)
        if problem is not None:
            raise problem

    async def _write_one(self, folder: Path, book: _Book, chat_id: str, moment: int) -> bool:
        try:
            chat = await self._exporting.conversation(chat_id)
        except EnvironmentProblem:
            # it was deleted meanwhile
            return False
        return await asyncio.to_thread(_put, folder, book, chat, moment)


def _stale(book: _Book, folder: Path, known: Mapping[str, int]) -> set[str]:
    """Chats whose files are missing or out of date."""
    found = set()
    for chat_id, moment in known.items():
        one = book.files.get(chat_id)
        if one is None or one.updated_at != moment or not (folder / one.name).exists():
            found.add(chat_id)
    return found


def _put(folder: Path, book: _Book, chat: ExchangeChat, moment: int) -> bool:
    """Write one chat; return True if the book changed. Raises OSError."""
    from headstart.exchange.writers.markdown import to_markdown

    data = to_markdown(chat, mirrored=True).encode()
    digest = hashlib.sha256(data).hexdigest()
    old = book.files.get(chat.id)
    name = _name_for(folder, book, chat, old, data)
    if old is not None and (old.name, old.digest) == (name, digest):
        changed = old.updated_at != moment
        old.updated_at = moment
        if (folder / name).exists():
            return changed
    path = folder / name
    shared_folder(path.parent)
    write_whole(path, data, wait=False, shared=True)
    if old is not None and old.name != name and _is_ours(folder, old):
        patient.remove(folder / old.name)
    book.files[chat.id] = _File(name, digest, moment)
    return True


def _name_for(folder: Path, book: _Book, chat: ExchangeChat, old: _File | None, data: bytes) -> str:
    """File name for a chat: its old file's, if that is ours and still matches the title."""
    from headstart.exchange.names import file_name

    parts = [file_name(part) for part in chat.folder.split("/") if part.strip(" .")]
    base = PurePosixPath(*parts) / file_name(chat.title)
    # names must also differ on case-insensitive file systems
    taken = {one.name.casefold() for chat_id, one in book.files.items() if chat_id != chat.id}
    number = 1
    while True:
        tail = f" ({number})" if number > 1 else ""
        name = f"{base}{tail}{_SUFFIX}"
        there = (folder / name).exists()
        ours = old is not None and old.name == name and (not there or _is_ours(folder, old))
        # written by a run that was killed before it could record the file
        ours = ours or (there and _holds(folder / name, data))
        if name.casefold() not in taken and (ours or not there):
            return name
        number += 1


def _remove(folder: Path, book: _Book, chat_id: str) -> bool:
    """Remove a deleted chat's file, unless someone changed it; return True if the book changed."""
    one = book.files.pop(chat_id, None)
    if one is None:
        return False
    if _is_ours(folder, one):
        patient.remove(folder / one.name)
        with contextlib.suppress(OSError):
            # the chat's folder, if it is now empty
            if "/" in one.name:
                (folder / one.name).parent.rmdir()
    return True


def _is_ours(folder: Path, one: _File) -> bool:
    """True if the file has the bytes the mirror wrote."""
    try:
        data = read_regular(folder / one.name, _LARGEST)
    except (OSError, ValueError):
        return False
    return hashlib.sha256(data).hexdigest() == one.digest


def _holds(path: Path, data: bytes) -> bool:
    try:
        return read_regular(path, _LARGEST) == data
    except (OSError, ValueError):
        return False


def _read_book(folder: Path) -> _Book:
    """Read the list of written files; empty if unreadable: then all files belong to the user."""
    try:
        book = msgspec.json.decode(read_regular(folder / BOOK, _LARGEST), type=_Book)
    except (OSError, ValueError):
        return _Book(files={})
    # others write to this folder: a name in the book must not lead outside
    book.files = {id_: one for id_, one in book.files.items() if _is_name(one.name)}
    return book


def _is_name(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(name) and "\0" not in name and not path.is_absolute() and ".." not in path.parts


def _write_book(folder: Path, book: _Book) -> None:
    ordered = _Book(book.version, dict(sorted(book.files.items())))
    data = msgspec.json.format(msgspec.json.encode(ordered), indent=1)
    write_whole(folder / BOOK, data + b"\n", wait=False)
