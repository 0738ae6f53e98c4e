"""A layout that puts widgets side by side, and wraps them onto new lines. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QMargins, QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QApplication, QLayout, QLayoutItem, QStyle, QWidget

from headstart.ui.kit.focus import in_reading_order

_GAP = 8


def in_lines(parent: QWidget, *widgets: QWidget, wants_one: bool = False) -> QWidget:
    """Widgets side by side, on as many lines as they need; `wants_one`: the place asks for the
    width of one line, beside what may grow."""
    place = QWidget(parent)
    layout = FlowLayout(place, wants_one)
    for widget in widgets:
        layout.addWidget(widget)
    in_reading_order(*widgets)
    return place


class ItemsLayout(QLayout):
    """Keeps its items in a list, without margins; subclasses place them."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(QMargins())

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def hasHeightForWidth(self) -> bool:
        return True


class FlowLayout(ItemsLayout):
    def __init__(self, parent: QWidget, wants_one: bool = False) -> None:
        super().__init__(parent)
        self._wants_one = wants_one

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def heightForWidth(self, width: int) -> int:
        return self._place(QRect(0, 0, width, 0), moves=False)

    def sizeHint(self) -> QSize:
        if not self._wants_one:
            return self.minimumSize()
        hints = [item.sizeHint() for item in self._items]
        width = sum(hint.width() for hint in hints) + (len(hints) - 1) * _GAP
        return QSize(width, max(hint.height() for hint in hints))

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect, moves=True)

    def _place(self, rect: QRect, moves: bool) -> int:
        """Lay out the items, and move them if `moves`; return their total height."""
        x, y, line = rect.x(), rect.y(), 0
        for item in self._items:
            hint = item.sizeHint()
            width = min(hint.width(), rect.width())
            if line and x + width > rect.right() + 1:
                x, y, line = rect.x(), y + line + _GAP, 0
            if moves:
                own = QRect(QPoint(x, y), QSize(width, hint.height()))
                item.setGeometry(QStyle.visualRect(QApplication.layoutDirection(), rect, own))
            x += width + _GAP
            line = max(line, hint.height())
        return y + line - rect.y()
