"""Finding models on the hub: requests and their results. Main thread.

Results that a later request has superseded are dropped.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from headstart.chat.library.discover import TOKEN_MAY_HELP, Discover, FoundModels, ThisComputer
from headstart.core.errors import EnvironmentProblem
from headstart.core.hub.catalog import Details, Fit, Search, Variant
from headstart.core.models.installed import InstalledModel
from headstart.core.models.recommended import Recommended
from headstart.ui.kit.tasks import Problems, Tasks


class DiscoverController(QObject):
    recommended = Signal(list)  # of Recommended
    suggested = Signal(Recommended)  # for an empty chat
    search_began = Signal()
    found = Signal(list)  # further results
    search_ended = Signal(str)  # the problem, or ""
    details_began = Signal(str)  # the repository
    details_shown = Signal(Details)
    details_failed = Signal(str, bool)  # why, and whether a token may help
    fits_known = Signal(Details, dict)  # Details, Fit by the variant's title
    drafts_known = Signal(Variant, list)
    drafts_failed = Signal(str)  # why the search for drafts failed
    drafts_here_known = Signal(InstalledModel, list)
    card_shown = Signal(Details, str)
    page_known = Signal(str)  # an address to show in a browser
    computer_known = Signal(ThisComputer)
    token_checked = Signal(str)  # the name of its owner; "" when it was deleted
    token_refused = Signal(str, str)  # the problem, and its remedy

    def __init__(self, discover: Discover, tasks: Tasks, problems: Problems) -> None:
        super().__init__()
        self._discover = discover
        self._tasks = tasks
        self._problems = problems
        self._results: FoundModels | None = None
        self._asking = False
        self._details: Details | None = None
        self._opening = ""

    # --- searching -----------------------------------------------------------------------

    def show_recommended(self) -> None:
        self._tasks.spawn(self._recommend())

    def suggest(self) -> None:
        self._tasks.spawn(self._suggest())

    def search(self, search: Search) -> None:
        self._tasks.spawn(self._search(search))

    def forget(self) -> None:
        """Drop the search and its results."""
        self._results = None

    def more(self) -> None:
        """Load further results when the reader nears the end of the list."""
        if self._results is not None and not self._asking:
            self._tasks.spawn(self._more(self._results))

    async def _recommend(self) -> None:
        self.computer_known.emit(await self._discover.computer())
        self.recommended.emit(await self._discover.recommended())

    async def _suggest(self) -> None:
        found = await self._discover.recommended(at_start=True)
        if found:
            self.suggested.emit(found[0])

    async def _search(self, search: Search) -> None:
        repo = await self._discover.named(search.text)
        if repo:
            self._results = None
            await self._open(repo, search.text)
            return
        results = self._results = self._discover.search(search)
        self.search_began.emit()
        await self._more(results)

    async def _more(self, results: FoundModels) -> None:
        self._asking = True
        problem = ""
        try:
            page = await results.more()
        except EnvironmentProblem as error:
            page, problem = [], error.told.text
        finally:
            self._asking = False
        if results is not self._results:
            return
        if page:
            self.found.emit(page)
        else:
            self._results = None
        self.search_ended.emit(problem)

    # --- one repository ------------------------------------------------------------------

    def open(self, repo: str) -> None:
        self._tasks.spawn(self._open(repo))

    def show_card(self, details: Details) -> None:
        self._tasks.spawn(self._show_card(details))

    def find_drafts(self, details: Details, variant: Variant) -> None:
        self._tasks.spawn(self._find_drafts(details, variant))

    async def _open(self, repo: str, text: str = "") -> None:
        self._opening = repo
        self.details_began.emit(repo)
        try:
            details = await self._discover.details(repo, text)
        except EnvironmentProblem as problem:
            if self._opening == repo:
                wants_token = problem.told.code in TOKEN_MAY_HELP
                self.details_failed.emit(problem.told.text, wants_token)
            return
        if self._opening != repo:
            return
        self._details = details
        self.details_shown.emit(details)
        fits: dict[str, Fit] = {}
        try:
            fits = await self._discover.fits(details)
        except EnvironmentProblem as problem:
            # the files can be downloaded all the same; of a gated one the page tells already
            if not details.repository.gated:
                self._problems.show(problem.message, problem.remedy)
        if self._details is details:
            self.fits_known.emit(details, fits)

    async def _show_card(self, details: Details) -> None:
        self.card_shown.emit(details, await self._discover.card(details))

    def find_drafts_for(self, model: InstalledModel) -> None:
        self._tasks.spawn(self._find_drafts_for(model))

    async def _find_drafts_for(self, model: InstalledModel) -> None:
        try:
            offers = await self._discover.drafts_for(model)
        except EnvironmentProblem as problem:
            self.drafts_failed.emit(problem.told.text)
            return
        self.drafts_here_known.emit(model, offers)

    async def _find_drafts(self, details: Details, variant: Variant) -> None:
        try:
            offers = await self._discover.drafts(details, variant)
        except EnvironmentProblem as problem:
            self.drafts_failed.emit(problem.told.text)
            return
        if self._details is details:
            self.drafts_known.emit(variant, offers)

    # --- access --------------------------------------------------------------------------

    def open_page(self, repo: str) -> None:
        self._tasks.spawn(self._open_page(repo))

    def set_token(self, token: str) -> None:
        """Check a token and store it; "" deletes the stored one."""
        self._tasks.spawn(self._set_token(token))

    async def _open_page(self, repo: str) -> None:
        self.page_known.emit(await self._discover.page(repo))

    async def _set_token(self, token: str) -> None:
        try:
            name, notice = await self._discover.set_token(token)
        except EnvironmentProblem as problem:
            self.token_refused.emit(problem.message, problem.remedy)
            return
        self.token_checked.emit(name)
        if notice is not None:
            self._problems.show(notice.message, notice.remedy)
        if self._opening:
            await self._open(self._opening)
