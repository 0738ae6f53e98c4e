"""Reads chats: their row, and their active messages in pages. On the event loop's thread."""

from __future__ import annotations

from msgspec.structs import replace

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import BranchChanged, Trouble
from headstart.chat.databases import Databases
from headstart.core.chats.values import PAGE, BranchPage, Chat, Message
from headstart.core.told import told
from headstart.storage.worker import Store


class Branches:
    """Reads chats; serves replies that could not be stored from memory."""

    def __init__(self, databases: Databases, broadcast: Broadcast) -> None:
        self._databases = databases
        self._broadcast = broadcast
        self._unsaved: dict[str, Message] = {}

    async def chat(self, chat_id: str) -> Chat | None:
        """A stored chat, or a new one not yet stored."""
        return await self._databases.chat(chat_id)

    async def whole(self, chat_id: str) -> list[Message]:
        """All active messages, the first one first."""
        return (await self.page(chat_id, count=0)).messages

    async def page(self, chat_id: str, before: str | None = None, count: int = PAGE) -> BranchPage:
        """The last `count` active messages, or the last ones before `before`; 0 for all."""
        if self._databases.begun(chat_id) is not None:
            return BranchPage([], 0)

        def read(store: Store) -> tuple[BranchPage, list[str]]:
            page = store.messages.page(chat_id, before, count)
            return page, store.messages.take_repaired()

        page, repaired = await self._databases.run(chat_id, read)
        if repaired:
            self._broadcast.tell(Trouble(told("order-repaired")))
        shown = [self._unsaved.get(message.id, message) for message in page.messages]
        return replace(page, messages=shown)

    async def reach(self, chat_id: str, message_id: str) -> int | None:
        """Show the branch of a message; return the number of messages from it on, None if it is
        gone. Raises EnvironmentProblem while a reply is being written on another branch."""

        def reach(store: Store) -> tuple[bool, int | None]:
            changed = store.branches.show(message_id)
            return changed, store.branches.from_end(chat_id, message_id)

        changed, count = await self._databases.run(chat_id, reach)
        if changed:
            self._broadcast.tell(BranchChanged(chat_id))
        return count

    async def is_shown(self, chat_id: str, message_id: str) -> bool:
        """True if a message is on the branch on show."""
        return (
            await self._databases.run(
                chat_id, lambda store: store.branches.from_end(chat_id, message_id)
            )
            is not None
        )

    async def message(self, chat_id: str, message_id: str) -> Message | None:
        """The current state of one message."""
        if message_id in self._unsaved:
            return self._unsaved[message_id]
        return await self._databases.run(chat_id, lambda store: store.messages.get(message_id))

    def show_unsaved(self, message: Message) -> None:
        """Show this unstored reply from memory until it is written again."""
        self._unsaved[message.id] = message

    def end_unsaved(self, message_id: str) -> None:
        self._unsaved.pop(message_id, None)
