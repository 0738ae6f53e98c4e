"""When the window was painted first, for the log of `--debug`."""

from __future__ import annotations

import logging
import time

import psutil
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget

log = logging.getLogger(__name__)


class FirstPaint(QObject):
    """Watches one widget, and goes."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Paint:
            self._widget.removeEventFilter(self)
            QTimer.singleShot(0, self._tell)
        return False

    def _tell(self) -> None:
        seconds = time.time() - psutil.Process().create_time()
        log.debug("the window was painted after %.3f s", seconds)
        self.deleteLater()
