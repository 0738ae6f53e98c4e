"""Queued messages, which wait for the reply before them: a line for each, above the composer.
Main thread."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from headstart.ui.kit.elided import ElidedLabel
from headstart.ui.kit.tips import plain_tip
from headstart.ui.kit.tool import small_tool
from headstart.ui.queue import Queued
from headstart.ui.wording import say


class QueuedLine(QFrame):
    edited = Signal()
    removed = Signal()

    def __init__(self, one: Queued, number: int, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("queued")
        self.setAccessibleName(
            say("composer.waiting-message-number-words", number=number, words=one.words)
        )
        label = QLabel(
            say("composer.next") if number == 1 else say("composer.then-number", number=number),
            self,
        )
        label.setObjectName("quiet")
        words = ElidedLabel(one.words, self, 80)
        words.setToolTip(plain_tip(one.text))
        self.edit = small_tool(self, "pencil", name=say("composer.edit-message"))
        self.remove = small_tool(self, "x", name=say("composer.do-not-send-message"))
        self.edit.clicked.connect(self.edited)
        self.remove.clicked.connect(self.removed)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 3, 6, 3)
        row.setSpacing(8)
        row.addWidget(label)
        row.addWidget(words, 1)
        row.addWidget(self.edit)
        row.addWidget(self.remove)


class QueuedRows(QWidget):
    """Hidden while the queue is empty; the signals carry a message's position in it."""

    edited = Signal(int)
    removed = Signal(int)
    send_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        self.lines: list[QueuedLine] = []
        # for a user who stopped the reply but wants the queued messages sent all the same
        self.send = QPushButton(say("composer.send-waiting-messages"), self)
        self.send.setObjectName("row")
        self.send.clicked.connect(self.send_wanted)
        self.send.hide()
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.send)
        self._column.addLayout(row)
        self._writing = False
        self.hide()

    def show_queue(self, queue: Sequence[Queued]) -> None:
        for line in self.lines:
            self._column.removeWidget(line)
            line.hide()
            line.deleteLater()
        self.lines = []
        for number, one in enumerate(queue):
            line = QueuedLine(one, number + 1, self)
            line.edited.connect(lambda number=number: self.edited.emit(number))
            line.removed.connect(lambda number=number: self.removed.emit(number))
            self._column.insertWidget(number, line)
            self.lines.append(line)
        self.setVisible(bool(queue))
        self._show_send()

    def set_writing(self, writing: bool) -> None:
        self._writing = writing
        self._show_send()

    def _show_send(self) -> None:
        self.send.setVisible(bool(self.lines) and not self._writing)
