"""Export of chats: one, several or all, in any format. A file is complete or does not exist; long
work shows its progress and can be cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headstart.chat.databases import Databases
from headstart.chat.preferences import Preferences
from headstart.chat.reply import Reply
from headstart.chat.requests import system_prompt
from headstart.chat.transfer.export_request import ExportJobRun, ExportRequest
from headstart.core.chats.tree import ChatTree
from headstart.core.errors import EnvironmentProblem
from headstart.core.settings.inheritance import effective
from headstart.exchange.include import Include
from headstart.hub.shelf import Shelf

if TYPE_CHECKING:
    # imported with the first export, not at the start
    from headstart.chat.transfer.trees import ModelNames
    from headstart.exchange.copying import Copied
    from headstart.exchange.formats import FileFormat, Render
    from headstart.exchange.tree import ExchangeChat

# the lossless format
LOSSLESS = "headstart"


class Exporting:
    def __init__(
        self,
        databases: Databases,
        reply_in: Callable[[str], Reply | None],
        shelf: Shelf | None,
        preferences: Preferences,
        renderers: Mapping[str, Render] | None = None,
    ) -> None:
        self._databases = databases
        self._reply_in = reply_in
        self._shelf = shelf
        self._preferences = preferences
        # for formats that only the window can render, by code
        self.renderers = dict(renderers or {})

    @staticmethod
    def wanted(
        chats: Sequence[str], form: str, *, reasoning: bool, stats: bool, branches: bool
    ) -> ExportRequest:
        """An export request; no chats: all listed ones."""
        return ExportRequest(tuple(chats), form, Include(reasoning, stats, branches))

    async def write(self, wanted: ExportRequest, path: Path, run: ExportJobRun) -> int:
        """Write to a file, or to one file per chat in an existing folder; return the number of
        chats. Raises EnvironmentProblem, ExportCancelled."""
        chats = list(wanted.chats) or await self._databases.ids()
        run.total = len(chats)
        open_parts = {
            message_id: parts
            for chat_id in chats
            if (reply := self._reply_in(chat_id)) is not None
            for message_id, parts in ((reply.message_id, reply.parts),)
        }
        sources = {chat_id: self._databases.of(chat_id) for chat_id in chats}

        def work() -> int:
            from headstart.chat.transfer.export_job import Job

            return Job(self, wanted, sources, open_parts, run).write(path)

        return await asyncio.to_thread(work)

    async def copied(self, chat_id: str, message_id: str = "") -> Copied:
        """The branch on show, or one message, for the clipboard; raises EnvironmentProblem."""
        found = await self.conversation(chat_id, blobs=True)

        def work() -> Copied:
            from headstart.exchange.copying import copies_of

            return copies_of(found, message_id)

        return await asyncio.to_thread(work)

    async def conversation(self, chat_id: str, blobs: bool = False) -> ExchangeChat:
        """The current state of one chat; raises EnvironmentProblem if it is gone."""
        wanted = ExportRequest((chat_id,), LOSSLESS, Include(), blobs)
        reply = self._reply_in(chat_id)
        parts = {reply.message_id: reply.parts} if reply is not None else {}
        sources = {chat_id: self._databases.of(chat_id)}

        def work() -> ExchangeChat | None:
            from headstart.chat.transfer.export_job import Job

            job = Job(self, wanted, sources, parts, ExportJobRun(total=1))
            return next(job.conversations(), None)

        found = await asyncio.to_thread(work)
        if found is None:
            raise EnvironmentProblem("chat-gone")
        return found

    # --- on a worker thread --------------------------------------------------------------

    def models(self) -> ModelNames:
        from headstart.chat.transfer.trees import ModelNames

        if self._shelf is None:
            return ModelNames()
        return ModelNames(self._shelf.look(self._preferences.current.model_files))

    def system_prompt(self, tree: ChatTree) -> str:
        """The effective system prompt of a chat, wherever it is set."""
        settings, chat = self._preferences.current, tree.chat
        model = chat.model or settings.model
        return system_prompt(chat, effective(settings, chat.options, model, above=chat.above))


def formats() -> tuple[FileFormat, ...]:
    """Formats for export."""
    from headstart.exchange.formats import FORMATS

    return FORMATS


def file_name(title: str) -> str:
    """A title as a file name valid on every system, without a suffix."""
    from headstart.exchange import names

    return names.file_name(title)
