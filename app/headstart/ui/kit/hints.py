"""Words in an empty field, which a tooltip tells where a narrow window cuts them. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QLineEdit, QToolTip

from headstart.ui.kit.tips import plain_tip

# the padding of a field and the icon in it, in pixels
_EDGES = 24


class Hint(QObject):
    """Shows the whole hint of its field, while the field is empty and too narrow for it."""

    def __init__(self, field: QLineEdit) -> None:
        super().__init__(field)
        field.installEventFilter(self)

    def eventFilter(self, field: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            assert isinstance(field, QLineEdit)
            words = field.placeholderText()
            wide = field.fontMetrics().horizontalAdvance(words)
            if not field.text() and wide > field.contentsRect().width() - _EDGES:
                QToolTip.showText(event.globalPos(), plain_tip(words), field)
                return True
        return False


def set_hint(field: QLineEdit, words: str) -> None:
    """Show these words while the field is empty."""
    field.setPlaceholderText(words)
    if field.findChild(Hint) is None:
        Hint(field)
