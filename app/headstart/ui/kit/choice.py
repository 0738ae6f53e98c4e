"""A combo box that every screen reader names. Main thread."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QComboBox, QLabel


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

    def showPopup(self) -> None:
        self.view().setAccessibleName(self.accessibleName())
        super().showPopup()
