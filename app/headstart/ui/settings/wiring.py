"""Opens the settings window and connects it with the controllers; one window at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from headstart.chat.preferences import Preferences
from headstart.core.settings import Settings
from headstart.core.told import Told, told
from headstart.ui.controllers.everything import Controllers

if TYPE_CHECKING:
    from headstart.ui.settings.files_page import FilesPage
    from headstart.ui.settings.window import SettingsWindow


class SettingsOpener(QObject):
    command_wanted = Signal(str)
    restore_wanted = Signal(str)  # the path of a backup

    def __init__(self, controllers: Controllers, preferences: Preferences, parent: QWidget) -> None:
        super().__init__(parent)
        self._servers = controllers.servers
        self._discover = controllers.discover
        self._backups = controllers.backups
        self._updates = controllers.updates
        self._reload = controllers.models.reload
        self._preferences = preferences
        self._parent = parent
        self.window: SettingsWindow | None = None
        preferences.listen(self._on_settings)
        servers = self._servers
        servers.saved.connect(lambda which: self.window and self.window.servers.select(which))
        servers.result.connect(self._show_result)
        servers.offered.connect(lambda what: self.window and self.window.servers.show_offer(what))
        servers.explained.connect(
            lambda texts: self.window and self.window.engine.set_automatic(texts)
        )

        self._updates.found.connect(
            lambda version, _page: self._show_update(told("newer-version", version=version))
        )
        self._updates.none_found.connect(lambda: self._show_update(told("no-newer-version")))
        self._updates.failed.connect(self._show_update)
        self._discover.token_checked.connect(self._on_token)
        self._discover.token_refused.connect(lambda why, how: self._show_token(f"{why} {how}"))

    def open(self, page: str = "") -> None:
        if self.window is None:
            # with the first use, not with the program
            from headstart.ui.settings.window import SettingsWindow

            window = self.window = SettingsWindow(self._preferences.current, self._parent)
            window.changed.connect(lambda changes: self._preferences.update(**changes))
            window.finished.connect(self._on_closed)
            window.engine.reload_requested.connect(self._reload)
            window.servers.save_requested.connect(self._servers.save)
            window.servers.remove_requested.connect(self._servers.remove)
            window.servers.test_requested.connect(self._servers.test)
            window.models.token.entered.connect(self._discover.set_token)
            window.models.token.forgotten.connect(lambda: self._discover.set_token(""))
            self._connect_files(window.files)
            window.general.updates.asked.connect(self._updates.look_now)
            self._servers.explain()
            self.show_state()
        if page == "servers":
            self.window.show_servers()
        elif page == "files":
            self.window.show_files()
        self.window.show()
        self.window.raise_()

    def _connect_files(self, page: FilesPage) -> None:
        # what opens windows of its own goes through the commands
        for signal, name in (
            (page.imported, "chats.import"),
            (page.folder_imported, "chats.import_folder"),
            (page.exported, "chats.export"),
        ):
            signal.connect(lambda name=name: self.command_wanted.emit(name))
        page.restore_requested.connect(self.restore_wanted)
        page.backup_requested.connect(self._backups.make)
        self._backups.listed.connect(page.set_copies)
        self._backups.progress.connect(page.show_progress)
        self._backups.began.connect(lambda: page.show_making(True))
        self._backups.made.connect(lambda _path: page.show_making(False))
        self._backups.list()

    def show_state(self) -> None:
        """The model that is loaded may be another one now."""
        if self.window is not None:
            self.window.engine.set_state(self._servers.engine_state)

    def _on_token(self, account: str) -> None:
        self._show_token(f"Signed in as {account}." if account else "The token is forgotten.")

    def _show_update(self, said: Told) -> None:
        if self.window is not None:
            self.window.general.updates.show_said(said.text)

    def _show_token(self, text: str) -> None:
        if self.window is not None:
            self.window.models.show_checked(text)

    def _show_result(self, connection_id: str, text: str, more: bool) -> None:
        if self.window is not None:
            page = self.window.servers
            (page.add_result if more else page.show_result)(connection_id, text)

    def _on_settings(self, settings: Settings) -> None:
        if self.window is not None:
            self.window.servers.set_connections(settings.connections)
            self.window.models.set_library(settings.library)
            self.window.files.set_mirror(settings.mirror_folder)
            self.show_state()

    def _on_closed(self) -> None:
        if self.window is not None:
            self.window.deleteLater()
            self.window = None
