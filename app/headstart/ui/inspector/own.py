"""Dot and reset button of a setting that the chat overrides."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from headstart.ui.kit.choice import Choice
from headstart.ui.kit.fields import ResetButton
from headstart.ui.kit.own_title import OwnTitle
from headstart.ui.wording import say

BACK = "inspector.follow-again"
# between the parts of a row, in pixels
_GAP = 8


class OwnRow(QWidget):
    """A title, a control, and a reset button. Emits `reset`."""

    reset = Signal()

    def __init__(
        self,
        title: str,
        control: QWidget,
        parent: QWidget | None = None,
        width: int = 0,
        section: bool = False,
    ) -> None:
        super().__init__(parent)
        self.title = OwnTitle(title, self, section)
        self.title.setMinimumWidth(width)
        self.title.setBuddy(control)
        self.button = back_button(title, self)
        self.button.clicked.connect(self.reset)
        self._control = control
        self._below = False
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(_GAP)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        self._grid.addWidget(self.title, 0, 0)
        self._grid.addWidget(control, 0, 1)
        self._grid.addWidget(self.button, 0, 2)

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self._arrange()
        return super().event(event)

    def _arrange(self) -> None:
        """Put a choice below its title where one of its texts would be cut beside it."""
        if not isinstance(self._control, Choice):
            return
        beside = self.width() - self.button.width() - 2 * _GAP - self.title.wanted_width()
        below = self._control.whole_width() > beside
        if below != self._below:
            self._below = below
            for widget in (self.title, self._control, self.button):
                self._grid.removeWidget(widget)
            self._grid.addWidget(self.title, 0, 0, 1, 3 if below else 1)
            place = (1, 0, 1, 2) if below else (0, 1, 1, 1)
            self._grid.addWidget(self._control, *place)
            # Tab goes from the choice to it
            self._grid.addWidget(self.button, 1 if below else 0, 2)

    def set_own(self, own: bool) -> None:
        self.title.set_own(own)
        self.button.setEnabled(own)


def back_button(title: str, parent: QWidget) -> ResetButton:
    button = ResetButton(title, parent)
    button.setToolTip(say(BACK))
    button.setEnabled(False)
    return button
