"""Finding models: searches, repositories, fit on this computer, drafts for a model.

On the event loop's thread; the hub is queried on worker threads, and only when the user asks.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator

import psutil
from msgspec import Struct

from headstart.chat.library.draft_offers import DraftOffer, FoundHeads
from headstart.chat.library.hub import Hub
from headstart.chat.library.hub_problem import asking
from headstart.chat.models import Models
from headstart.chat.preferences import Preferences
from headstart.core.errors import EnvironmentProblem, ModelProblem
from headstart.core.hub import catalog_filter
from headstart.core.hub.catalog import Details, Fit, Repository, Search, Variant
from headstart.core.hub.presence import cached_repository
from headstart.core.models.described import ModelCard
from headstart.core.models.draft_choice import Works
from headstart.core.models.fit import ModelShape, Pair, automatic_context, judge
from headstart.core.models.installed import InstalledModel
from headstart.core.models.recommended import Recommended
from headstart.core.models.ref import ModelFormat, ModelRef
from headstart.core.settings.schema import changed
from headstart.core.told import Told
from headstart.engine.backends import select
from headstart.engine.memory import memory
from headstart.engine.speculation import compatibility
from headstart.hub.cards import read_card

# pages without a match after which a search ends
_MOST_PAGES = 10
# repositories inspected in a search for drafts
_MOST_DRAFTS = 4

# repository problems that a token of the user's account may solve
TOKEN_MAY_HELP = ("hub-gated", "hub-needs-token", "hub-forbidden", "hub-repository-gone")


class ThisComputer(Struct, frozen=True):
    """Bytes of memory, physical cores, the graphics cards ("" for none), bytes free on the disk for
    downloads, and the format that runs best."""

    memory: int
    cores: int
    cards: str
    free: int
    preferred: ModelFormat


class FoundModels:
    """The results of one search, page by page, from all formats."""

    def __init__(self, hub: Hub, search: Search) -> None:
        self._hub = hub
        self._search = search
        self._pages: list[Iterator[list[Repository]]] | None = None
        self._seen: set[str] = set()

    async def more(self) -> list[Repository]:
        """The next page; empty at the end. Raises HubProblem."""
        return await asyncio.to_thread(self._more)

    def _more(self) -> list[Repository]:
        try:
            with asking():
                return self._next()
        except EnvironmentProblem:
            # starts over the next time; shown results are not repeated
            self._pages = None
            raise

    def _next(self) -> list[Repository]:
        if self._pages is None:
            client = self._hub.client
            self._pages = [client.search(self._search, one) for one in self._search.formats]
        for _ in range(_MOST_PAGES):
            if self._pages:
                pages = [next(source, None) for source in self._pages]
                alive = zip(self._pages, pages, strict=True)
                self._pages = [source for source, page in alive if page]
                found = catalog_filter.merged([page for page in pages if page], self._search.sort)
                new = [one for one in found if one.id not in self._seen]
                self._seen.update(one.id for one in new)
                kept = [one for one in new if catalog_filter.matches(one, self._search)]
                if kept:
                    return kept
        return []


class Discover:
    def __init__(self, hub: Hub, models: Models, preferences: Preferences) -> None:
        self._hub = hub
        self._models = models
        self._preferences = preferences
        self._shapes: dict[tuple[str, str, str], ModelShape] = {}
        self._heads = FoundHeads(hub, models, preferences)

    def search(self, search: Search) -> FoundModels:
        return FoundModels(self._hub, search)

    async def page(self, repo: str) -> str:
        """The address of a repository's page."""
        return await asyncio.to_thread(lambda: f"{self._hub.client.endpoint}/{repo}")

    async def named(self, text: str) -> str:
        """The repository meant by a pasted link or name; "" for search words."""
        from headstart.hub.online.links import parse

        found = parse(text)
        if found is None and "://" in text:
            endpoint = await asyncio.to_thread(lambda: self._hub.client.endpoint)
            found = parse(text, endpoint)
        return found.repo if found is not None else ""

    async def details(self, repo: str, text: str = "") -> Details:
        """Details of a repository; `text`: the link that named it. Raises HubProblem."""

        def ask() -> Details:
            from headstart.hub.online.links import parse

            link = parse(text, self._hub.client.endpoint) if text else None
            revision, named = ("main", "") if link is None else (link.revision, link.file)
            with asking():
                return self._hub.client.details(repo, revision, named)

        return await asyncio.to_thread(ask)

    async def card(self, details: Details) -> str:
        """The model card, as Markdown; raises HubProblem."""

        def ask() -> str:
            with asking():
                return self._hub.client.card(details.repository.id, details.commit)

        return await asyncio.to_thread(ask)

    # --- fit -----------------------------------------------------------------------------

    async def fits(self, details: Details, draft: ModelRef | None = None) -> dict[str, Fit]:
        """The fit of each variant on this computer, by title, with its context, and with
        `draft` beside it. Raises HubProblem, ModelProblem."""
        return await asyncio.to_thread(self._fits, details, draft)

    def _fits(self, details: Details, draft: ModelRef | None) -> dict[str, Fit]:
        beside = None if draft is None else read_card(draft).shape
        engine, free = self._preferences.current.engine, memory()
        found = {}
        for variant in details.variants:
            pair = Pair(self._shape(details, variant), beside)
            context = engine.context_length or automatic_context(pair, engine, free)
            need = pair.need(context, engine)
            verdict = judge(need, free)
            found[variant.title] = Fit(verdict, need.total, free.total, context, beside is not None)
        return found

    def _shape(self, details: Details, variant: Variant) -> ModelShape:
        """The shape of a variant. Quantizations of a model differ only in size: one is fetched."""
        from headstart.hub.online.remote_model import RemoteModels

        key = (details.commit, variant.format, catalog_filter.without_quantization(variant))
        if key not in self._shapes:
            with asking():
                self._shapes[key] = RemoteModels(self._hub.client).shape(details, variant)
        return catalog_filter.resized(self._shapes[key], variant.size)

    # --- drafts --------------------------------------------------------------------------

    async def drafts(self, details: Details, variant: Variant) -> list[DraftOffer]:
        """Draft candidates for a variant: installed models and heads, then similarly named models
        on the hub. Raises HubProblem, ModelProblem."""
        if variant.format != "gguf" or details.heads:
            return []
        target = await asyncio.to_thread(self._remote_card, details, variant)
        installed = await self._models.installed()
        found = await asyncio.to_thread(self._installed_drafts, target, installed)
        found += await self._heads.offers(details.repository.name, target)
        if not any(offer.works is Works.YES for offer in found):
            found += await asyncio.to_thread(self._hub_drafts, details.repository, target)
        return _sorted(found)

    async def drafts_for(self, model: InstalledModel) -> list[DraftOffer]:
        """The same for an installed model. Raises HubProblem, ModelProblem, OSError."""
        if model.ref.format != "gguf":
            return []
        target = await asyncio.to_thread(read_card, model.ref)
        others = [one for one in await self._models.installed() if one.path != model.ref.path]
        found = await asyncio.to_thread(self._installed_drafts, target, others)
        own = cached_repository(model.ref.path)
        # the maker's name, even if the user renamed it
        name = own.rpartition("/")[2] or model.ref.path.stem
        found += await self._heads.offers(name, target, own)
        if not any(offer.works is Works.YES for offer in found):
            parameters = 2 * model.ref.size
            like = Repository(model.ref.name, ("gguf",), parameters=parameters)
            found += await asyncio.to_thread(self._hub_drafts, like, target)
        return _sorted(found)

    def _installed_drafts(self, target: ModelCard, installed: list[ModelRef]) -> list[DraftOffer]:
        offers = []
        for model in installed:
            try:
                card = read_card(model)
            except (ModelProblem, OSError):
                continue
            if card.shape.weights >= target.shape.weights:
                continue
            verdict = self._verdict(target, card)
            offers.append(DraftOffer(model.name, model.size, verdict.works, verdict.reason, model))
        return offers

    def _hub_drafts(self, like: Repository, target: ModelCard) -> list[DraftOffer]:
        """Small models of the same family, judged by their vocabulary too."""
        family = catalog_filter.family(like.name)
        largest = like.parameters / 4e9
        if not family:
            return []
        search = Search(f"{family} GGUF", ("gguf",), "downloads", largest=round(largest, 2))
        offers = []
        with asking():
            page = next(self._hub.client.search(search, "gguf"), [])
            for repository in catalog_filter.likely_drafts(page, like)[:_MOST_DRAFTS]:
                offer = self._hub_draft(repository, target)
                if offer is not None:
                    offers.append(offer)
                if offer is not None and offer.works is Works.YES:
                    break
        return offers

    def _hub_draft(self, repository: Repository, target: ModelCard) -> DraftOffer | None:
        details = self._hub.client.details(repository.id)
        variant = catalog_filter.draft_variant(details.variants)
        if variant is None:
            return None
        try:
            card = self._remote_card(details, variant)
        except ModelProblem:
            return None
        verdict = self._verdict(target, card)
        return DraftOffer(
            card.model.name, variant.size, verdict.works, verdict.reason, None, details, variant
        )

    def _remote_card(self, details: Details, variant: Variant) -> ModelCard:
        from headstart.hub.online.remote_model import RemoteModels

        with asking():
            return RemoteModels(self._hub.client).card(details, variant)

    def _verdict(self, target: ModelCard, draft: ModelCard) -> compatibility.PairVerdict:
        engine, free = self._preferences.current.engine, memory()
        context = engine.context_length or automatic_context(Pair(target.shape), engine, free)
        return compatibility.judge(target, draft, context, engine, free)

    # --- recommended models --------------------------------------------------------------

    async def computer(self) -> ThisComputer:
        """This computer's resources for models."""

        def ask() -> ThisComputer:
            folder = self._hub.cache
            while not folder.exists() and folder != folder.parent:
                folder = folder.parent
            cores = psutil.cpu_count(logical=False) or 1
            free = shutil.disk_usage(folder).free
            form = select.preferred(self._preferences.current.engine.backend)
            return ThisComputer(memory().total, cores, select.card_names(), free, form)

        return await asyncio.to_thread(ask)

    async def recommended(self, at_start: bool = False) -> list[Recommended]:
        """The recommended models for a computer like this one; `at_start` skips the slow query of
        its graphics cards."""
        from headstart.core.models.recommended import for_memory
        from headstart.hub.recommended import read_list

        def ask() -> list[Recommended]:
            fast = select.on_apple_silicon() or (not at_start and bool(select.card_names()))
            form = select.preferred(self._preferences.current.engine.backend)
            chosen = for_memory(read_list(), memory().total, fast)
            return [one.in_format(form) for one in chosen]

        return await asyncio.to_thread(ask)

    async def recommended_for(self, repo: str) -> Recommended | None:
        """The entry of a repository in the list of recommended models."""
        from headstart.hub.recommended import read_list

        models = await asyncio.to_thread(read_list)
        return next((one for one in models if repo in (one.repo, one.mlx_repo)), None)

    async def recommended_variant(self, choice: Recommended) -> tuple[Details, Variant]:
        """The recommended variant as its repository has it today; raises HubProblem."""
        details = await self.details(choice.repo)
        variant = catalog_filter.matching(details.variants, choice.patterns)
        if variant is None:
            raise EnvironmentProblem("recommended-gone", name=choice.name, repo=choice.repo)
        return details, variant

    # --- the token -----------------------------------------------------------------------

    async def set_token(self, token: str) -> tuple[str, Told | None]:
        """Keep a token of the user's account ("": forget it). Returns the account's name and a
        notice for the user, if any; raises HubProblem, DownloadProblem for an unusable token."""

        def ask() -> tuple[str, Told | None]:
            with asking():
                name = self._hub.client.account(token) if token else ""
            return name, self._hub.set_token(token)

        found = await asyncio.to_thread(ask)
        known = self._preferences.current.library
        self._preferences.update(library=changed(known, has_token=bool(token)))
        return found


def _sorted(offers: list[DraftOffer]) -> list[DraftOffer]:
    return sorted(offers, key=lambda offer: list(Works).index(offer.works))
