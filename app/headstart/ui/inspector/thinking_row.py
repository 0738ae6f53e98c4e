"""Row for the thinking effort, for models that support one."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from headstart.core.settings.fields import describe
from headstart.core.settings.schema import Settings, Thinking
from headstart.ui.inspector.own import OwnRow
from headstart.ui.kit.choice import Choice


class ThinkingRow(QWidget):
    """Emits `chosen` with the user's choice."""

    chosen = Signal(str)
    reset = Signal()

    def __init__(self, title_width: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._info = describe(Settings)["thinking"]
        self._value: str = self._info.default
        self.box = Choice(self)
        self.box.setAccessibleName(self._info.title)
        self.box.setToolTip(self._info.description)
        self.box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.box.activated.connect(self._choose)
        self._row = OwnRow(self._info.title, self.box, self, title_width)
        self._row.reset.connect(self.reset)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._row)
        self.set_choices(())

    def set_choices(self, choices: Sequence[Thinking]) -> None:
        """Set the efforts that the model supports; fewer than two choices hide the row."""
        self.box.clear()
        for choice in choices:
            self.box.addItem(self._info.labels[choice], choice)
        self.setVisible(len(choices) > 1)
        self.set_value(self._value)

    def set_value(self, value: str) -> None:
        """Show a value; one that this model does not support shows as the first choice."""
        self._value = value
        self.box.setCurrentIndex(max(0, self.box.findData(value)))

    def set_own(self, own: bool) -> None:
        self._row.set_own(own)

    def _choose(self) -> None:
        value = str(self.box.currentData())
        if value != self._value:
            self._value = value
            self.chosen.emit(value)
