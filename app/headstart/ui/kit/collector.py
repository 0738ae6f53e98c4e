"""Collects cycles while a window is open, between events. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer

from headstart.core import collecting

# ms between two looks: a collection looks at what was made meanwhile
_EVERY = 300


class CycleCollector(QObject):
    """Takes the place of Python's own collector until it is deleted."""

    def __init__(self, parent: QObject | None) -> None:
        super().__init__(parent)
        self._steps = collecting.Steps()
        collecting.freeze()
        timer = QTimer(self, interval=_EVERY)
        timer.timeout.connect(self._steps.step)
        timer.start()
