"""Which installed models can draft for a target, and why (not); what a chat's draft is.

On the event loop's thread; files are read on a worker thread.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path

from headstart.chat.branches import Branches
from headstart.chat.models import Models
from headstart.chat.preferences import Preferences
from headstart.core.errors import ModelProblem
from headstart.core.fit import Pair, automatic_context
from headstart.core.inheritance import effective
from headstart.core.model_ref import ModelRef
from headstart.core.requests import LoadRequest
from headstart.core.settings import EngineSettings, Speculation
from headstart.core.split_files import title
from headstart.core.told import about, told
from headstart.core.values import Chat
from headstart.engine.memory import memory
from headstart.engine.speculation.compatibility import Verdict, judge
from headstart.hub.cards import read_card


@dataclass(frozen=True, slots=True)
class DraftChoice:
    model: ModelRef
    verdict: Verdict


class Drafts:
    def __init__(self, models: Models, branches: Branches, preferences: Preferences) -> None:
        self._models = models
        self._branches = branches
        self._preferences = preferences

    async def choices(self, chat_id: str) -> list[DraftChoice]:
        """Every installed model with its verdict as a draft for the chat's model, useful ones
        first; none where a server answers. Raises ModelProblem for the target."""
        chat = await self._branches.chat(chat_id)
        target = None if chat is None else await self._models.here(chat)
        if target is None:
            return []
        engine = self._preferences.current.engine
        installed = await self._models.installed()
        choices = await asyncio.to_thread(_judged, target, installed, engine)
        told = [self._with_reason(choice) for choice in choices]
        return sorted(told, key=lambda choice: choice.verdict.works == "no")

    def _with_reason(self, choice: DraftChoice) -> DraftChoice:
        """What cannot run here cannot draft here either, and the list says why."""
        why = self._models.why_not(choice.model)
        return replace(choice, verdict=Verdict("no", (why,))) if why is not None else choice

    async def pair(self, chat_id: str) -> LoadRequest | None:
        """What is to be loaded for a chat; None where a server answers, or there is no chat.

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
        """The draft to load for a reply; a file that is gone is left to the engine to report."""
        if not wanted.enabled or not wanted.draft:
            return None
        return await asyncio.to_thread(self._find, wanted.draft, target)

    def _find(self, key: str, target: ModelRef) -> ModelRef | None:
        try:
            found = self._models.find(key)
        except ModelProblem:
            path = Path(key)
            return ModelRef(path, title(path), 0)
        return None if found.path == target.path else found


def _judged(
    target: ModelRef, installed: list[ModelRef], engine: EngineSettings
) -> list[DraftChoice]:
    card, free = read_card(target), memory()
    context = engine.context_length or automatic_context(Pair(card.shape), engine, free)
    choices = []
    for model in installed:
        try:
            verdict = judge(card, read_card(model), context, engine, free)
        except ModelProblem as problem:
            verdict = Verdict("no", (about("draft-unreadable", problem.told),))
        except OSError as error:
            verdict = Verdict("no", (told("draft-unreadable", problem=error.strerror or error),))
        choices.append(DraftChoice(model, verdict))
    order = {"yes": 0, "by text": 1, "no": 2}
    return sorted(choices, key=lambda choice: order[choice.verdict.works])
