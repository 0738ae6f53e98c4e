"""The row about a message that does not fit, with what makes room for it. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QVBoxLayout, QWidget

from headstart.core.models.room import Room
from headstart.ui.kit.aloud import tell
from headstart.ui.kit.flow import FlowLayout
from headstart.ui.wording import say

Action = tuple[str, Callable[[], object]]


class RoomRow(QFrame):
    """Hidden while the message fits; it goes by itself when there is room."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        # it looks as the banner does
        self.setObjectName("banner")
        self.label = QLabel(self)
        self.label.setWordWrap(True)
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.buttons: list[QPushButton] = []
        self._places = QWidget(self)
        self._flow = FlowLayout(self._places)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 6, 12, 6)
        layout.setSpacing(6)
        layout.addWidget(self.label)
        layout.addWidget(self._places)
        self.hide()

    def show_ways(self, text: str, actions: Sequence[Action]) -> None:
        """Show a sentence with buttons; "" hides the row."""
        new = bool(text) and self.isHidden()
        self.label.setText(text)
        labels = [label for label, _ in actions]
        if [button.text() for button in self.buttons] != labels:
            self._make_buttons(actions)
        self._places.setVisible(bool(actions))
        self.setVisible(bool(text))
        if new:
            tell(self, text, urgent=True)

    def insist(self) -> None:
        """Answer an Enter that cannot send: say it again, and offer the first way."""
        tell(self, self.label.text(), urgent=True)
        if self.buttons:
            self.buttons[0].setFocus(Qt.FocusReason.OtherFocusReason)

    def _make_buttons(self, actions: Sequence[Action]) -> None:
        for button in self.buttons:
            self._flow.removeWidget(button)
            button.hide()
            button.deleteLater()
        self.buttons = []
        for label, act in actions:
            button = QPushButton(label, self._places)
            button.setAutoDefault(False)
            button.clicked.connect(lambda _checked=False, act=act: act())
            self._flow.addWidget(button)
            button.show()
            self.buttons.append(button)
        self._flow.invalidate()
        self._places.updateGeometry()


def misfit_words(room: Room) -> str:
    """The sentence about a message that does not fit."""
    if not room.sure:
        return say("composer.may-not-fit", tokens=room.needed, limit=room.limit)
    alone = room.alone > room.limit
    code = "composer.does-not-fit" if alone else "composer.chat-does-not-fit"
    return say(code, tokens=room.alone if alone else room.needed, limit=room.limit)
