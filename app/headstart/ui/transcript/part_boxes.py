"""What belongs to a message besides its text, as labelled boxes: files, images, calls of tools."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from headstart.core.parts import OtherPart, label
from headstart.core.text import shortened
from headstart.core.values import Message, Role

GAP = 6
# of what a tool tip shows of a file, or a tool's result
MOST_TIP = 600


class PartBoxes:
    """One below the other, on the side of who wrote the message; widgets of `parent`."""

    def __init__(self, parent: QWidget) -> None:
        self._parent = parent
        self._shown: tuple[OtherPart, ...] = ()
        self._boxes: list[QLabel] = []
        self._right = False

    def show(self, message: Message) -> None:
        self._right = message.role is Role.USER
        if message.others == self._shown:
            return
        self._shown = message.others
        for box in self._boxes:
            box.hide()
            box.deleteLater()
        self._boxes = [self._box(part) for part in message.others]

    def place(self, y: int, width: int) -> int:
        """From `y` on; returns where they end."""
        for box in self._boxes:
            hint = box.sizeHint()
            box_width = min(hint.width(), width)
            box.setGeometry(width - box_width if self._right else 0, y, box_width, hint.height())
            y += hint.height() + GAP
        return y

    def _box(self, part: OtherPart) -> QLabel:
        box = QLabel(label(part), self._parent)
        box.setObjectName("partBox")
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        box.setToolTip(shortened(part.text, MOST_TIP))
        box.show()
        return box
