"""Folders of chats: made, renamed, put in order, removed; what they say for their chats. On the
event loop's thread."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ChatsChanged, FoldersChanged
from headstart.chat.databases import Databases
from headstart.core.chats.values import Folder
from headstart.core.errors import EnvironmentProblem
from headstart.core.settings.schema import ChatOptions

# a name that is longer is none
_LONGEST = 120


class Folders:
    def __init__(self, databases: Databases, broadcast: Broadcast) -> None:
        self._databases = databases
        self._broadcast = broadcast

    async def all(self) -> list[Folder]:
        return await self._databases.on_disk.run(lambda store: store.folders.all())

    async def get(self, path: str) -> Folder:
        """One that says nothing of its own is an empty one."""
        found = await self._databases.on_disk.run(lambda store: store.folders.get(path))
        return found or Folder(path)

    async def make(self, name: str, inside: str = "") -> str:
        """A new folder; returns its path. Raises EnvironmentProblem for a name that is there."""
        path = "/".join(filter(None, (inside, clean_name(name))))
        await self._check_free(path)
        await self._databases.on_disk.run(lambda store: store.folders.save(Folder(path)))
        self._broadcast.tell(FoldersChanged())
        return path

    async def rename(self, path: str, name: str) -> str:
        """Returns the new path. Raises EnvironmentProblem for a name that is there."""
        now = "/".join(filter(None, (path.rpartition("/")[0], clean_name(name))))
        if now != path:
            await self._check_free(now)
            await self._move(path, now)
        return now

    async def move(self, path: str, inside: str) -> str:
        """Into another folder; "" for none. Returns the new path."""
        now = "/".join(filter(None, (inside, path.rpartition("/")[2])))
        if now != path and inside != path and not inside.startswith(f"{path}/"):
            await self._check_free(now)
            await self._move(path, now)
            return now
        return path

    async def remove(self, path: str) -> None:
        """The folder alone: its chats are in the one that it lay in."""
        await self._databases.on_disk.run(lambda store: store.folders.remove(path))
        self._tell()

    async def set_order(self, paths: Sequence[str]) -> None:
        await self._databases.on_disk.run(lambda store: store.folders.set_order(list(paths)))
        self._broadcast.tell(FoldersChanged())

    async def fold(self, path: str, folded: bool) -> None:
        await self._save(replace(await self.get(path), folded=folded))

    async def set_options(self, path: str, options: ChatOptions, model: str | None) -> None:
        """Set the options that its chats inherit; `model` is that of new ones."""
        await self._save(replace(await self.get(path), options=options, model=model))

    async def _save(self, folder: Folder) -> None:
        await self._databases.on_disk.run(lambda store: store.folders.save(folder))
        self._broadcast.tell(FoldersChanged())

    async def _move(self, path: str, now: str) -> None:
        await self._databases.on_disk.run(lambda store: store.folders.rename(path, now))
        self._tell()

    async def _check_free(self, path: str) -> None:
        if any(folder.path.casefold() == path.casefold() for folder in await self.all()):
            raise EnvironmentProblem("folder-there", name=path.rpartition("/")[2])

    def _tell(self) -> None:
        self._broadcast.tell(FoldersChanged())
        self._broadcast.tell(ChatsChanged())


def clean_name(name: str) -> str:
    """Without slashes, which stand between names; raises EnvironmentProblem for an empty one."""
    found = " ".join(name.replace("/", " ").split())[:_LONGEST]
    if not found:
        raise EnvironmentProblem("folder-name")
    return found
