"""The lists of tools that servers gave last, in this run or an earlier one, and the definitions
that the user agreed to. On the event loop's thread; files are read and written on others."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from headstart.chat.tool_servers.entries import ToolEntries
from headstart.core.tool_servers.entry import ToolServer
from headstart.core.tool_servers.lists import ServerLists, ToolDefinition
from headstart.tools.kept import KeptLists, ListsFolder


class ToolLists:
    def __init__(self, folder: ListsFolder, entries: ToolEntries) -> None:
        self._folder = folder
        self._entries = entries
        self._kept: dict[str, KeptLists] = {}
        self._unsaved: dict[str, KeptLists] = {}
        self._saving: asyncio.Future[None] | None = None

    async def load(self, server_ids: Iterable[str]) -> None:
        """Read the lists that servers gave in earlier runs, each once."""
        for server_id in server_ids:
            server = self._entries.get(server_id)
            if server is not None:
                await self.of(server)

    async def of(self, server: ToolServer) -> KeptLists:
        """All that is kept of a server; no lists of another command or address."""
        known = self._kept.get(server.id)
        if known is not None:
            known = self._kept[server.id] = known.of_binding(server.binding)
        else:
            found = await asyncio.to_thread(self._folder.load, server.id, server.binding)
            known = self._kept.setdefault(server.id, found).of_binding(server.binding)
            self._kept[server.id] = known
        return known

    def known(self) -> Mapping[str, ServerLists]:
        """The lists that are known, by server; `load` reads those of earlier runs."""
        found = {}
        for server in self._entries.all:
            kept = self._kept.get(server.id)
            if kept is not None and kept.handshake is not None and kept.binding == server.binding:
                found[server.id] = kept.lists
        return found

    def take(self, server_id: str, lists: ServerLists, handshake: bool | None = None) -> None:
        """Keep the lists that a server gives now. `handshake`: it speaks the older age of the
        protocol; None: as before."""
        kept = self._kept.get(server_id)
        if kept is not None:
            age = bool(kept.handshake) if handshake is None else handshake
            self._keep(server_id, kept.with_lists(lists, age))

    def agreed(self, server_id: str, tool: str) -> ToolDefinition | None:
        """The definition of a tool that the user agreed to last."""
        kept = self._kept.get(server_id)
        return None if kept is None else kept.agreed.get(tool)

    def agreed_with(self, server_id: str, tool: str) -> str:
        """The server, as it was started or asked when the user agreed to a tool last; "" if that
        is not known."""
        kept = self._kept.get(server_id)
        return "" if kept is None else kept.agreed_with.get(tool, "")

    def agree(self, server: ToolServer, tool: ToolDefinition) -> None:
        """The user agreed to a call of the tool as it is defined, and its server started, now."""
        kept = self._kept.get(server.id)
        if kept is not None:
            self._keep(server.id, kept.with_agreed(tool, server.as_text))

    async def forget(self, server_id: str) -> None:
        """Remove all that is kept of a server."""
        await self.saved()
        self._kept.pop(server_id, None)
        await asyncio.to_thread(self._folder.forget, server_id)

    async def saved(self) -> None:
        """Wait until everything is on disk."""
        if self._saving is not None:
            await self._saving

    def _keep(self, server_id: str, kept: KeptLists) -> None:
        if self._kept.get(server_id) == kept:
            return
        self._kept[server_id] = self._unsaved[server_id] = kept
        if self._saving is None or self._saving.done():
            self._saving = asyncio.ensure_future(self._save())

    async def _save(self) -> None:
        """Save one list after the other, the latest of each server."""
        while self._unsaved:
            server_id, kept = next(iter(self._unsaved.items()))
            await asyncio.to_thread(self._folder.save, server_id, kept)
            if self._unsaved.get(server_id) is kept:
                del self._unsaved[server_id]
