"""The model pill in the header: which model answers here, and how to choose another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QFileDialog, QMenu, QPushButton, QWidget

from headstart.core.values import ModelRef
from headstart.ui import icons

FILTER = "GGUF models (*.gguf);;All files (*)"


class ModelPill(QPushButton):
    """Emits `model_chosen` with a ModelRef, or `file_chosen` with the path of a new file."""

    model_chosen = Signal(object)
    file_chosen = Signal(str)
    menu_opening = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("pill")
        self._name = ""
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self.menu_opening)
        self.setMenu(self._menu)
        self.set_models([], "")

    def set_current(self, name: str) -> None:
        self._name = name
        self.show_state("")

    def show_state(self, state: str) -> None:
        """The model's name, and what happens to it: loading 40 %."""
        name = self._name or "No model"
        short = name if len(name) <= 36 else name[:35] + "…"
        self.setText(f"{short}  {state}".rstrip())
        self.setToolTip(name)
        self.setAccessibleName(f"Model: {name} {state}".rstrip())

    def set_models(self, models: Sequence[ModelRef], current_key: str) -> None:
        self._menu.clear()
        group = QActionGroup(self._menu)
        for model in models:
            action = QAction(f"{model.name}    {_size(model.size)}", self._menu)
            action.setCheckable(True)
            action.setChecked(model.key == current_key)
            action.triggered.connect(lambda _checked, m=model: self.model_chosen.emit(m))
            group.addAction(action)
            self._menu.addAction(action)
        if models:
            self._menu.addSeparator()
        self._menu.addAction(icons.icon("folder-open"), "Open model file…", self.ask_file)

    def ask_file(self) -> None:
        dialog = QFileDialog(self.window(), "Open a model", str(Path.home()), FILTER)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.file_chosen)
        dialog.open()


def _size(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
