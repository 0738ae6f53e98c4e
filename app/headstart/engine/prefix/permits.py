"""Which chats may have something of theirs on disk. Used with the store's lock held, but for
`begin`, which says one thing at once."""

from __future__ import annotations

# a chat that was cleared by itself
_NEVER = -1


class Permits:
    def __init__(self) -> None:
        # chats whose user does not want them on disk
        self._barred: set[str] = set()
        # how often all was cleared, and how often it had been when a chat was used last: what a
        # model holds of a chat that was cleared is not written until the chat is used again
        self._cleared = 0
        self._used_after: dict[str, int] = {}

    def may_write(self, chat_id: str) -> bool:
        since = self._used_after.get(chat_id, 0)
        return chat_id not in self._barred and since == self._cleared

    def begin(self, chat_id: str) -> None:
        """A reply is asked for in this chat: it may be kept again if it was cleared."""
        self._used_after[chat_id] = self._cleared

    def all_cleared(self) -> None:
        self._cleared += 1

    def cleared(self, chat_id: str) -> None:
        self._used_after[chat_id] = _NEVER

    def allow(self, chat_id: str, on_disk: bool) -> bool:
        """What the user wants from now on; True if that is new."""
        if on_disk == (chat_id not in self._barred):
            return False
        if on_disk:
            self._barred.discard(chat_id)
        else:
            self._barred.add(chat_id)
        return True
