"""One-line texts, cut with an ellipsis to the available width. Main thread.

`full_text` is a widget's whole text, its own `text` the visible part.
"""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QLabel,
    QPushButton,
    QWidget,
)

from headstart.core.text.shown import at_start, isolated

# width in pixels below which a text is of no use
_LEAST = 56


class ElidedLabel(QLabel):
    def __init__(
        self,
        text: str = "",
        parent: QWidget | None = None,
        least: int = _LEAST,
        name: str = "",
    ) -> None:
        """`least`: pixels reserved for the text if needed; `name`: for the style sheet, which
        measuring applies."""
        super().__init__(parent)
        self.setObjectName(name)
        self.full_text = ""
        self._least = least
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.set_full_text(text)

    def set_full_text(self, text: str) -> None:
        self.full_text = text
        self.setAccessibleName(text)
        self.updateGeometry()
        _elide(self, super().sizeHint(), text)

    def sizeHint(self) -> QSize:
        return _whole(self, super().sizeHint(), self.full_text)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint().boundedTo(QSize(self._least, 1 << 20))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        _elide(self, super().sizeHint(), self.full_text)


class ElidedButton(QPushButton):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.full_text = ""

    def set_full_text(self, text: str) -> None:
        self.full_text = text
        self.updateGeometry()
        _elide(self, super().sizeHint(), text)

    def sizeHint(self) -> QSize:
        return _whole(self, super().sizeHint(), self.full_text)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint().boundedTo(QSize(2 * _LEAST, 1 << 20))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        _elide(self, super().sizeHint(), self.full_text)


def _whole(widget: QLabel | QPushButton, hint: QSize, full: str) -> QSize:
    """The size for the whole text; `hint`: the size for the visible part."""
    width = widget.fontMetrics().horizontalAdvance
    # a pixel more: widths are rounded, and a text that is a fraction too wide is cut
    return QSize(hint.width() + width(full) - width(widget.text()) + 1, hint.height())


def _elide(widget: QLabel | QPushButton, hint: QSize, full: str) -> None:
    """Show as much of the text as fits; `hint`: the size that includes the margins."""
    metrics = widget.fontMetrics()
    room = widget.width() - (hint.width() - metrics.horizontalAdvance(widget.text()))
    cut = metrics.elidedText(full, Qt.TextElideMode.ElideRight, room)
    shown = at_start(cut) if isinstance(widget, QLabel) else isolated(cut)
    if shown != widget.text():
        widget.setText(shown)
