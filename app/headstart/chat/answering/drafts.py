"""Installed models that can draft for a target, with reasons for and against; a chat's draft.

On the event loop's thread; files are read on a worker thread.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from msgspec.structs import replace

from headstart.chat.answering.automatic_draft import AutomaticDraft
from headstart.chat.answering.judging import DraftChoice as DraftChoice
from headstart.chat.answering.judging import drafts_itself, judged, judged_for
from headstart.chat.branches import Branches
from headstart.chat.models import Models
from headstart.chat.preferences import Preferences
from headstart.core.chats.values import Chat
from headstart.core.errors import ModelProblem
from headstart.core.models.heads import AUTOMATIC, OWN_LAYERS
from headstart.core.models.ref import ModelRef
from headstart.core.models.split_files import title
from headstart.core.requests import LoadRequest
from headstart.core.servers import ServerModel
from headstart.core.settings.inheritance import effective
from headstart.core.settings.schema import Speculation


class Drafts:
    def __init__(self, models: Models, branches: Branches, preferences: Preferences) -> None:
        self._models = models
        self._branches = branches
        self._preferences = preferences
        self.automatic = AutomaticDraft(models, preferences)

    async def choices(self, chat_id: str) -> list[DraftChoice]:
        """Draft candidates for the chat's model, each with a verdict: its own layers, heads, and
        every installed model, useful ones first. For a server's model, the installed models, or
        none if the server checks no drafts. Raises ModelProblem for the target."""
        chat = await self._branches.chat(chat_id)
        target = None if chat is None else await self._models.of_chat(chat)
        engine = self._preferences.current.engine
        if isinstance(target, ServerModel) and target.checks_drafts:
            installed = await self._models.installed()
            whys = self._models.whys(installed)
            return await asyncio.to_thread(judged_for, target, installed, whys, engine)
        return await self.of(target) if isinstance(target, ModelRef) else []

    async def of(self, target: ModelRef) -> list[DraftChoice]:
        """Draft candidates for a model on this computer."""
        engine = self._preferences.current.engine
        installed, heads = await self._models.installed(), await self._models.heads()
        whys = self._models.whys(installed)
        try:
            found = await asyncio.to_thread(judged, target, installed, heads, whys, engine)
        except (ModelProblem, OSError):
            # its file is gone or damaged by now: loading the model reports it
            return []
        taken = await self.automatic.key_for(target)
        return [replace(one, taken=one.key == taken) for one in found]

    async def pair(self, chat_id: str) -> LoadRequest | None:
        """The models to load for a chat; None if a server answers or the chat does not exist.

        Raises ModelProblem.
        """
        chat = await self._branches.chat(chat_id)
        target = None if chat is None else await self._models.here(chat)
        return None if chat is None or target is None else await self.pair_of(chat, target)

    async def pair_of(self, chat: Chat, target: ModelRef) -> LoadRequest:
        """`target` with the draft that the chat wants for it."""
        settings = self._preferences.current
        wanted = effective(settings, chat.options, target.key, above=chat.above).speculation
        return LoadRequest(target, settings.engine, await self._draft_of(wanted, target))

    async def _draft_of(self, wanted: Speculation, target: ModelRef) -> ModelRef | None:
        """The draft to load for a reply; the engine reports a missing file."""
        key = wanted.draft if wanted.enabled else ""
        if key == AUTOMATIC:
            key = await self.automatic.key_for(target)
        if not key:
            return None
        if key == OWN_LAYERS:
            # a model without usable own layers runs without a draft
            return target if await asyncio.to_thread(drafts_itself, target) else None
        return await asyncio.to_thread(self._find, key, target)

    def _find(self, key: str, target: ModelRef) -> ModelRef | None:
        try:
            found = self._models.find(key)
        except ModelProblem:
            path = Path(key)
            return ModelRef(path, title(path), 0)
        return None if found.path == target.path else found
