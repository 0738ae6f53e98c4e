"""Heads for a model: the installed ones, else one from the hub. Queries the hub on worker threads,
and only when the user asks.
"""

from __future__ import annotations

import asyncio
from pathlib import PurePosixPath

from msgspec import Struct

from headstart.chat.library.hub import Hub
from headstart.chat.library.hub_problem import asking
from headstart.chat.models import Models
from headstart.chat.preferences import Preferences
from headstart.core.errors import ModelProblem
from headstart.core.hub import catalog_filter
from headstart.core.hub.catalog import Details, Search, Variant
from headstart.core.models.described import ModelCard
from headstart.core.models.draft_choice import Works
from headstart.core.models.fit import ModelShape, Pair, automatic_context
from headstart.core.models.heads import HeadFacts
from headstart.core.models.ref import ModelRef
from headstart.engine.memory import memory
from headstart.engine.speculation.compatibility import PairVerdict
from headstart.engine.speculation.head_fit import judge_head
from headstart.hub.heads import head_shape, read_head

# repositories inspected in a search for heads of one kind
_MOST = 2


class DraftOffer(Struct, frozen=True):
    """A model or a head that could draft: installed, or a variant of a repository."""

    name: str
    size: int
    works: Works
    reason: str
    installed: ModelRef | None = None
    details: Details | None = None
    variant: Variant | None = None


class FoundHeads:
    def __init__(self, hub: Hub, models: Models, preferences: Preferences) -> None:
        self._hub = hub
        self._models = models
        self._preferences = preferences

    async def offers(self, name: str, target: ModelCard, own: str = "") -> list[DraftOffer]:
        """Heads made for `target`; from the hub only if none is installed. `name`: of the target's
        repository or file. `own`: the repository the target came from. Raises HubProblem,
        ModelProblem."""
        here = await self._models.heads()
        found = await asyncio.to_thread(self._installed, target, here)
        if not found:
            with asking():
                found = await asyncio.to_thread(self._online, name, target, own)
        return found

    def _installed(self, target: ModelCard, heads: list[ModelRef]) -> list[DraftOffer]:
        offers = []
        for head in heads:
            try:
                facts, shape = read_head(head), head_shape(head)
            except (ModelProblem, OSError):
                continue
            verdict = self._verdict(target, facts, shape)
            if verdict is not None:
                offers.append(DraftOffer(head.name, head.size, verdict.works, verdict.reason, head))
        return offers

    def _online(self, name: str, target: ModelCard, own: str) -> list[DraftOffer]:
        """The first head that fits: from the model's own repository, else each kind in turn."""
        likely = [own] if own else []
        for words in ("", *catalog_filter.head_searches(name)):
            if words:
                search = Search(words, ("gguf",), "downloads")
                page = next(self._hub.client.search(search, "gguf"), [])
                found = catalog_filter.likely_heads(page, name)
                likely = [repository.id for repository in found[:_MOST]]
            for repository in likely:
                offer = self._offer(repository, target)
                if offer is not None:
                    return [offer]
        return []

    def _offer(self, repo: str, target: ModelCard) -> DraftOffer | None:
        from headstart.hub.downloads.source import DownloadProblem
        from headstart.hub.online.remote_model import RemoteModels

        try:
            details = self._hub.client.details(repo)
        except DownloadProblem:
            # private, gone, or a local folder named like a repository
            return None
        variant = catalog_filter.draft_variant(details.all_heads)
        if variant is None:
            return None
        try:
            facts, shape = RemoteModels(self._hub.client).head(details, variant)
        except (ModelProblem, DownloadProblem):
            return None
        verdict = self._verdict(target, facts, shape)
        if verdict is None:
            return None
        title = PurePosixPath(variant.main).stem
        return DraftOffer(
            title, variant.size, verdict.works, verdict.reason, None, details, variant
        )

    def _verdict(
        self, target: ModelCard, facts: HeadFacts | None, shape: ModelShape
    ) -> PairVerdict | None:
        """The verdict on a head; None if it cannot draft for `target`."""
        if facts is None:
            return None
        engine, free = self._preferences.current.engine, memory()
        context = engine.context_length or automatic_context(Pair(target.shape), engine, free)
        verdict = judge_head(target, facts, shape, context, engine, free)
        return None if verdict.works is Works.NO else verdict
