"""Formats of answers, checked as they are typed. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from headstart.chat.answer_formats import CheckedFormat, check
from headstart.ui.kit.tasks import Tasks


class FormatsController(QObject):
    checked = Signal(CheckedFormat)

    def __init__(self, tasks: Tasks) -> None:
        super().__init__()
        self._tasks = tasks

    def check(self, schema: str) -> None:
        self._tasks.spawn(self._check(schema))

    async def _check(self, schema: str) -> None:
        self.checked.emit(await check(schema))
