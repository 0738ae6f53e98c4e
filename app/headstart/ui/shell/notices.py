"""The banner above the composer and the short-lived toast with an undo."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from msgspec import Struct
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QToolButton,
    QWidget,
)

from headstart.core.events import NoticeKind
from headstart.ui.kit import icons
from headstart.ui.kit.aloud import tell
from headstart.ui.wording import say

TOAST_MS = 8000
# a notice without an undo leaves sooner, so that an undo that it covers is still possible
PLAIN_MS = 4000
# pixels between the toast and the edges of its pane
_MARGIN = 12


class Banner(QFrame):
    """A notice that stays until it is dismissed or replaced. The notice of the start stays above
    others until dismissed: the user may not have read it yet. If it is about a chat, it is shown
    there only."""

    closed = Signal()
    answered = Signal()  # the user dismissed it, or used its button
    covers = Signal(bool)  # True if shown, False if hidden

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        self.kind: NoticeKind | None = None
        self._at_start = ""
        # the chat that the notice of the start is about, and whether it is the open one
        self._chat, self._here, self.of_chat = "", True, False
        self._label = QLabel(self)
        self._label.setWordWrap(True)
        self._label.setTextFormat(Qt.TextFormat.PlainText)
        self._action = QPushButton(self)
        self._action.setAccessibleName(say("shell.suggested-action"))
        self._action.hide()
        self._act: Callable[[], None] = lambda: None
        self._action.clicked.connect(self._on_action)
        self._close = QToolButton(self)
        self._close.setIcon(icons.icon("x", "warning"))
        self._close.setAccessibleName(say("shell.dismiss-notice"))
        self._close.clicked.connect(self.dismiss)
        self._close.clicked.connect(self.answered)
        # below the text, which needs the width in a narrow window
        layout = QGridLayout(self)
        layout.setContentsMargins(12, 6, 6, 6)
        layout.setColumnStretch(0, 1)
        layout.addWidget(self._label, 0, 0)
        layout.addWidget(self._close, 0, 1, Qt.AlignmentFlag.AlignVCenter)
        layout.addWidget(self._action, 1, 0, 1, 2, Qt.AlignmentFlag.AlignLeft)
        self.hide()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.covers.emit(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.covers.emit(False)

    def show_text(self, kind: NoticeKind, text: str, of_chat: bool = False) -> None:
        """`of_chat`: the notice of the start is about the chat that was open last."""
        self.kind = kind
        if kind is NoticeKind.START:
            self._at_start = text
            self._chat, self._here, self.of_chat = "", True, of_chat
        elif self._at_start and self._here:
            text = f"{self._at_start}\n\n{text}"
        if text != self._label.text():
            self._action.hide()
        self._label.setText(text)
        self.setAccessibleName(text)
        self.show()
        tell(self, text, urgent=True)

    def belong(self, chat_id: str, open_id: str) -> None:
        """Show the notice of the start in this chat only; `open_id`: the chat that is open."""
        if self._at_start:
            self._chat = chat_id
            self.show_in(open_id)

    def show_in(self, chat_id: str) -> None:
        """Another chat is open: the notice of the start is shown there if it is about it."""
        if not self._chat or not self._at_start:
            return
        self._here = chat_id == self._chat
        if self.kind is NoticeKind.START:
            self.setVisible(self._here)

    def offer(self, label: str, act: Callable[[], None]) -> None:
        """Add a button to the notice, for as long as that is shown."""
        self._act = act
        self._action.setText(label)
        self._action.setAccessibleName(label)
        self._action.show()

    def act(self) -> None:
        self._action.click()

    def _on_action(self) -> None:
        self.withdraw()
        self._act()
        self.answered.emit()

    def text(self) -> str:
        return self._label.text()

    def withdraw(self) -> None:
        """Withdraw the notice, which no longer applies."""
        if self._at_start and self.kind is not NoticeKind.START:
            chat, here, of_chat = self._chat, self._here, self.of_chat
            self.show_text(NoticeKind.START, self._at_start)
            self._chat, self._here, self.of_chat = chat, here, of_chat
            self.setVisible(here)
        else:
            self.dismiss()

    def dismiss(self) -> None:
        self.kind, self._at_start = None, ""
        self._chat, self._here = "", True
        self._label.clear()
        self._action.hide()
        self.hide()
        self.closed.emit()


class _Offer(Struct, frozen=True):
    """A finished action, its undo, its expiry (monotonic seconds), and the id of its subject."""

    text: str
    undo: Callable[[], None] | None
    until: float
    about: str


class Toast(QFrame):
    """Tells of a finished action and offers to undo it, for a while, at the foot of the visible one
    of `over`. After the last one is undone, the one before is offered again until it expires."""

    undone = Signal()

    def __init__(self, *over: QWidget) -> None:
        super().__init__(over[0].parentWidget())
        self._over = over
        self.setObjectName("toast")
        self._label = QLabel(self)
        self._label.setTextFormat(Qt.TextFormat.PlainText)
        self._label.setWordWrap(True)
        self._button = QPushButton(say("shell.undo"), self)
        self._button.clicked.connect(self._on_undo)
        # the last one is shown
        self._offers: list[_Offer] = []
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(14, 6, 6, 6)
        self._row.setSpacing(12)
        self._row.addWidget(self._label, 1)
        self._row.addWidget(self._button)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(TOAST_MS)
        self._timer.timeout.connect(self._end)
        self.hide()

    def show_text(self, text: str, undo: Callable[[], None] | None = None, about: str = "") -> None:
        self._offers = [offer for offer in self._offers if offer.undo is not None]
        lasts = TOAST_MS if undo is not None else PLAIN_MS
        self._offers.append(_Offer(text, undo, time.monotonic() + lasts / 1000, about))
        self._show_last()
        tell(self, text)

    def withdraw(self, about: Collection[str]) -> None:
        """Withdraw the undo of these ids."""
        shown = self._offers[-1] if self._offers else None
        self._offers = [offer for offer in self._offers if offer.about not in about]
        if shown is not None and shown not in self._offers:
            self._leave()

    def _show_last(self) -> None:
        offer = self._offers[-1]
        self._label.setText(offer.text)
        self._timer.setInterval(max(1, round(1000 * (offer.until - time.monotonic()))))
        self._button.setVisible(offer.undo is not None)
        self.place()
        self.show()
        self.raise_()
        self._timer.start()

    def place(self) -> None:
        """Place it at the foot, as wide as its text, or as the room in a narrow window."""
        # a hidden widget still has its old geometry
        shown = next((one for one in self._over if not one.isHidden()), self._over[0])
        area = shown.geometry()
        button = self._button.sizeHint().width() if not self._button.isHidden() else 0
        words = self._label.fontMetrics().horizontalAdvance(self._label.text())
        margins = self._row.contentsMargins()
        around = margins.left() + margins.right() + self._row.spacing() + button
        width = min(area.width() - 2 * _MARGIN, words + around + _MARGIN)
        self.resize(width, max(self.heightForWidth(width), self.minimumSizeHint().height()))
        x = area.center().x() - self.width() // 2
        self.move(x, area.bottom() - self.height() - _MARGIN)

    def undo(self) -> None:
        self._button.click()

    def _end(self) -> None:
        if self._offers:
            self._offers.pop()
        self._leave()

    def _on_undo(self) -> None:
        offer = self._offers.pop()
        self._leave()
        if offer.undo is not None:
            offer.undo()
        self.undone.emit()

    def _leave(self) -> None:
        """Hide the toast, or show the previous action while it can be undone."""
        self._timer.stop()
        self.hide()
        now = time.monotonic()
        self._offers = [offer for offer in self._offers if offer.until > now]
        if self._offers:
            self._show_last()
