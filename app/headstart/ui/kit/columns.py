"""A layout of equal columns, as many as have room. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QApplication, QStyle, QWidget

from headstart.ui.kit.flow import ItemsLayout

_ACROSS, _DOWN = 24, 8


class ColumnsLayout(ItemsLayout):
    """Places widgets row by row in at most `most` columns; fewer where one would be cut."""

    def __init__(self, parent: QWidget, most: int) -> None:
        super().__init__(parent)
        self._most = most

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation.Horizontal

    def heightForWidth(self, width: int) -> int:
        lines = -(-len(self._items) // self._columns(width))
        return lines * (self._cell().height() + _DOWN) - _DOWN if lines else 0

    def minimumSize(self) -> QSize:
        return self._cell()

    def sizeHint(self) -> QSize:
        wide = self._most * (self._cell().width() + _ACROSS) - _ACROSS
        return QSize(wide, self.heightForWidth(wide))

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        columns, height = self._columns(rect.width()), self._cell().height()
        width = (rect.width() + _ACROSS) // columns - _ACROSS
        for number, item in enumerate(self._items):
            down, across = divmod(number, columns)
            corner = rect.topLeft() + QPoint(across * (width + _ACROSS), down * (height + _DOWN))
            area = QRect(corner, QSize(width, height))
            item.setGeometry(QStyle.visualRect(QApplication.layoutDirection(), rect, area))

    def _cell(self) -> QSize:
        """The size in which each widget is whole."""
        size = QSize()
        for item in self._items:
            high = QSize(0, item.sizeHint().height())
            size = size.expandedTo(item.minimumSize()).expandedTo(high)
        return size

    def _columns(self, width: int) -> int:
        fit = (width + _ACROSS) // max(1, self._cell().width() + _ACROSS)
        return max(1, min(self._most, fit))
