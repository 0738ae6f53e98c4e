"""Heights that follow the size of the text. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from headstart.ui.kit import theme


class _Height(QObject):
    """A child of its widget, so that both end together."""

    def __init__(self, widget: QWidget, height: int) -> None:
        super().__init__(widget)
        self._widget, self._height = widget, height
        theme.follow(self._measure)

    def _measure(self) -> None:
        self._widget.setFixedHeight(theme.px(self._height))


def keep_height(widget: QWidget, height: int) -> None:
    """Keep this height, in pixels with text at 100 %."""
    _Height(widget, height)
