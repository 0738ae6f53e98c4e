"""A section of the inspector that folds to one line, which says what is in it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from headstart.ui import icons


class Fold(QWidget):
    """`toggled` when the user opens or closes it."""

    toggled = Signal(bool)

    def __init__(self, title: str, content: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._content = content
        self.button = QToolButton(self)
        self.button.setObjectName("fold")
        self.button.setText(title)
        self.button.setAccessibleName(title)
        self.button.setCheckable(True)
        self.button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.button.toggled.connect(self._show)
        self.button.clicked.connect(lambda: self.toggled.emit(self.button.isChecked()))
        self._summary = QLabel(self)
        self._summary.setObjectName("quiet")
        self._summary.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._summary.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        line = QHBoxLayout()
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        line.addWidget(self._summary, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addLayout(line)
        layout.addWidget(content)
        self._show(False)

    @property
    def open(self) -> bool:
        return self.button.isChecked()

    def set_open(self, on: bool) -> None:
        self.button.setChecked(on)

    def set_summary(self, text: str) -> None:
        """What is in it, in a few words; shown while it is folded."""
        self._summary.setText(text)
        self._summary.setToolTip(text)

    def refresh_theme(self) -> None:
        self.button.setIcon(icons.icon("chevron-down" if self.open else "chevron-right"))

    def _show(self, on: bool) -> None:
        self._content.setVisible(on)
        self._summary.setVisible(not on)
        self.refresh_theme()
