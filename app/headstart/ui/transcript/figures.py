"""Stats of a reply: speed and gain in brief below it, all others in a card while the pointer or the
keyboard focus is on them. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QEnterEvent, QFocusEvent, QHideEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QToolButton, QWidget

from headstart.core.chats.values import TurnStats, gain_words
from headstart.ui.kit.joining import titled
from headstart.ui.kit.mirrored import across
from headstart.ui.transcript.words import figures_of, figures_text
from headstart.ui.wording import say

# px between the text and its card, and between the card and the window's edges
_GAP, _EDGE = 6, 8
# px between the text and the edge of its button
_PAD = 10


class Figures(QToolButton):
    """Brief stats at the right of the row below a reply."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("figures")
        self.setAccessibleName(say("transcript.figures-of-reply"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setCursor(Qt.CursorShape.WhatsThisCursor)
        self.stats: TurnStats | None = None
        self._card: FiguresCard | None = None
        self.clicked.connect(self._open)
        self.hide()

    def show_stats(self, stats: TurnStats | None, shown: str) -> None:
        """Show these stats; `shown` is the setting: "speed", "all" or "none"."""
        self.stats = stats
        text = "" if stats is None or shown == "none" else figures_text(stats, shown == "all")
        self.setText(text)
        if stats is not None:
            told = "; ".join(titled(name, value) for name, value in figures_of(stats))
            self.setAccessibleName(say("transcript.figures-of-reply-text", text=text))
            self.setAccessibleDescription(told)
        self.setVisible(bool(text))

    def place(self, y: int, width: int, height: int) -> None:
        hint = self.sizeHint()
        # the text is flush with the column's right edge
        left = width - hint.width() + _PAD
        left = across(left, hint.width(), width)
        self.setGeometry(left, y, hint.width(), max(height, hint.height()))

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._open()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._close()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._open()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._close()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._close()

    @property
    def card(self) -> FiguresCard | None:
        """The card, while it is shown."""
        return self._card

    def _open(self) -> None:
        if self.stats is not None and self._card is None:
            self._card = FiguresCard(self.stats, self.window())
            self._card.place_over(self)

    def _close(self) -> None:
        if self._card is not None:
            self._card.hide()
            self._card.deleteLater()
            self._card = None


class FiguresCard(QFrame):
    """A card with names and values of the stats, above them if there is room."""

    def __init__(self, stats: TurnStats, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("figuresCard")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        grid = QGridLayout(self)
        grid.setContentsMargins(16, 12, 16, 12)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(6)
        gain = gain_words(stats.against_plain)
        row = 0
        if gain:
            title = QLabel(say("transcript.gain-with-drafting", gain=gain), self)
            title.setObjectName("sectionTitle")
            grid.addWidget(title, row, 0, 1, 2)
            row += 1
        for name, value in figures_of(stats):
            label, text = QLabel(name, self), QLabel(value, self)
            label.setObjectName("quiet")
            text.setWordWrap(len(value) > 60)
            text.setMaximumWidth(380)
            grid.addWidget(label, row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(text, row, 1)
            row += 1

    def place_over(self, widget: QWidget) -> None:
        window = self.parentWidget()
        assert window is not None
        self.adjustSize()
        corner = widget.mapTo(window, QPoint(widget.width(), 0))
        x = min(corner.x() - self.width(), window.width() - self.width() - _EDGE)
        y = corner.y() - self.height() - _GAP
        if y < _EDGE:
            y = corner.y() + widget.height() + _GAP
        self.move(max(_EDGE, x), y)
        self.show()
        self.raise_()
