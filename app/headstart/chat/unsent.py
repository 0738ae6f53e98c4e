"""Typed but unsent text, kept across restarts, except in private chats. On the event loop's
thread."""

from __future__ import annotations

from msgspec.structs import replace

from headstart.chat.databases import Databases
from headstart.core.chats.unsent import Unsent


class UnsentTexts:
    def __init__(self, databases: Databases) -> None:
        self._databases = databases

    async def load(self) -> list[Unsent]:
        """All unsent texts, the last written first; brings back new chats without a message."""
        found = await self._databases.on_disk.run(lambda store: store.unsent.all())
        for one in found:
            if one.begun is not None:
                self._databases.begin_again(one.begun)
        return found

    async def save(self, unsent: Unsent) -> None:
        """Keep the contents of a chat's composer."""
        if self._databases.is_private(unsent.chat_id):
            return
        value = replace(unsent, begun=self._databases.begun(unsent.chat_id))
        storage = self._databases.on_disk
        await self._databases.outbox.save(
            ("unsent", unsent.chat_id), lambda: storage.run(lambda store: store.unsent.save(value))
        )
