"""Writing a chat to a file, for other programs and people. On the event loop's thread."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from headstart.chat.branches import Branches
from headstart.chat.exchange.markdown import to_markdown, write_file
from headstart.chat.preferences import Preferences
from headstart.chat.replies import Replies
from headstart.core.errors import EnvironmentProblem
from headstart.core.inheritance import effective


class Export:
    def __init__(self, branches: Branches, replies: Replies, preferences: Preferences) -> None:
        self._branches = branches
        self._replies = replies
        self._preferences = preferences

    async def markdown(self, chat_id: str, path: Path) -> None:
        """Write the active branch to `path`; the file is complete or does not exist."""
        chat = await self._branches.chat(chat_id)
        if chat is None:
            raise EnvironmentProblem("chat-gone")
        branch = await self._branches.whole(chat_id)
        reply = self._replies.reply_in(chat_id)
        if reply is not None:
            branch = [
                replace(message, parts=reply.parts) if message.id == reply.message_id else message
                for message in branch
            ]
        settings = self._preferences.current
        system = effective(settings, chat.options, chat.model or settings.model).system_prompt
        text = to_markdown(chat, branch, system)
        await asyncio.to_thread(write_file, path, text)
