"""Which installed models can draft for a target, and why (not); what a chat's draft is.

On the event loop's thread; files are read on a worker thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from headstart.chat.branches import Branches
from headstart.chat.models import Models
from headstart.chat.preferences import Preferences
from headstart.core import fit
from headstart.core.errors import ModelProblem
from headstart.core.fit import Pair, automatic_context
from headstart.core.heads import OWN_LAYERS, HeadFacts, HeadKind
from headstart.core.inheritance import effective
from headstart.core.model_ref import ModelRef
from headstart.core.requests import LoadRequest
from headstart.core.servers import ServerModel
from headstart.core.settings import EngineSettings, Speculation
from headstart.core.split_files import title
from headstart.core.told import Told, about, told
from headstart.core.values import Chat
from headstart.engine.memory import memory
from headstart.engine.speculation.compatibility import Verdict, judge
from headstart.engine.speculation.head_fit import judge_head, why_no_own_layers
from headstart.hub.cards import read_card
from headstart.hub.heads import head_shape, own_layers, read_head


@dataclass(frozen=True, slots=True)
class DraftChoice:
    """`key` and `name`: what the settings call it, and the window."""

    key: str
    name: str
    verdict: Verdict


class Drafts:
    def __init__(self, models: Models, branches: Branches, preferences: Preferences) -> None:
        self._models = models
        self._branches = branches
        self._preferences = preferences

    async def choices(self, chat_id: str) -> list[DraftChoice]:
        """What can draft for the chat's model, with a verdict: its own layers, heads, and every
        installed model, useful ones first; for a server's model those that can write here, and
        none where the server checks no drafts. Raises ModelProblem for the target."""
        chat = await self._branches.chat(chat_id)
        target = None if chat is None else await self._models.of_chat(chat)
        engine = self._preferences.current.engine
        if isinstance(target, ServerModel) and target.checks_drafts:
            installed = await self._models.installed()
            whys = {model.key: why for model in installed if (why := self._models.why_not(model))}
            return await asyncio.to_thread(_judged_for, target, installed, whys, engine)
        if not isinstance(target, ModelRef):
            return []
        installed, heads = await self._models.installed(), await self._models.heads()
        whys = {model.key: why for model in installed if (why := self._models.why_not(model))}
        return await asyncio.to_thread(_judged, target, installed, heads, whys, engine)

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
        if wanted.draft == OWN_LAYERS:
            # a model that has none is left to itself
            return target if await asyncio.to_thread(_drafts_itself, target) else None
        return await asyncio.to_thread(self._find, wanted.draft, target)

    def _find(self, key: str, target: ModelRef) -> ModelRef | None:
        try:
            found = self._models.find(key)
        except ModelProblem:
            path = Path(key)
            return ModelRef(path, title(path), 0)
        return None if found.path == target.path else found


def _judged_for(
    target: ServerModel,
    installed: list[ModelRef],
    whys: Mapping[str, Told],
    engine: EngineSettings,
) -> list[DraftChoice]:
    """What can draft here for a server's model, small ones first: of that nothing is known."""
    free = memory()

    def judged(model: ModelRef) -> Verdict:
        why = whys.get(model.key)
        if why is not None:
            return Verdict("no", (why,))
        card = read_card(model)
        context = engine.context_length or automatic_context(Pair(card.shape), engine, free)
        need = fit.need(card.shape, min(context, card.context_length or context), engine)
        if fit.judge(need, free) == "no":
            why = told("draft-needs-memory", need=need.total, free=free.available)
            return Verdict("no", (why,))
        notes = (told("draft-for-server", host=target.host), told("draft-fits", need=need.total))
        return Verdict("yes", notes)

    small = sorted(installed, key=lambda model: model.size)
    choices = [DraftChoice(one.key, one.name, _read(judged, one)) for one in small]
    return sorted(choices, key=lambda choice: choice.verdict.works == "no")


def _drafts_itself(target: ModelRef) -> bool:
    try:
        return own_layers(target).usable
    except (ModelProblem, OSError):
        return False


def _judged(
    target: ModelRef,
    installed: list[ModelRef],
    heads: list[ModelRef],
    whys: Mapping[str, Told],
    engine: EngineSettings,
) -> list[DraftChoice]:
    """`whys`: of models that cannot run here, so that they cannot draft here either."""
    card, free = read_card(target), memory()
    context = engine.context_length or automatic_context(Pair(card.shape), engine, free)

    def of_model(model: ModelRef) -> Verdict:
        why = whys.get(model.key)
        if why is not None:
            return Verdict("no", (why,))
        return judge(card, read_card(model), context, engine, free)

    def of_head(model: ModelRef) -> Verdict:
        facts = read_head(model)
        if facts is None:
            return Verdict("no", (told("head-not-run-here"),))
        return judge_head(card, facts, head_shape(model), context, engine, free)

    def of_itself() -> Verdict | None:
        own = own_layers(target)
        if not own.usable:
            return why_no_own_layers(own.there, own.told)
        facts = HeadFacts(HeadKind.OWN, 0)
        return judge_head(card, facts, card.shape.as_own_draft, context, engine, free)

    itself = of_itself()
    choices = [] if itself is None else [DraftChoice(OWN_LAYERS, "Own layers", itself)]
    for judged, models in ((of_head, heads), (of_model, installed)):
        choices += [DraftChoice(one.key, one.name, _read(judged, one)) for one in models]
    order = {"yes": 0, "by text": 1, "no": 2}
    return sorted(choices, key=lambda choice: order[choice.verdict.works])


def _read(judged: Callable[[ModelRef], Verdict], model: ModelRef) -> Verdict:
    try:
        return judged(model)
    except ModelProblem as problem:
        return Verdict("no", (about("draft-unreadable", problem.told),))
    except OSError as error:
        return Verdict("no", (told("draft-unreadable", problem=error.strerror or error),))
