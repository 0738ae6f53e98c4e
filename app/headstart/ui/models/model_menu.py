"""The model pill in the header: which model answers here, and how to choose another."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from headstart.chat.models import ModelList
from headstart.core.text import shortened
from headstart.ui.commands import Commands
from headstart.ui.elided import ElidedButton
from headstart.ui.file_dialog import file_dialog
from headstart.ui.models.choices_menu import ChoicesMenu

FILTER = "GGUF models (*.gguf);;All files (*)"
_COMMANDS = ("models.discover", "model.open_file", "model.open_folder", "model.servers")
# of a name in the header, beside the chat's title
SHOWN_NAME = 28


class ModelPill(ElidedButton):
    """Emits `model_chosen` with what was chosen, or `file_chosen` with the path of a new one."""

    model_chosen = Signal(object)
    file_chosen = Signal(str)
    refused = Signal(str)  # why what was chosen cannot be used
    menu_opening = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("pill")
        self._name = ""
        self.choices = ChoicesMenu(self)
        self.choices.aboutToShow.connect(self.menu_opening)
        self.choices.chosen.connect(self.model_chosen)
        self.choices.refused.connect(self.refused)
        self.setMenu(self.choices)

    def set_commands(self, commands: Commands) -> None:
        """What the menu offers below the models."""

        def add(menu: QMenu) -> None:
            for command_id in _COMMANDS:
                commands.add_to(menu, command_id)

        self.choices.set_below(add)

    def set_models(self, models: ModelList) -> None:
        self.choices.set_models(models)

    def set_current(self, name: str) -> None:
        self._name = name
        self.show_state("")

    def show_state(self, state: str) -> None:
        """The model's name, and what happens to it: loading 40 %."""
        name = self._name or "No model"
        short = shortened(name, SHOWN_NAME)
        self.set_full_text(f"{short}  {state}".rstrip())
        self.setToolTip(name)
        self.setAccessibleName(f"Model: {name} {state}".rstrip())

    def ask_file(self) -> None:
        self._ask("Open a model", QFileDialog.FileMode.ExistingFile)

    def ask_folder(self) -> None:
        self._ask("Open an MLX model folder", QFileDialog.FileMode.Directory)

    def _ask(self, title: str, mode: QFileDialog.FileMode) -> None:
        dialog = file_dialog(self.window(), title)
        dialog.setFileMode(mode)
        if mode is QFileDialog.FileMode.ExistingFile:
            dialog.setNameFilter(FILTER)
        dialog.fileSelected.connect(self.file_chosen)
        dialog.open()
