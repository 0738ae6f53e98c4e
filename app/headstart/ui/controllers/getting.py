"""Getting models: what is chosen on the page, suggested, or recommended goes into the queue. Main
thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from headstart.chat.library.discover import Discover, DraftOffer
from headstart.chat.library.downloads import Downloads
from headstart.core.catalog import Companion, Details, Variant
from headstart.core.catalog_filter import matching
from headstart.core.downloads import Wanted
from headstart.core.recommended import Recommended
from headstart.ui.tasks import Tasks


class GettingController(QObject):
    queued = Signal(list)  # titles of what is going to be downloaded

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
        """Download a variant, with what belongs to it, and a draft that is not here yet."""
        self._tasks.spawn(self._get([details.wanted(variant, companions), *_draft(draft)]))

    def get_draft(self, offer: DraftOffer) -> None:
        """Download a draft for a model that is here."""
        self._tasks.spawn(self._get(_draft(offer)))

    def get_recommended(self, choice: Recommended) -> None:
        self._tasks.spawn(self._get_recommended(choice))

    async def _get_recommended(self, choice: Recommended) -> None:
        details, variant = await self._discover.recommended_variant(choice)
        wanted = [details.wanted(variant)]
        if choice.draft_repo:
            draft = await self._discover.details(choice.draft_repo)
            of_draft = matching(draft.variants, choice.draft_patterns)
            if of_draft is not None:
                wanted.append(draft.wanted(of_draft))
        await self._get(wanted)

    async def _get(self, wanted: list[Wanted]) -> None:
        await self._downloads.add(wanted)
        self.queued.emit([one.title for one in wanted])


def _draft(offer: DraftOffer | None) -> list[Wanted]:
    if offer is None or offer.details is None or offer.variant is None:
        return []
    return [offer.details.wanted(offer.variant)]
