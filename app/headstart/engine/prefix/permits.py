"""Decides which chats may have KV state on disk. Called with the lock of `records` held, except
`begin`, which is one assignment."""

from __future__ import annotations

# for a chat cleared on its own
_NEVER = -1


class Permits:
    def __init__(self) -> None:
        # chats that the user does not want on disk
        self._barred: set[str] = set()
        # number of times that everything was cleared, and that count when each chat was last used:
        # state of a cleared chat still in a model's context is not written until the chat is used
        # again
        self._cleared = 0
        self._used_after: dict[str, int] = {}

    def may_write(self, chat_id: str) -> bool:
        since = self._used_after.get(chat_id, 0)
        return chat_id not in self._barred and since == self._cleared

    def begin(self, chat_id: str) -> None:
        """Note a request in this chat: if it was cleared, it may be stored again."""
        self._used_after[chat_id] = self._cleared

    def all_cleared(self) -> None:
        self._cleared += 1

    def cleared(self, chat_id: str) -> None:
        self._used_after[chat_id] = _NEVER

    def allow(self, chat_id: str, on_disk: bool) -> bool:
        """Set the user's permission; True if that is a change."""
        if on_disk == (chat_id not in self._barred):
            return False
        if on_disk:
            self._barred.discard(chat_id)
        else:
            self._barred.add(chat_id)
        return True
