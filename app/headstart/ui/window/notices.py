"""The banner above the composer and the short-lived toast with an undo."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton, QWidget

from headstart.ui import icons, theme

TOAST_MS = 8000
# what cannot be undone leaves sooner: an undo that it covers is still possible then
PLAIN_MS = 4000
START = "start"


class Banner(QFrame):
    """A notice that stays until it is dismissed or replaced. What was told at the start stays above
    others until it is dismissed: nobody may have read it yet."""

    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        self.kind = ""
        self._at_start = ""
        self._label = QLabel(self)
        self._label.setWordWrap(True)
        self._label.setTextFormat(Qt.TextFormat.PlainText)
        self._close = QToolButton(self)
        self._close.setAccessibleName("Dismiss this notice")
        self._close.clicked.connect(self.dismiss)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 6, 6, 6)
        layout.addWidget(self._label, 1)
        layout.addWidget(self._close)
        self.hide()

    def show_text(self, kind: str, text: str) -> None:
        self.kind = kind
        if kind == START:
            self._at_start = text
        elif self._at_start:
            text = f"{self._at_start}\n\n{text}"
        self._label.setText(text)
        self.refresh_theme()
        self.setAccessibleName(text)
        self.show()

    def refresh_theme(self) -> None:
        self._close.setIcon(icons.icon("x", theme.current().warning))

    def text(self) -> str:
        return self._label.text()

    def withdraw(self) -> None:
        """What was told does not hold any more."""
        if self._at_start and self.kind != START:
            self.show_text(START, self._at_start)
        else:
            self.dismiss()

    def dismiss(self) -> None:
        self.kind = self._at_start = ""
        self.hide()
        self.closed.emit()


class Toast(QFrame):
    """Says what was done and offers to undo it, at the foot of `over`; goes after a while. What was
    done before comes back when the last was undone, as long as it can be."""

    undone = Signal()

    def __init__(self, over: QWidget) -> None:
        super().__init__(over.parentWidget())
        self._over = over
        self.setObjectName("toast")
        self._label = QLabel(self)
        self._label.setTextFormat(Qt.TextFormat.PlainText)
        self._button = QPushButton("Undo", self)
        self._button.clicked.connect(self._on_undo)
        # text, what undoes it, until when (monotonic seconds); the last one is shown
        self._offers: list[tuple[str, Callable[[], None] | None, float]] = []
        layout = QHBoxLayout(self)
        layout.setContentsMargins(14, 6, 6, 6)
        layout.setSpacing(12)
        layout.addWidget(self._label)
        layout.addWidget(self._button)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(TOAST_MS)
        self._timer.timeout.connect(self._end)
        self.hide()

    def show_text(self, text: str, undo: Callable[[], None] | None = None) -> None:
        self._offers = [offer for offer in self._offers if offer[1] is not None]
        lasts = TOAST_MS if undo is not None else PLAIN_MS
        self._offers.append((text, undo, time.monotonic() + lasts / 1000))
        self._show_last()

    def _show_last(self) -> None:
        text, undo, until = self._offers[-1]
        self._label.setText(text)
        self._timer.setInterval(max(1, round(1000 * (until - time.monotonic()))))
        self._button.setVisible(undo is not None)
        self.adjustSize()
        self.place()
        self.show()
        self.raise_()
        self._timer.start()

    def place(self) -> None:
        area = self._over.geometry()
        x = area.center().x() - self.width() // 2
        self.move(x, area.bottom() - self.height() - 12)

    def undo(self) -> None:
        self._button.click()

    def _end(self) -> None:
        self._offers.pop()
        self.hide()
        self._show_earlier()

    def _on_undo(self) -> None:
        self.hide()
        _, undo, _ = self._offers.pop()
        if undo is not None:
            undo()
        self._show_earlier()
        self.undone.emit()

    def _show_earlier(self) -> None:
        """What was done before, as long as it can be undone."""
        now = time.monotonic()
        self._offers = [offer for offer in self._offers if offer[2] > now]
        if self._offers:
            self._show_last()
