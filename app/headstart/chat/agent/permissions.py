"""The user's word on tool calls: once, in one chat, or always. On the event loop's thread.

A call waits until it has an answer. No answer is ever made up: a tool that changed asks again.
"""

from __future__ import annotations

import asyncio
from enum import StrEnum

from headstart.chat.preferences import Preferences


class Permission(StrEnum):
    ONCE = "once"
    CHAT = "chat"
    ALWAYS = "always"
    DENIED = "denied"


class Permissions:
    def __init__(self, preferences: Preferences) -> None:
        self._preferences = preferences
        # tools that a chat may call until the program ends
        self._in_chats: set[tuple[str, str]] = set()
        self._waiting: dict[tuple[str, int], asyncio.Future[Permission]] = {}

    def given(self, chat_id: str, tool: str) -> bool:
        """True if a chat may call a tool without asking."""
        always = tool in self._preferences.current.allowed_tools
        return always or (chat_id, tool) in self._in_chats

    async def ask(self, chat_id: str, tool: str, call: int) -> bool:
        """Wait for the user's answer to a call, by its number in the reply; True if it may run."""
        if self.given(chat_id, tool):
            return True
        key = chat_id, call
        self._waiting[key] = asyncio.get_running_loop().create_future()
        try:
            answer = await self._waiting[key]
        finally:
            self._waiting.pop(key, None)
        if answer is Permission.CHAT:
            self._in_chats.add((chat_id, tool))
        elif answer is Permission.ALWAYS:
            always = self._preferences.current.allowed_tools
            self._preferences.update(allowed_tools=tuple(dict.fromkeys((*always, tool))))
        return answer is not Permission.DENIED

    def answer(self, chat_id: str, call: int, permission: Permission) -> None:
        """The user's answer; without effect where no call waits for one."""
        waiting = self._waiting.get((chat_id, call))
        if waiting is not None and not waiting.done():
            waiting.set_result(permission)

    def withdraw(self, tool: str) -> None:
        """Ask again before a tool that was always allowed."""
        always = self._preferences.current.allowed_tools
        self._preferences.update(allowed_tools=tuple(one for one in always if one != tool))
        self._in_chats = {one for one in self._in_chats if one[1] != tool}
