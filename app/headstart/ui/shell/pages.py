"""Pages in the middle of the window: the chat, the models, the settings; the latter two are created
on first use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from headstart.chat.preferences import Preferences
from headstart.core.events import ResidentModel
from headstart.core.hub.downloads import ACTIVE, STOPPED, Download
from headstart.core.models.installed import InstalledModel
from headstart.ui.controllers.everything import Controllers
from headstart.ui.shell.notices import Banner, Toast
from headstart.ui.wording import say

if TYPE_CHECKING:
    from headstart.ui.models.page import ModelsPage
    from headstart.ui.settings.page import SettingsPage


# interval for listing models while their page is shown; takes about 15 ms in another thread
LOOK_MS = 4000


class PagePlace(QWidget):
    """A page in place of the chat, with its own banner and toast, as the chat has them."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.banner = Banner(self)
        # the area at whose foot the toast stands
        self._inside = QWidget(self)
        self.toast = Toast(self._inside)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.banner)
        layout.addWidget(self._inside, 1)
        self._column = QVBoxLayout(self._inside)
        self._column.setContentsMargins(0, 0, 0, 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.toast.place()

    def put(self, page: QWidget) -> None:
        self._column.addWidget(page)


class Pages(QStackedWidget):
    changed = Signal()
    # the sidebar's note on “Models”
    line_changed = Signal(str)
    # the user wants to open a model's file
    file_wanted = Signal()

    def __init__(self, parent: QWidget, controllers: Controllers, preferences: Preferences) -> None:
        super().__init__(parent)
        # contains the window's parts for chats
        self.chat = QWidget(self)
        self._preferences = preferences
        self._controllers = controllers
        self._installed: Sequence[InstalledModel] = ()
        self._downloads: Sequence[Download] = ()
        self._loaded: Sequence[ResidentModel] = ()
        self.models: ModelsPage | None = None
        self.settings: SettingsPage | None = None
        self._models_place, self._settings_place = PagePlace(self), PagePlace(self)
        for page in (self.chat, self._models_place, self._settings_place):
            self.addWidget(page)
        # other programs add and remove files
        self._looking = QTimer(self)
        self._looking.setInterval(LOOK_MS)
        self._looking.timeout.connect(self._look)
        controllers.installed.listed.connect(self._on_installed)
        controllers.downloads.changed.connect(self._on_downloads)
        controllers.installed.loaded.connect(self._on_loaded)

    @property
    def elsewhere(self) -> bool:
        """True while a page other than the chat is shown."""
        return self.currentWidget() is not self.chat

    @property
    def on_models(self) -> bool:
        return self.currentWidget() is self._models_place

    @property
    def on_settings(self) -> bool:
        return self.currentWidget() is self._settings_place

    @property
    def place(self) -> PagePlace | None:
        """The shown page, for its notices; None for the chat."""
        if self.on_models:
            return self._models_place
        return self._settings_place if self.elsewhere else None

    @property
    def toasts(self) -> tuple[Toast, ...]:
        return self._models_place.toast, self._settings_place.toast

    @property
    def line(self) -> str:
        active = [one for one in self._downloads if one.state in ACTIVE]
        if active:
            size = sum(one.wanted.size for one in active)
            share = sum(one.received for one in active) / max(1, size)
            return say("shell.downloading", count=len(active), share=share)
        stopped = sum(one.state in STOPPED for one in self._downloads)
        if stopped:
            return say("shell.downloads-stopped", count=stopped)
        return (
            say("shell.installed-installed", installed=len(self._installed))
            if self._installed
            else ""
        )

    def show_chat(self) -> None:
        if self.elsewhere:
            self.setCurrentWidget(self.chat)
            self._looking.stop()
            self.flush()
            self.changed.emit()

    def show_settings(self, page: SettingsPage) -> None:
        """Show the page of settings, which its opener creates."""
        if self.settings is None:
            self.settings = page
            self._settings_place.put(page)
        self.setCurrentWidget(self._settings_place)
        self._looking.stop()
        self.flush()
        self.changed.emit()

    def show_models(self) -> ModelsPage:
        page = self.models or self._make()
        self.setCurrentWidget(self._models_place)
        self._controllers.installed.look()
        self._looking.start()
        self._controllers.downloads.list()
        self.changed.emit()
        page.focus_first()
        return page

    def next_pane(self) -> None:
        """Move the focus to another part of the shown page."""
        if self.on_models and self.models is not None:
            self.models.focus_first()
        elif self.on_settings and self.settings is not None:
            self.settings.next_pane()

    def flush(self) -> None:
        """Save the typed notes about a model."""
        if self.models is not None:
            self.models.installed.model.flush()

    def _make(self) -> ModelsPage:
        from headstart.ui.models.page import ModelsPage
        from headstart.ui.models.wiring import connect

        page = self.models = ModelsPage(self)
        connect(page, self._controllers, self._preferences)
        page.installed.set_loaded(self._loaded)
        page.closed.connect(self.show_chat)
        page.installed.file_wanted.connect(self.file_wanted)
        self._models_place.put(page)
        self._controllers.discover.show_recommended()
        return page

    def _look(self) -> None:
        if self.window().isActiveWindow():
            self._controllers.installed.look()

    def _on_installed(self, models: list[InstalledModel]) -> None:
        self._installed = models
        self.line_changed.emit(self.line)

    def _on_loaded(self, models: tuple[ResidentModel, ...]) -> None:
        self._loaded = models

    def _on_downloads(self, downloads: tuple[Download, ...]) -> None:
        self._downloads = downloads
        self.line_changed.emit(self.line)
