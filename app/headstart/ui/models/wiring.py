"""Connects the page about models with the controllers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from headstart.chat.library.installed import Leaving
from headstart.chat.preferences import Preferences
from headstart.core.hub.catalog import Details
from headstart.core.models.installed import InstalledModel
from headstart.core.settings.schema import Settings
from headstart.ui.controllers.everything import Controllers
from headstart.ui.kit.asking import DangerQuestion
from headstart.ui.models.page import ModelsPage
from headstart.ui.models.words import source_words
from headstart.ui.wording import say

if TYPE_CHECKING:
    from headstart.ui.models.downloads_view import DownloadRow, DownloadsView


def connect(page: ModelsPage, controllers: Controllers, preferences: Preferences) -> None:
    _connect_discover(page, controllers)
    _connect_installed(page, controllers, preferences)
    _connect_downloads(page, controllers)


def _connect_discover(page: ModelsPage, controllers: Controllers) -> None:
    discover, view = controllers.discover, page.discover
    view.row.searched.connect(discover.search)
    view.row.emptied.connect(discover.forget)
    view.opened.connect(discover.open)
    view.more_wanted.connect(discover.more)
    view.details.card_requested.connect(discover.show_card)
    view.details.drafts_requested.connect(discover.find_drafts)
    view.details.get_requested.connect(controllers.getting.get)
    view.details.token.entered.connect(discover.set_token)
    view.details.token.forgotten.connect(lambda: discover.set_token(""))
    view.details.page_requested.connect(discover.open_page)
    discover.page_known.connect(lambda address: QDesktopServices.openUrl(QUrl(address)))
    discover.recommended.connect(view.set_recommended)
    discover.search_began.connect(view.begin_search)
    discover.found.connect(view.add_results)
    discover.search_ended.connect(view.end_search)

    def show_details(details: Details) -> None:
        page.show_details(details)
        controllers.installed.look()

    discover.details_began.connect(view.begin)
    discover.details_shown.connect(show_details)
    discover.details_failed.connect(view.details.fail)
    discover.fits_known.connect(lambda _details, fits: view.details.set_fits(fits))
    discover.drafts_known.connect(view.details.set_drafts)
    discover.drafts_failed.connect(view.details.drafts.fail)
    discover.drafts_failed.connect(page.installed.model.drafts.fail)
    discover.card_shown.connect(lambda details, text: _show_card(page, details, text))
    discover.computer_known.connect(page.set_computer)


def _connect_installed(
    page: ModelsPage, controllers: Controllers, preferences: Preferences
) -> None:
    installed, view, models = controllers.installed, page.installed, controllers.models

    def use(model: InstalledModel) -> None:
        models.choose(model.ref)
        page.closed.emit()

    def ask_remove(leaving: Leaving) -> None:
        _ask(page, leaving, lambda: installed.remove(leaving.model))

    installed.listed.connect(page.set_installed)
    installed.leaving.connect(ask_remove)
    installed.card_shown.connect(view.model.show_card)
    view.chosen.connect(view.model.show_model)
    view.chosen.connect(installed.show_card)
    view.folder_added.connect(installed.add_folder)
    view.model.use_requested.connect(use)
    view.model.renamed.connect(installed.rename)
    view.model.noted.connect(installed.set_notes)
    view.model.remove_requested.connect(installed.ask_remove)
    view.model.unlist_requested.connect(installed.unlist)
    view.model.load_requested.connect(installed.load)
    view.model.unload_requested.connect(installed.unload)
    view.model.kept.connect(installed.keep)
    view.model.drafts_requested.connect(controllers.discover.find_drafts_for)
    view.model.draft_chosen.connect(controllers.getting.get_draft)
    controllers.discover.drafts_here_known.connect(view.model.show_drafts)
    installed.loaded.connect(view.set_loaded)
    installed.loading.connect(view.model.set_loading)

    def show_defaults(model: InstalledModel) -> None:
        from headstart.ui.overrides_window import OverridesWindow, Owner

        others = [
            (other.ref.name, other.ref.key)
            for other in view.models
            if other.why_not is None and other.content != model.content
        ]
        about = say("models.chats-with-model-begin-from")
        owner = Owner(say("models.default-settings-of-name", name=model.ref.name), about, others)
        window = OverridesWindow(owner, installed.options(model), preferences.current, page)
        window.changed.connect(installed.set_options)
        window.open()

    def on_settings(settings: Settings) -> None:
        view.set_kept(settings.library.kept)
        page.discover.details.token.set_kept(settings.library.has_token)

    view.model.options_requested.connect(show_defaults)
    on_settings(preferences.current)
    preferences.listen(on_settings, "library")


def _connect_downloads(page: ModelsPage, controllers: Controllers) -> None:
    downloads, view = controllers.downloads, page.downloads
    downloads.changed.connect(page.set_downloads)
    rows: tuple[DownloadRow | DownloadsView, ...] = (view, page.running)
    for row in rows:
        row.paused.connect(downloads.pause)
        row.resumed.connect(downloads.resume)
        row.cancelled.connect(downloads.cancel)
    view.moved.connect(downloads.move)
    view.cleared.connect(downloads.clear_done)


def _show_card(parent: QWidget, details: Details, markdown: str) -> None:
    from headstart.ui.models.card_window import CardWindow, html_of

    text = markdown or say("models.repository-has-no-model-card")
    CardWindow(details, html_of(text), parent).open()


def _ask(parent: QWidget, leaving: Leaving, agreed: Callable[[], None]) -> None:
    """Ask the user to confirm the removal of a model, with its consequences; does not block."""
    facts = [say("models.frees-size", size=leaving.size)]
    if leaving.chats:
        facts.append(say("models.used-by-chats", chats=leaving.chats))
    if leaving.is_draft:
        facts.append(say("models.drafts-for-another-model"))
    if leaving.program != "folder":
        facts.append(
            say("models.lies-in-sources-other-programs", sources=source_words(leaving.program))
        )
    question = say("models.delete-name-from-disk", name=leaving.model.ref.name)
    DangerQuestion(parent, question, " ".join(facts), say("models.delete-2")).ask(agreed)
