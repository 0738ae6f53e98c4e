"""Locations of models, their downloads, and the time that they stay loaded."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QListWidget, QPushButton, QWidget

from headstart.core.settings.fields import describe
from headstart.core.settings.library import LibrarySettings
from headstart.core.settings.schema import Settings, changed
from headstart.ui.kit.file_dialog import file_dialog
from headstart.ui.kit.flow import in_lines
from headstart.ui.kit.measures import keep_height
from headstart.ui.kit.token_row import TokenRow
from headstart.ui.settings.expert_page import COMMON, EngineRows
from headstart.ui.settings.form import Page
from headstart.ui.wording import say

WHERE = "settings.about-folders"

TOKEN = "settings.only-for-gated-and-private"


class ModelsSettingsPage(Page):
    """Calls `change` with the library's settings; `rows` shows those of the engine."""

    def __init__(
        self,
        settings: Settings,
        rows: EngineRows,
        change: Callable[..., None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(say("settings.models"), settings, parent)
        library = self._library = settings.library
        self._change = change
        fields = describe(LibrarySettings)
        section = self.section(say("settings.memory"))
        rows.add(section, COMMON)
        minutes, unload = fields["unload_minutes"], self._setter("unload_minutes")
        section.field(minutes, partial(_value_of, minutes.name), unload)
        section = self.section(say("settings.folders"), say(WHERE))
        self.folders = QListWidget(self)
        self.folders.setAccessibleName(say("settings.folders-where-models-looked-for"))
        keep_height(self.folders, 110)
        self.folders.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.folders.itemSelectionChanged.connect(self._show_buttons)
        add = QPushButton(say("settings.add-folder"), self)
        add.clicked.connect(self._ask_folder)
        self.remove = QPushButton(say("settings.remove-from-list"), self)
        self.remove.clicked.connect(self._remove)
        buttons = in_lines(self, add, self.remove)
        section.wide(self.folders, buttons, title=say("settings.folders-with-models"))
        section.field(
            fields["other_programs"],
            partial(_value_of, "other_programs"),
            partial(self._set, "other_programs"),
        )
        section = self.section(say("settings.downloads"))
        for name in ("parallel", "limit_mb"):
            section.field(fields[name], partial(_value_of, name), self._setter(name))
        section = self.section(say("settings.hugging-face"))
        self.token = TokenRow(self)
        self.token.set_kept(library.has_token)
        self.checked = self.word(say(TOKEN))
        section.wide(self.token, self.checked, title=say("settings.account"))
        self.finish()
        self._show_folders()

    def follow(self, settings: Settings) -> None:
        super().follow(settings)
        library = settings.library
        if library != self._library:
            self._library = library
            self._show_folders()
            self.token.set_kept(library.has_token)

    def show_checked(self, text: str) -> None:
        """Show the result of a token's check."""
        self.checked.setText(text)

    def add_folder(self, folder: str) -> None:
        if folder not in self._library.folders:
            self._set("folders", (*self._library.folders, folder))
            self._show_folders()

    def _setter(self, name: str) -> Callable[[object], None]:
        whole = describe(LibrarySettings)[name].integer
        return lambda value: self._set(name, int(float(str(value))) if whole else value)

    def _set(self, name: str, value: object) -> None:
        self._library = changed(self._library, **{name: value})
        self._change(library=self._library)

    def _show_folders(self) -> None:
        self.folders.clear()
        self.folders.addItems(list(self._library.folders))
        self._show_buttons()

    def _show_buttons(self) -> None:
        self.remove.setEnabled(bool(self.folders.selectedItems()))

    def _remove(self) -> None:
        gone = {item.text() for item in self.folders.selectedItems()}
        self._set("folders", tuple(one for one in self._library.folders if one not in gone))
        self._show_folders()

    def _ask_folder(self) -> None:
        dialog = file_dialog(self.window(), say("settings.add-folder-with-models"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(self.add_folder)
        dialog.open()


def _value_of(name: str, settings: Settings) -> object:
    return getattr(settings.library, name)
