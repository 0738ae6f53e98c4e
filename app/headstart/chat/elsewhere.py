"""Notices other programs that change the chats, such as an import running beside this window."""

from __future__ import annotations

from pathlib import Path

from headstart.chat.databases import Databases


class Elsewhere:
    def __init__(self, databases: Databases) -> None:
        self._databases = databases

    def files(self) -> tuple[Path, ...]:
        """The files any program that changes the chats writes to."""
        return self._databases.files()

    async def look(self) -> None:
        """Announce changes another program made to the chats."""
        await self._databases.look()
