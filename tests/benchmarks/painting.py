"""When something was painted, as benchmarks of the window wait for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget


class Painted(QObject):
    """Done when a widget is painted the next time that `ready` holds."""

    def __init__(self, widget: QWidget, ready: Callable[[], bool]) -> None:
        super().__init__()
        self._widget, self._ready = widget, ready
        self.done: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.Paint and self._ready() and not self.done.done():
            # after this event has been handled
            asyncio.get_running_loop().call_soon(self._finish)
        return False

    def _finish(self) -> None:
        if not self.done.done():
            self._widget.removeEventFilter(self)
            self.done.set_result(time.perf_counter())
