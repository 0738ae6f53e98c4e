"""What a chat decides for itself is marked with a dot, and goes back with a click."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QWidget

from headstart.ui import theme
from headstart.ui.fields import ResetButton

BACK = "Back to what the chat follows: its folder, its model, the app"


class OwnTitle(QLabel):
    """A title with a dot behind it where the chat differs."""

    def __init__(self, text: str, parent: QWidget | None = None, section: bool = False) -> None:
        super().__init__(text, parent)
        self._plain = text
        self.own = False
        if section:
            self.setObjectName("sectionTitle")

    def set_own(self, own: bool) -> None:
        self.own = own
        dot = f'&nbsp; <span style="color:{theme.current().accent}">●</span>'
        self.setText(f"{self._plain}{dot}" if own else self._plain)
        self.setToolTip("This chat decides it for itself" if own else "")
        self.setAccessibleName(f"{self._plain}, of this chat" if own else self._plain)

    def refresh_theme(self) -> None:
        self.set_own(self.own)


class OwnRow(QWidget):
    """A title, a control, and the way back. Emits `reset`."""

    reset = Signal()

    def __init__(
        self,
        title: str,
        control: QWidget,
        parent: QWidget | None = None,
        width: int = 0,
        section: bool = False,
    ) -> None:
        super().__init__(parent)
        self.title = OwnTitle(title, self, section)
        self.title.setMinimumWidth(width)
        self.button = back_button(title, self)
        self.button.clicked.connect(self.reset)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.title)
        row.addWidget(control, 1)
        row.addWidget(self.button)

    def set_own(self, own: bool) -> None:
        self.title.set_own(own)
        self.button.setEnabled(own)

    def refresh_theme(self) -> None:
        self.title.refresh_theme()


class Blank(QWidget):
    """Takes the room that is left."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)


def back_button(title: str, parent: QWidget) -> ResetButton:
    button = ResetButton(title, parent)
    button.setToolTip(BACK)
    button.setEnabled(False)
    return button
