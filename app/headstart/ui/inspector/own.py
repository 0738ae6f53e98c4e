"""Dot and reset button of a setting that the chat overrides."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from headstart.ui.kit.fields import ResetButton
from headstart.ui.kit.own_title import OwnTitle
from headstart.ui.wording import say

BACK = "inspector.follow-again"


class OwnRow(QWidget):
    """A title, a control, and a reset button. Emits `reset`."""

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
        self.title.setBuddy(control)
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


def back_button(title: str, parent: QWidget) -> ResetButton:
    button = ResetButton(title, parent)
    button.setToolTip(say(BACK))
    button.setEnabled(False)
    return button
