"""Other programs that change the chats: one that imports beside this window."""

from __future__ import annotations

from pathlib import Path

from headstart.chat.databases import Databases


class Elsewhere:
    def __init__(self, databases: Databases) -> None:
        self._databases = databases

    def files(self) -> tuple[Path, ...]:
        """Files that a program which changes the chats writes to."""
        return self._databases.files()

    async def look(self) -> None:
        """See whether another program changed the chats, and say so."""
        await self._databases.look()
