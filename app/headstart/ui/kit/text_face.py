"""Texts that paint themselves, for screen readers: by characters, words and lines, with their
places. Main thread.

Offsets are UTF-16 units, as everywhere in Qt.
"""

from __future__ import annotations

from typing import Any, Protocol, cast

import shiboken6
from PySide6.QtCore import QPoint, QPointF, QRect, QSize
from PySide6.QtGui import QAccessible, QAccessibleTextInterface
from PySide6.QtWidgets import QAccessibleWidget, QWidget


class Read(Protocol):
    """A text in a widget."""

    @property
    def text(self) -> str: ...

    @property
    def selection(self) -> tuple[int, int] | None:
        """The selected part: from, to."""
        ...

    def position_at(self, point: QPointF) -> int:
        """The character nearest to a point of the widget."""
        ...

    def place_of(self, position: int) -> QRect:
        """The place of a character in the widget."""
        ...


class HasText(Protocol):
    def heard(self) -> Read: ...


class TextFace(QAccessibleWidget, QAccessibleTextInterface):
    """A widget that `HasText`. Python has one method `text` for two interfaces: with one argument
    it is the widget's, with two the text's."""

    def __init__(self, widget: QWidget, role: QAccessible.Role) -> None:
        QAccessibleWidget.__init__(self, widget, role)
        QAccessibleTextInterface.__init__(self)
        self._widget = widget

    @property
    def _read(self) -> Read:
        return cast(HasText, self._widget).heard()

    def _units(self) -> bytes:
        return self._read.text.encode("utf-16-le", "surrogatepass")

    def interface_cast(self, kind: QAccessible.InterfaceType) -> Any:
        if kind == QAccessible.InterfaceType.TextInterface:
            # the second base class, as C++ sees it
            return shiboken6.VoidPtr(shiboken6.getCppPointer(self)[1])
        found = QAccessibleWidget.interface_cast(self, kind)
        # None would become an address
        return shiboken6.VoidPtr(0) if found is None else found

    def state(self) -> QAccessible.State:
        state = QAccessibleWidget.state(self)
        state.selectableText = 1
        state.readOnly = 1
        state.multiLine = 1
        return state

    def text(self, *wanted: Any) -> str:
        if len(wanted) == 1:
            return QAccessibleWidget.text(self, wanted[0])
        begin, end = wanted
        units = self._units()
        end = len(units) // 2 if end < 0 else end
        return units[2 * max(0, begin) : 2 * end].decode("utf-16-le", "replace")

    def characterCount(self) -> int:
        return len(self._units()) // 2

    def characterRect(self, offset: int) -> QRect:
        place = self._read.place_of(offset)
        return QRect(self._widget.mapToGlobal(place.topLeft()), place.size() or QSize(1, 1))

    def offsetAtPoint(self, point: QPoint) -> int:
        return self._read.position_at(QPointF(self._widget.mapFromGlobal(point)))

    def selectionCount(self) -> int:
        return 0 if self._read.selection is None else 1

    def selection(self, _index: int) -> tuple[int, int]:
        return self._read.selection or (0, 0)

    # the transcript owns the selection, and a text that is shown has no caret

    def addSelection(self, _begin: int, _end: int) -> None:
        pass

    def removeSelection(self, _index: int) -> None:
        pass

    def setSelection(self, _index: int, _begin: int, _end: int) -> None:
        pass

    def cursorPosition(self) -> int:
        return 0

    def setCursorPosition(self, _position: int) -> None:
        pass

    def scrollToSubstring(self, _begin: int, _end: int) -> None:
        pass

    def attributes(self, _offset: int) -> tuple[str, int, int]:
        return "", 0, self.characterCount()
