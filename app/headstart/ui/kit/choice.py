"""A combo box that every screen reader names, and that may be narrower than its choices. Main
thread."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPaintEvent, QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QToolTip,
    QWidget,
)

from headstart.ui.kit.tips import plain_tip

# width in pixels below which a choice is not read
_LEAST = 110


class Choice(QComboBox):
    """On Linux Qt gives a combo box its value as its name, and takes the name from a label beside
    it: a choice without a visible label brings one that is never shown."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._spoken: QLabel | None = None
        # what is around it hears of other choices
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)

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

    def whole_width(self) -> int:
        """The width in pixels in which each choice is read whole."""
        words = (self.itemText(row) for row in range(self.count()))
        widest = max((self.fontMetrics().horizontalAdvance(one) for one in words), default=0)
        return widest + self.width() - self._room() + 2

    def _room(self) -> int:
        """The width of the words in pixels."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        kind, field = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        return self.style().subControlRect(kind, option, field, self).width()

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ToolTip and not self.toolTip():
            words = self.currentText()
            assert isinstance(event, QHelpEvent)
            if self.fontMetrics().horizontalAdvance(words) > self._room():
                QToolTip.showText(event.globalPos(), plain_tip(words), self)
                return True
        return super().event(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        option.currentText = self.fontMetrics().elidedText(
            self.currentText(), Qt.TextElideMode.ElideRight, self._room()
        )
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)

    def showPopup(self) -> None:
        self.view().setAccessibleName(self.accessibleName())
        super().showPopup()
