"""Folders of chats: create, rename, reorder and remove them; the options their chats inherit. On
the event loop's thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ChatsChanged, FoldersChanged
from headstart.chat.databases import Databases
from headstart.core.chats.values import Folder
from headstart.core.errors import EnvironmentProblem
from headstart.core.settings.schema import ChatOptions
from headstart.storage.worker import Store

# characters of a name; longer ones are cut
_LONGEST = 120


class Folders:
    def __init__(self, databases: Databases, broadcast: Broadcast) -> None:
        self._databases = databases
        self._broadcast = broadcast

    async def all(self) -> list[Folder]:
        return await self._databases.on_disk.run(lambda store: store.folders.all())

    async def get(self, path: str) -> Folder:
        """A folder; one that is not stored has no options."""
        found = await self._databases.on_disk.run(lambda store: store.folders.get(path))
        return found or Folder(path)

    async def make(self, name: str, inside: str = "") -> str:
        """Make a folder; return its path. Raises EnvironmentProblem if the name is taken."""
        path = "/".join(filter(None, (inside, clean_name(name))))
        await self._check_free(path)
        await self._write("make", path, lambda store: store.folders.save(Folder(path)))
        return path

    async def rename(self, path: str, name: str) -> str:
        """Rename a folder; return its path. Raises EnvironmentProblem if the name is taken."""
        now = "/".join(filter(None, (path.rpartition("/")[0], clean_name(name))))
        if now != path:
            await self._check_free(now)
            await self._move(path, now)
        return now

    async def move(self, path: str, inside: str) -> str:
        """Move a folder into another one, "" for none; return its path."""
        now = "/".join(filter(None, (inside, path.rpartition("/")[2])))
        if now != path and inside != path and not inside.startswith(f"{path}/"):
            await self._check_free(now)
            await self._move(path, now)
            return now
        return path

    async def remove(self, path: str) -> None:
        """Remove the folder only: its chats move to the parent folder."""
        await self._write("remove", path, lambda store: store.folders.remove(path), chats=True)

    async def set_order(self, paths: Sequence[str]) -> None:
        await self._write("order", "", lambda store: store.folders.set_order(list(paths)))

    async def fold(self, path: str, folded: bool) -> None:
        await self._save(replace(await self.get(path), folded=folded))

    async def set_options(self, path: str, options: ChatOptions, model: str | None) -> None:
        """Set the options its chats inherit, and the model of new chats in it."""
        await self._save(replace(await self.get(path), options=options, model=model))

    async def _save(self, folder: Folder) -> None:
        await self._write("save", folder.path, lambda store: store.folders.save(folder))

    async def _move(self, path: str, now: str) -> None:
        await self._write("rename", path, lambda store: store.folders.rename(path, now), chats=True)

    async def _check_free(self, path: str) -> None:
        if any(folder.path.casefold() == path.casefold() for folder in await self.all()):
            raise EnvironmentProblem("folder-there", name=path.rpartition("/")[2])

    async def _write(
        self, what: str, path: str, call: Callable[[Store], object], chats: bool = False
    ) -> None:
        """Change the folders; `chats`: those in them as well. Kept in memory where the disk
        refuses."""

        async def write() -> None:
            await self._databases.on_disk.run(call)
            self._broadcast.tell(FoldersChanged())
            if chats:
                self._broadcast.tell(ChatsChanged())

        await self._databases.outbox.save(("folder", what, path), write)


def clean_name(name: str) -> str:
    """A name without slashes, which separate names; raises EnvironmentProblem for an empty one."""
    found = " ".join(name.replace("/", " ").split())[:_LONGEST]
    if not found:
        raise EnvironmentProblem("folder-name")
    return found
