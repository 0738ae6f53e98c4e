"""A few choices side by side, one of them chosen. Main thread."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QPushButton, QWidget

from headstart.ui.kit.joining import titled


class Segments(QFrame):
    """`labels`: the label of each value. Emits `chosen` with the user's choice."""

    chosen = Signal(str)

    def __init__(
        self, title: str, labels: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("segments")
        self.setAccessibleName(title)
        self._group = QButtonGroup(self)
        self.buttons: dict[str, QPushButton] = {}
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        for value, label in labels.items():
            button = self.buttons[value] = QPushButton(label, self)
            button.setObjectName("segment")
            button.setCheckable(True)
            button.setAutoDefault(False)
            button.setAccessibleName(titled(title, label))
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            button.clicked.connect(lambda _checked, value=value: self.chosen.emit(value))
            self._group.addButton(button)
            row.addWidget(button, 1)

    @property
    def value(self) -> str:
        return next((one for one, button in self.buttons.items() if button.isChecked()), "")

    def set_value(self, value: str) -> None:
        button = self.buttons.get(value)
        if button is not None:
            button.setChecked(True)
