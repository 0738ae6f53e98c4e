"""A combo box that every screen reader names, and that may be narrower than its choices. Main
thread."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPaintEvent, QShowEvent
from PySide6.QtWidgets import QComboBox, QLabel, QStyle, QStyleOptionComboBox, QStylePainter

# width in pixels below which a choice is not read
_LEAST = 110


class Choice(QComboBox):
    """On Linux Qt gives a combo box its value as its name, and takes the name from a label beside
    it: a choice without a visible label brings one that is never shown."""

    _spoken: QLabel | None = None

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        parent, name = self.parentWidget(), self.accessibleName()
        if parent is None or not name:
            return
        beside = parent.findChildren(QLabel, options=Qt.FindChildOption.FindDirectChildrenOnly)
        if all(one.buddy() is not self or one is self._spoken for one in beside):
            if self._spoken is None or self._spoken not in beside:
                self._spoken = QLabel(parent)
                self._spoken.hide()
                self._spoken.setBuddy(self)
            self._spoken.setAccessibleName(name)

    def minimumSizeHint(self) -> QSize:
        return super().minimumSizeHint().boundedTo(QSize(_LEAST, 1 << 20))

    def paintEvent(self, _event: QPaintEvent) -> None:
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        field = QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, field, self)
        option.currentText = self.fontMetrics().elidedText(
            self.currentText(), Qt.TextElideMode.ElideRight, room.width()
        )
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)

    def showPopup(self) -> None:
        self.view().setAccessibleName(self.accessibleName())
        super().showPopup()
