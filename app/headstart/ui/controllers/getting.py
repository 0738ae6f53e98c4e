"""Getting models: a chosen, suggested or recommended one is queued for download. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from headstart.chat.library.discover import Discover
from headstart.chat.library.downloads import Downloads
from headstart.chat.library.draft_offers import DraftOffer
from headstart.core.errors import EnvironmentProblem
from headstart.core.hub.catalog import Companion, Details, Variant
from headstart.core.hub.catalog_filter import matching
from headstart.core.hub.downloads import DownloadRequest
from headstart.core.models.recommended import Recommended
from headstart.core.text.shown import size_text
from headstart.ui.kit.tasks import Tasks


class GettingController(QObject):
    queued = Signal(list)  # titles of the queued downloads
    recommended_queued = Signal(Recommended, tuple)  # Recommended, ids of its downloads
    not_queued = Signal()  # the hub did not answer

    def __init__(self, discover: Discover, downloads: Downloads, tasks: Tasks) -> None:
        super().__init__()
        self._discover = discover
        self._downloads = downloads
        self._tasks = tasks

    def get(
        self,
        details: Details,
        variant: Variant,
        companions: tuple[Companion, ...] = (),
        draft: DraftOffer | None = None,
    ) -> None:
        """Download a variant with its companions, and a draft that is not installed yet."""
        wanted = [details.wanted(variant, companions), *_draft(draft)]
        self._tasks.spawn(self._get_model(wanted, details, draft is not None))

    def get_draft(self, offer: DraftOffer) -> None:
        """Download a draft for an installed model."""
        self._tasks.spawn(self._get(_draft(offer)))

    def get_recommended(self, choice: Recommended) -> None:
        self._tasks.spawn(self._get_recommended(choice))

    async def _get_recommended(self, choice: Recommended) -> None:
        wanted: list[DownloadRequest] = []
        try:
            details, variant = await self._discover.recommended_variant(choice)
            wanted = [details.wanted(variant), *await self._draft_of(choice)]
        finally:
            if not wanted:
                self.not_queued.emit()
        await self._downloads.add(wanted)
        self.recommended_queued.emit(choice, tuple(one.id for one in wanted))
        self.queued.emit([_said(one) for one in wanted])

    async def _draft_of(self, choice: Recommended) -> list[DownloadRequest]:
        """The draft that the list of recommended models names for it; none, and the model is
        downloaded alone, if the hub does not provide it."""
        if not choice.draft_repo:
            return []
        try:
            draft = await self._discover.details(choice.draft_repo)
        except EnvironmentProblem:
            # the user can search for drafts on the model's page
            return []
        found = matching(draft.variants, choice.draft_patterns)
        return [] if found is None else [draft.wanted(found)]

    async def _get_model(
        self, wanted: list[DownloadRequest], details: Details, drafted: bool
    ) -> None:
        """Download a model with its recommended draft, unless the user chose one."""
        choice = None
        if not drafted:
            choice = await self._discover.recommended_for(details.repository.id)
        if choice is not None:
            wanted = [*wanted, *await self._draft_of(choice)]
        await self._get(wanted)

    async def _get(self, wanted: list[DownloadRequest]) -> None:
        await self._downloads.add(wanted)
        self.queued.emit([_said(one) for one in wanted])


def _said(wanted: DownloadRequest) -> str:
    """“Qwen3.5 9B (6.2 GB)”."""
    return f"{wanted.title} ({size_text(wanted.size)})"


def _draft(offer: DraftOffer | None) -> list[DownloadRequest]:
    if offer is None or offer.details is None or offer.variant is None:
        return []
    return [offer.details.wanted(offer.variant)]
