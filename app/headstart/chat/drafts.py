"""Which installed models can guess for a target, and why (not); what a chat's draft is.

On the event loop's thread; files are read on a worker thread.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from headstart.chat.models import Models
from headstart.core.errors import ModelProblem
from headstart.core.settings import Speculation
from headstart.core.values import ModelRef
from headstart.engine.speculation.compatibility import Verdict, judge
from headstart.hub import library
from headstart.hub.cards import read_card

# what the engine takes where the user leaves the context length to it
AUTOMATIC_CONTEXT = 8192


@dataclass(frozen=True, slots=True)
class DraftChoice:
    model: ModelRef
    verdict: Verdict


class Drafts:
    def __init__(self, models: Models) -> None:
        self._models = models

    async def choices(self, target: ModelRef, context_length: int) -> list[DraftChoice]:
        """Every installed model with its verdict as a draft of `target`, useful ones first.

        `context_length` as in the settings; 0 is automatic. Raises ModelProblem for the target.
        """
        installed = await self._models.installed()
        choices = await asyncio.to_thread(_judged, target, installed, context_length)
        told = [self._with_reason(choice) for choice in choices]
        return sorted(told, key=lambda choice: choice.verdict.works == "no")

    def _with_reason(self, choice: DraftChoice) -> DraftChoice:
        """What cannot run here cannot guess here either, and the list says why."""
        why = self._models.why_not(choice.model)
        return replace(choice, verdict=Verdict("no", why)) if why else choice

    async def of(self, wanted: Speculation, target: ModelRef) -> ModelRef | None:
        """The draft to load for a reply; a file that is gone is left to the engine to report."""
        if not wanted.enabled or not wanted.draft:
            return None
        return await asyncio.to_thread(self._find, wanted.draft, target)

    @staticmethod
    def _find(key: str, target: ModelRef) -> ModelRef | None:
        if Path(key) == target.path:
            return None
        try:
            return library.find(key)
        except ModelProblem:
            starter = library.starter_model()
            if starter is not None and starter.path.name == Path(key).name:
                return None if starter.path == target.path else starter
            path = Path(key)
            return ModelRef(path, path.name.removesuffix(".gguf"), 0)


def _judged(target: ModelRef, installed: list[ModelRef], context_length: int) -> list[DraftChoice]:
    card = read_card(target)
    context = context_length or min(card.context_length or AUTOMATIC_CONTEXT, AUTOMATIC_CONTEXT)
    free = psutil.virtual_memory().available
    choices = []
    for model in installed:
        try:
            verdict = judge(card, read_card(model), context, free)
        except (ModelProblem, OSError) as problem:
            verdict = Verdict("no", f"its file cannot be read ({problem})")
        choices.append(DraftChoice(model, verdict))
    order = {"yes": 0, "by text": 1, "no": 2}
    return sorted(choices, key=lambda choice: order[choice.verdict.works])
