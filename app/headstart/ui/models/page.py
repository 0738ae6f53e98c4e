"""The page about models, in place of the chat: discover, installed models, downloads."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QTabWidget, QToolButton, QVBoxLayout, QWidget

from headstart.chat.library.discover import ThisComputer
from headstart.core.hub.catalog import Details
from headstart.core.hub.downloads import ACTIVE, Download, DownloadState
from headstart.core.hub.presence import presence
from headstart.core.models.installed import InstalledModel
from headstart.ui.kit import icons
from headstart.ui.kit.elided import ElidedLabel
from headstart.ui.kit.focus import tabs_first
from headstart.ui.models.discover_view import DiscoverView
from headstart.ui.models.downloads_view import DownloadRow, DownloadsView
from headstart.ui.models.installed_view import InstalledView
from headstart.ui.wording import say


class ModelsPage(QWidget):
    """Emits `closed` when the user wants to go back to the chat."""

    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        title = QLabel(say("models.models"), self)
        title.setObjectName("pageTitle")
        self.computer = ElidedLabel("", self, name="quiet")
        self.computer.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.close_button = QToolButton(self)
        self.close_button.setIcon(icons.icon("x"))
        self.close_button.setToolTip(say("models.back-to-chat-esc"))
        self.close_button.setAccessibleName(say("models.back-to-chat"))
        self.close_button.clicked.connect(self.closed)
        self.discover = DiscoverView(self)
        self.installed = InstalledView(self)
        self.downloads = DownloadsView(self)
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setDrawBase(False)
        self.tabs.tabBar().setAccessibleName(say("models.sections"))
        for view, name in (
            (self.discover, say("models.discover")),
            (self.installed, say("models.installed")),
            (self.downloads, say("models.downloads")),
        ):
            self.tabs.addTab(view, name)
        tabs_first(self.tabs)
        # the running download, shown below the other tabs
        self.running = DownloadRow(self)
        self.running.hide()
        self.tabs.currentChanged.connect(lambda _: self.set_downloads(self._downloads))
        self._downloads: tuple[Download, ...] = ()
        self._installed: tuple[InstalledModel, ...] = ()
        head = QHBoxLayout()
        head.addWidget(title)
        head.addWidget(self.computer, 1)
        head.addWidget(self.close_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(28, 18, 28, 18)
        layout.setSpacing(10)
        layout.addLayout(head)
        layout.addWidget(self.tabs, 1)
        layout.addWidget(self.running)

    def show_discover(self, text: str = "") -> None:
        """Show the search, with a text that the user can search for."""
        self.tabs.setCurrentWidget(self.discover)
        if text:
            self.discover.row.field.setText(text)
        self.discover.row.field.setFocus()

    def focus_first(self) -> None:
        """Focus the first control of the shown tab."""
        if self.tabs.currentWidget() is self.discover:
            self.discover.row.field.setFocus()
        elif self.tabs.currentWidget() is self.installed:
            self.installed.list.setFocus()

    def set_installed(self, models: Sequence[InstalledModel]) -> None:
        self.installed.set_models(models)
        self.tabs.setTabText(1, say("models.installed-models", models=len(models)))
        self._installed = tuple(models)
        self._show_presence()

    def set_downloads(self, downloads: Sequence[Download]) -> None:
        self._downloads = tuple(downloads)
        if self.downloads.isVisible():
            self.downloads.set_downloads(downloads)
        left = sum(one.state is not DownloadState.DONE for one in downloads)
        self.tabs.setTabText(
            2, say("models.downloads-left", left=left) if left else say("models.downloads")
        )
        self._show_running()
        self._show_presence()

    def show_details(self, details: Details) -> None:
        self.discover.details.show_details(details)
        self._show_presence()

    def set_computer(self, computer: ThisComputer) -> None:
        """Show this computer's memory, cores, cards and disk."""
        memory = computer.memory
        self.discover.row.set_preferred(computer.preferred)
        self.discover.row.memory = memory
        self.discover.results.memory = memory
        parts = [
            say("models.memory-memory", memory=memory),
            say("models.cores-cores", cores=computer.cores),
            computer.cards or say("models.no-gpu-in-use"),
        ]
        words = " · ".join([*parts, say("models.free-free-on-disk", free=computer.free)])
        self.computer.set_full_text(words)
        self.computer.setToolTip(words)

    def _show_presence(self) -> None:
        view = self.discover.details
        if view.details is not None:
            view.variants.set_presence(presence(view.details, self._installed, self._downloads))

    def _show_running(self) -> None:
        elsewhere = self.tabs.currentWidget() is not self.downloads
        active = next((one for one in self._downloads if one.state in ACTIVE), None)
        if active is not None and elsewhere:
            self.running.show_download(active, first=True)
        self.running.setVisible(active is not None and elsewhere)
