"""Connects the sidebar with the controllers, and opens the windows about folders and chats."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from headstart.chat.models import ModelList
from headstart.chat.preferences import Preferences
from headstart.core.chats.values import ChatSummary, Folder, TrashedChat
from headstart.core.knowledge.pinned import PinnedDocument
from headstart.core.settings.schema import ChatOptions
from headstart.ui.commands import Commands
from headstart.ui.controllers.everything import Controllers
from headstart.ui.kit.asking import TextQuestion
from headstart.ui.kit.file_dialog import file_dialog
from headstart.ui.kit.one_window import OneWindow
from headstart.ui.sidebar.sidebar import Sidebar
from headstart.ui.wording import say

if TYPE_CHECKING:
    from headstart.ui.overrides_window import OverridesWindow
    from headstart.ui.sidebar.archive import ArchiveWindow
    from headstart.ui.sidebar.trash import TrashWindow


def connect(sidebar: Sidebar, controllers: Controllers, commands: Commands) -> None:
    sidebar.set_commands(commands)
    chats, folders = controllers.chat_list, controllers.folders
    sidebar.rename_requested.connect(chats.rename)
    sidebar.folder_renamed.connect(folders.rename)
    sidebar.view.toggled.connect(folders.fold)
    sidebar.view.moved.connect(folders.move)
    sidebar.view.folder_moved.connect(folders.move_folder)
    folders.listed.connect(sidebar.set_folders)
    chats.listed.connect(sidebar.set_chats)
    chats.line_changed.connect(sidebar.set_chat)
    chats.status_changed.connect(sidebar.model.set_writing)
    sidebar.search.names = lambda: _names(sidebar.model.summaries(), controllers.models.name_of)
    sidebar.search_requested.connect(controllers.finding.find)
    controllers.finding.found.connect(sidebar.searching.set_found)
    places = controllers.finding.find_places
    sidebar.results.places_wanted.connect(
        lambda chat_id, begin: places(sidebar.search.text(), chat_id, begin)
    )
    controllers.finding.places_found.connect(sidebar.searching.add_places)
    sidebar.search_requested.connect(controllers.knowledge.glance)
    controllers.knowledge.glanced.connect(sidebar.searching.set_passages)
    controllers.branch.chat_shown.connect(lambda chat, *_: sidebar.show_current(chat.id))
    controllers.branch.stayed.connect(sidebar.show_current)


def _names(
    chats: list[ChatSummary], name_of: Callable[[str], str]
) -> tuple[list[str], list[str], list[str]]:
    """Models, folders and tags of all chats."""
    models = {name_of(chat.model) for chat in chats if chat.model}
    folders = {chat.folder for chat in chats if chat.folder}
    tags = {tag for chat in chats for tag in chat.tags}
    return sorted(models - {""}), sorted(folders), sorted(tags)


# commas of Latin, Chinese, Japanese and Arabic texts
_COMMA = re.compile("[,，、،]")


class OrderDialogs(QObject):
    """Dialogs for a name, tags or settings of folders, and the window of archived chats."""

    archive: OneWindow[ArchiveWindow] = OneWindow()
    settings: OneWindow[OverridesWindow] = OneWindow()

    def __init__(self, parent: QWidget, controllers: Controllers, preferences: Preferences) -> None:
        super().__init__(parent)
        self._parent = parent
        self._controllers = controllers
        self._preferences = preferences
        # names and keys of the models last listed
        self._models: list[tuple[str, str]] = []
        # the folder whose settings were opened last
        self._folder = ""
        folders = controllers.folders
        folders.opened.connect(self._show_settings)
        folders.archive_listed.connect(self._show_archived)
        controllers.model_list.listed.connect(self._on_models)
        controllers.knowledge.pinning.document_read.connect(self._add_document)

    def move(self, chat_ids: list[str], folder: str | None) -> None:
        """Move chats into a folder, "" for none; None asks for a new one."""
        if folder is None:
            self.new_folder(chat_ids=chat_ids)
        else:
            self._controllers.folders.move(chat_ids, folder)

    def new_folder(self, inside: str = "", chat_ids: Sequence[str] = ()) -> None:
        def make(name: str) -> None:
            self._controllers.folders.make(name, inside, chat_ids)

        self._ask(say("sidebar.new-folder-2"), say("sidebar.name-of-folder"), "", make)

    def ask_tags(self, chats: Sequence[ChatSummary]) -> None:
        """Ask for the tags of one chat, or for a tag to add to several."""
        folders = self._controllers.folders
        if len(chats) == 1:
            (chat,) = chats
            label = say("sidebar.tags-with-commas-between-them")
            self._ask(
                say("sidebar.tags"), label, ", ".join(chat.tags),
                lambda text: folders.set_tags(chat.id, _COMMA.split(text)), empty=True,
            )  # fmt: skip
            return
        ids = [chat.id for chat in chats]
        self._ask(
            say("sidebar.add-tag"), say("sidebar.tag"), "", lambda text: folders.add_tag(ids, text)
        )

    def open_archive(self) -> None:
        if self.archive is None:
            from headstart.ui.sidebar.archive import ArchiveWindow

            window = self.archive = ArchiveWindow(self._parent)
            window.open_requested.connect(self._controllers.branch.open_chat)
            window.restore_requested.connect(
                lambda ids: self._controllers.folders.archive(ids, archived=False)
            )
            window.delete_requested.connect(self._delete_archived)
        else:
            window = self.archive
        window.show()
        window.raise_()
        self._controllers.folders.list_archive()

    def open_settings(self, path: str) -> None:
        """Show a folder's settings."""
        self._controllers.model_list.list()
        self._controllers.folders.open(path)

    def _ask(
        self, title: str, label: str, text: str, then: Callable[[str], object], empty: bool = False
    ) -> None:
        TextQuestion(self._parent, title, label, text).ask(
            lambda found: then(found) if found or empty else None
        )

    def _delete_archived(self, ids: list[str]) -> None:
        self._controllers.chat_list.delete(ids)
        self._controllers.folders.list_archive()

    def _show_archived(self, chats: list[ChatSummary]) -> None:
        if self.archive is not None:
            self.archive.set_chats(chats)

    def _on_models(self, models: ModelList) -> None:
        known = [one.ref for one in models.local if one.why_not is None]
        self._models = [(one.name, one.key) for one in known]
        self._models += [
            (one.name, one.key) for offered in models.servers for one in offered.models
        ]

    def _show_settings(self, folder: Folder) -> None:
        from headstart.ui.overrides_window import OverridesWindow, Owner

        about = say("sidebar.chats-in-folder-begin-from")
        owner = Owner(
            say("sidebar.settings-of-folder-name", name=folder.name),
            about,
            self._models,
            self._models,
            folder.model or "",
        )
        window = OverridesWindow(owner, folder.options, self._preferences.current, self._parent)
        chosen = folder.model

        def store() -> None:
            options = window.options
            assert isinstance(options, ChatOptions)
            self._controllers.folders.set_options(folder.path, options, chosen)

        self._folder = folder.path

        def choose(key: str) -> None:
            nonlocal chosen
            chosen = key or None
            store()

        pinning = self._controllers.knowledge.pinning
        window.changed.connect(lambda _options: store())
        if window.documents is not None:
            window.documents.wanted.connect(self._ask_documents)
            window.documents.changed.connect(
                lambda pinned: pinning.keep_for_folder(folder.path, pinned)
            )
        window.model_changed.connect(choose)
        self.settings = window
        window.open()

    def _ask_documents(self) -> None:
        dialog = file_dialog(self._parent, say("sidebar.whole-documents"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(self.add_documents)
        dialog.open()

    def add_documents(self, paths: Sequence[str]) -> None:
        """Put documents first in the chats of the folder whose settings are open."""
        self._controllers.knowledge.pinning.read(self._folder, paths)

    def _add_document(self, folder: str, document: PinnedDocument) -> None:
        """Add a document that was read to its folder, whether or not its settings are still
        open."""
        settings = self.settings if folder == self._folder else None
        if settings is not None and settings.documents is not None:
            settings.documents.add(document)
        else:
            self._controllers.folders.add_document(folder, document)


class TrashOpener(QObject):
    window: OneWindow[TrashWindow] = OneWindow()

    def __init__(self, parent: QWidget, controllers: Controllers, preferences: Preferences) -> None:
        super().__init__(parent)
        self._parent = parent
        self._chats = controllers.chat_list
        self._preferences = preferences
        self._chats.trashed.connect(self._show)

    def open(self) -> None:
        if self.window is None:
            # imported on first use, not at the start of the program
            from headstart.ui.sidebar.trash import TrashWindow

            days = self._preferences.current.trash_days
            window = self.window = TrashWindow(days, self._parent)
            window.restore_requested.connect(self._chats.restore)
            window.delete_requested.connect(self._chats.delete_for_good)
        else:
            window = self.window
        window.show()
        window.raise_()
        self._chats.list_trash()

    def _show(self, chats: list[TrashedChat]) -> None:
        if self.window is not None:
            self.window.set_chats(chats)
