"""The model pill in the header: which model answers here, and how to choose another."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from headstart.chat.models import ModelList
from headstart.chat.servers import Offered
from headstart.core.model_ref import AnyModel, ModelRef
from headstart.core.text import shortened, size_text
from headstart.ui import icons
from headstart.ui.commands import Commands
from headstart.ui.elided import ElidedButton

FILTER = "GGUF models (*.gguf);;All files (*)"
# a server may offer hundreds: the menu is no catalogue
MOST_OFFERED = 40
_NAME_LENGTH = 48
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
        self.choices = QMenu(self)
        self.choices.setToolTipsVisible(True)
        self.choices.aboutToShow.connect(self.menu_opening)
        self.setMenu(self.choices)
        self._group = QActionGroup(self.choices)
        self._shown: ModelList | None = None
        self._commands: Commands | None = None
        self.set_models(ModelList([], [], ""))

    def set_commands(self, commands: Commands) -> None:
        """What the menu offers below the models."""
        self._commands = commands
        models, self._shown = self._shown, None
        self.set_models(models or ModelList([], [], ""))

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

    def set_models(self, models: ModelList) -> None:
        if models == self._shown:
            # as it is: an open menu keeps its place
            return
        self._shown = models
        for rest in self.choices.findChildren(QMenu):
            rest.deleteLater()
        self.choices.clear()
        self._group.deleteLater()
        self._group = QActionGroup(self.choices)
        for model, reason in models.local:
            self._add_local(model, reason, models.current)
        for offered in models.servers:
            self._add_server(offered, models.current)
        if models.local or models.servers:
            self.choices.addSeparator()
        if self._commands is not None:
            for command_id in _COMMANDS:
                self._commands.add_to(self.choices, command_id)

    def _add_local(self, model: ModelRef, reason: str, current: str) -> None:
        form = "  ·  MLX" if model.format == "mlx" else ""
        text = f"{_short(model.name)}    {size_text(model.size)}{form}"
        if reason:
            action = self.choices.addAction(f"{text}  ·  cannot run here")
            action.setToolTip(reason)
            action.triggered.connect(lambda _checked, why=reason: self.refused.emit(why))
        else:
            self._add_choice(text, model, current)

    def _add_server(self, offered: Offered, current: str) -> None:
        connection = offered.connection
        self.choices.addSeparator()
        title = self.choices.addAction(icons.icon("server"), f"{connection.name} (on a server)")
        title.setToolTip(f"Chats with these models are sent to {connection.host}.")
        title.setEnabled(False)
        if offered.problem is not None:
            line = self.choices.addAction(_short(offered.problem.text, 60))
            line.setToolTip(offered.problem.text)
            line.triggered.connect(lambda _checked, why=offered.problem: self.refused.emit(why))
        elif not offered.models:
            self.choices.addAction("Asking…").setEnabled(False)
        for model in offered.models[:MOST_OFFERED]:
            self._add_choice(f"{_short(model.name)}    on {connection.host}", model, current)
        more = len(offered.models) - MOST_OFFERED
        if more > 0:
            rest = self.choices.addMenu(f"{more:,} more")
            for model in offered.models[MOST_OFFERED:]:
                self._add_choice(_short(model.id), model, current, rest)

    def _add_choice(
        self, text: str, model: AnyModel, current: str, menu: QMenu | None = None
    ) -> None:
        action = QAction(text, menu or self.choices)
        action.setCheckable(True)
        action.setChecked(model.key == current)
        action.triggered.connect(lambda _checked, m=model: self.model_chosen.emit(m))
        self._group.addAction(action)
        (menu or self.choices).addAction(action)

    def ask_file(self) -> None:
        self._ask("Open a model", QFileDialog.FileMode.ExistingFile)

    def ask_folder(self) -> None:
        self._ask("Open an MLX model folder", QFileDialog.FileMode.Directory)

    def _ask(self, title: str, mode: QFileDialog.FileMode) -> None:
        dialog = QFileDialog(self.window(), title, str(Path.home()))
        dialog.setFileMode(mode)
        if mode is QFileDialog.FileMode.ExistingFile:
            dialog.setNameFilter(FILTER)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.file_chosen)
        dialog.open()


def _short(name: str, length: int = _NAME_LENGTH) -> str:
    # an ampersand would underline the next letter
    return shortened(name, length).replace("&", "&&")
