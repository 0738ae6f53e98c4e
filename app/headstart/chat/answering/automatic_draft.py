"""The draft used unless the user chooses one: the installed draft with the highest gain. Gains are
remembered per model. On the event loop's thread; files are read on a worker thread."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from headstart.chat.answering.judging import judged
from headstart.chat.models import Models
from headstart.chat.preferences import Preferences
from headstart.core.chats.values import TurnStats
from headstart.core.errors import ModelProblem
from headstart.core.models import fit
from headstart.core.models.draft_choice import Candidate, Works, best
from headstart.core.models.fit import Pair, automatic_context
from headstart.core.models.heads import OWN_LAYERS
from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import EngineSettings
from headstart.engine.memory import memory
from headstart.hub.cards import read_card

# shortest reply, in tokens, whose speed is meaningful
_TELLING = 24


class AutomaticDraft:
    def __init__(self, models: Models, preferences: Preferences) -> None:
        self._models = models
        self._preferences = preferences
        # candidates by target
        self._known: dict[str, list[Candidate]] = {}
        preferences.listen(lambda _settings: self.forget(), "engine")

    async def key_for(self, target: ModelRef) -> str:
        """The key of the draft, OWN_LAYERS, or "" if no draft pays off."""
        known = self._known.get(target.key)
        if known is None:
            # cached until `forget`: before a reply there is no time for it
            installed, heads = await self._models.installed(), await self._models.heads()
            known = await asyncio.to_thread(self._candidates, target, installed, heads)
            self._known[target.key] = known
        gains = await asyncio.to_thread(self._models.shelf.drafts.gains, target.key)
        measured = [
            Candidate(one.key, one.works, one.share, gains.get(one.key, one.measured))
            for one in known
        ]
        chosen = best(measured)
        return "" if chosen is None else chosen.key

    def forget(self) -> None:
        """Forget the candidates: models or engine settings changed."""
        self._known.clear()

    async def learn(self, target: ModelRef, draft: ModelRef | None, stats: TurnStats) -> None:
        """Note the gain of a reply that was written with this draft."""
        gain, tokens = stats.against_plain, stats.generated_tokens
        if draft is None or gain is None or tokens < _TELLING:
            return
        key = OWN_LAYERS if draft.key == target.key else draft.key
        await asyncio.to_thread(self._models.shelf.drafts.note, target.key, key, gain, tokens)

    def _candidates(
        self, target: ModelRef, installed: Sequence[ModelRef], heads: Sequence[ModelRef]
    ) -> list[Candidate]:
        engine = self._preferences.current.engine
        try:
            whys = self._models.whys(installed)
            choices = judged(target, list(installed), list(heads), whys, engine)
        except (ModelProblem, OSError):
            # loading the model reports it
            return []
        sizes = {model.key: model for model in installed}
        found = []
        for choice in choices:
            if choice.verdict.works is Works.NO:
                continue
            model = sizes.get(choice.key)
            if model is not None and not _fits_beside(target, model, engine):
                continue
            share = None if model is None else model.size / max(1, target.size)
            found.append(Candidate(choice.key, choice.verdict.works, share))
        return found


def _fits_beside(target: ModelRef, draft: ModelRef, engine: EngineSettings) -> bool:
    """True if both fit and the model keeps the context it would have without the draft."""
    try:
        alone = Pair(read_card(target).shape)
        both = Pair(alone.target, read_card(draft).shape)
    except (ModelProblem, OSError):
        return False
    free = memory()
    context = engine.context_length or automatic_context(alone, engine, free)
    if not engine.context_length and automatic_context(both, engine, free) < context:
        return False
    return fit.judge(both.need(context, engine), free) != "no"
