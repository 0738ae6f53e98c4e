"""The user's word on tool calls: once, in one chat, or always. On the event loop's thread.

A call waits until it has an answer. No answer is ever made up: a tool that changed asks again.
"""

from __future__ import annotations

import asyncio
from enum import StrEnum

from msgspec import Struct

from headstart.chat.preferences import Preferences
from headstart.core.settings.schema import ToolApproval


class Permission(StrEnum):
    ONCE = "once"
    CHAT = "chat"
    ALWAYS = "always"
    DENIED = "denied"


class ToolKey(Struct, frozen=True):
    """Scope of an answer: one of the program's own tools, by its name, or with `approval` a
    server's tool as it is defined now. `once`: each call is asked for. `always`: the user may allow
    it for ever."""

    name: str
    approval: ToolApproval | None = None
    once: bool = False
    always: bool = True

    def takes(self, permission: Permission) -> bool:
        """True if the user may give this answer."""
        if permission is Permission.ALWAYS:
            return self.always and not self.once
        return permission is not Permission.CHAT or not self.once


class Permissions:
    def __init__(self, preferences: Preferences) -> None:
        self._preferences = preferences
        # keys of tools that a chat may call until the program ends
        self._in_chats: set[tuple[str, str]] = set()
        self._waiting: dict[tuple[str, int], tuple[ToolKey, asyncio.Future[Permission]]] = {}

    def given(self, chat_id: str, tool: ToolKey) -> bool:
        """True if a chat may call a tool without asking."""
        if tool.once:
            return False
        settings, approval = self._preferences.current, tool.approval
        if approval is None:
            return tool.name in settings.allowed_tools or (chat_id, tool.name) in self._in_chats
        return approval in settings.tool_approvals or (chat_id, _in_chat(tool)) in self._in_chats

    def expect(self, chat_id: str, tool: ToolKey, call: int) -> None:
        """Take an answer to a call from now on, before the question is shown."""
        future: asyncio.Future[Permission] = asyncio.get_running_loop().create_future()
        self._waiting[chat_id, call] = tool, future

    async def ask(self, chat_id: str, tool: ToolKey, call: int) -> bool:
        """Wait for the user's answer to a call, by its number in the reply; True if it may run."""
        if self.given(chat_id, tool):
            return True
        key = chat_id, call
        if key not in self._waiting:
            self.expect(chat_id, tool, call)
        try:
            answer = await self._waiting[key][1]
        finally:
            self._waiting.pop(key, None)
        if answer is Permission.CHAT:
            self._in_chats.add((chat_id, _in_chat(tool)))
        elif answer is Permission.ALWAYS:
            self._allow_always(tool)
        return answer is not Permission.DENIED

    def answer(self, chat_id: str, call: int, permission: Permission) -> None:
        """The user's answer; without effect where no call waits for one, and for an answer that
        may not be given."""
        tool, waiting = self._waiting.get((chat_id, call), (None, None))
        if tool is None or waiting is None or waiting.done() or not tool.takes(permission):
            return
        waiting.set_result(permission)

    def withdraw(self, tool: str) -> None:
        """Ask again before one of the program's own tools that was always allowed."""
        always = self._preferences.current.allowed_tools
        self._preferences.update(allowed_tools=tuple(one for one in always if one != tool))
        self._in_chats = {one for one in self._in_chats if one[1] != tool}

    def withdraw_approval(self, approval: ToolApproval) -> None:
        """Ask again before a server's tool that was always allowed."""
        always = self._preferences.current.tool_approvals
        self._preferences.update(tool_approvals=tuple(one for one in always if one != approval))
        name = _in_chat(ToolKey(approval.tool, approval))
        self._in_chats = {one for one in self._in_chats if one[1] != name}

    def _allow_always(self, tool: ToolKey) -> None:
        settings, approval = self._preferences.current, tool.approval
        if approval is None:
            allowed = dict.fromkeys((*settings.allowed_tools, tool.name))
            self._preferences.update(allowed_tools=tuple(allowed))
            return
        # an older definition of the same tool is not allowed any more
        others = [
            one
            for one in settings.tool_approvals
            if (one.server, one.tool) != (approval.server, approval.tool)
        ]
        self._preferences.update(tool_approvals=(*others, approval))


def _in_chat(tool: ToolKey) -> str:
    """A name that no other tool has: those of servers have one by server and definition."""
    approval = tool.approval
    return tool.name if approval is None else f"{approval.server} {approval.tool} {approval.key}"
