"""The settings window: a page each for looks and chats, engines, models, and servers.

What is changed applies at once; every value is checked where settings change.
"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTabWidget, QVBoxLayout, QWidget

from headstart.core.settings import Settings
from headstart.ui.fields import give_room, keep_wheel_away
from headstart.ui.settings.engine_page import EnginePage
from headstart.ui.settings.files_page import FilesPage
from headstart.ui.settings.general_page import GeneralPage
from headstart.ui.settings.models_page import ModelsSettingsPage
from headstart.ui.settings.servers_page import ServersPage


class SettingsWindow(QDialog):
    """Emits `changed` with the fields to replace, as a dict for `Preferences.update`."""

    changed = Signal(dict)

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Settings")
        self.setMinimumWidth(480)
        self.general = GeneralPage(settings, self._tell, self)
        self.engine = EnginePage(settings.engine, self._tell, self)
        self.models = ModelsSettingsPage(settings.library, self._tell, self)
        self.files = FilesPage(settings.mirror_folder, self._tell, self)
        self.servers = ServersPage(settings.connections, self)
        self._tabs = QTabWidget(self)
        self._tabs.setDocumentMode(True)
        self._tabs.tabBar().setDrawBase(False)
        for page, title in (
            (self.general, "General"),
            (self.engine, "Engine"),
            (self.models, "Models"),
            (self.files, "Files"),
            (self.servers, "Servers"),
        ):
            self._tabs.addTab(page, title)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        for button in buttons.buttons():
            # Enter in a field takes the value; it does not close the window
            button.setAutoDefault(False)  # type: ignore[attr-defined]
            button.setIcon(QIcon())
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 8, 0, 0)
        outer.addWidget(self._tabs, 1)
        row = QVBoxLayout()
        row.setContentsMargins(20, 0, 20, 16)
        row.addWidget(buttons)
        outer.addLayout(row)
        keep_wheel_away(self)
        give_room(self)
        self.resize(560, 760)

    def show_servers(self) -> None:
        self._tabs.setCurrentWidget(self.servers)

    def show_files(self) -> None:
        self._tabs.setCurrentWidget(self.files)

    def show_engine(self) -> None:
        self._tabs.setCurrentWidget(self.engine)

    def _tell(self, **changes: object) -> None:
        self.changed.emit(changes)
