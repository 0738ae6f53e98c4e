"""The greeting of an empty chat: a question, and for new users some examples to click. Main
thread."""

from __future__ import annotations

from msgspec import Struct
from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtSvgWidgets import QSvgWidget
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from headstart.core.resources import resources
from headstart.ui.kit import icons, theme
from headstart.ui.kit.mirrored import draw_words, turned
from headstart.ui.wording import say

_LOGO, _HIGH, _INSET = 38, 72, 16
# width in px below which the examples are stacked, and height below which they are hidden
_TWO, _LOW = 560, 330


class Example(Struct, frozen=True):
    """Codes of its texts. A click sends `prompt`; if the example `waits`, it is put into the
    composer for the user to complete."""

    icon: str
    title: str
    about: str
    prompt: str
    waits: bool = False


EXAMPLES = (
    Example(
        "lightbulb",
        "shell.why-there-two-tides-day",
        "shell.explained-in-five-sentences",
        "shell.why-there-two-tides-day-explain",
    ),
    Example(
        "pencil",
        "shell.how-do-i-answer-rent",
        "shell.polite-letter-to-landlord",
        "shell.write-polite-letter-to-my",
    ),
    Example(
        "list-checks",
        "shell.what-do-my-notes-ask",
        "shell.to-do-list-from-text",
        "shell.make-to-do-list-of",
        waits=True,
    ),
    Example(
        "code",
        "shell.can-you-rename-photos-by",
        "shell.short-python-script",
        "shell.write-short-python-script-renames",
    ),
)


class ExampleCard(QPushButton):
    def __init__(self, example: Example, parent: QWidget) -> None:
        super().__init__(parent)
        self.example = example
        self.setAccessibleName(f"{say(example.title)} {say(example.about)}")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def sizeHint(self) -> QSize:
        return QSize(theme.px(314), theme.px(_HIGH))

    def minimumSizeHint(self) -> QSize:
        return QSize(theme.px(180), theme.px(_HIGH))

    def paintEvent(self, _event: QPaintEvent) -> None:
        colours = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        over = self.underMouse()
        frame = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        edge = colours.accent if self.hasFocus() else colours.edge if over else colours.line
        painter.setPen(QPen(QColor(edge), 1.5 if self.hasFocus() else 1))
        painter.setBrush(QColor(colours.code if over else colours.raised))
        painter.drawRoundedRect(frame, theme.RADIUS_CARD, theme.RADIUS_CARD)
        icon = icons.icon(self.example.icon, "accent")
        left = _INSET + 16 + _INSET
        whole = self.rect()
        icon.paint(painter, turned(QRect(_INSET + 4, 0, 18, self.height()), whole))
        title = theme.text_font(theme.TEXT_SIZE, QFont.Weight.Medium)
        small = theme.text_font(theme.SMALL_SIZE)
        room = self.width() - left - _INSET
        line, few = QFontMetrics(title), QFontMetrics(small)
        top = (self.height() - line.height() - few.height() - 3) // 2
        painter.setFont(title)
        painter.setPen(QColor(colours.ink))
        words = line.elidedText(say(self.example.title), Qt.TextElideMode.ElideRight, room)
        draw_words(painter, QRect(left + 4, top, room, line.height()), words, whole)
        painter.setFont(small)
        painter.setPen(QColor(colours.quiet))
        words = few.elidedText(say(self.example.about), Qt.TextElideMode.ElideRight, room)
        lower = QRect(left + 4, top + line.height() + 3, room, few.height())
        draw_words(painter, lower, words, whole)
        painter.end()


class Greeting(QWidget):
    """Stands in for the transcript while the chat is empty."""

    chosen = Signal(Example)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._logo = QSvgWidget(str(resources() / "icons" / "headstart.svg"), self)
        self._logo.setFixedSize(_LOGO, _LOGO)
        self.title = QLabel(self)
        self.title.setObjectName("greeting")
        self.title.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.title.setWordWrap(True)
        self.about = QLabel(self)
        self.about.setObjectName("quietText")
        self.about.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.about.setWordWrap(True)
        self.cards = [ExampleCard(one, self) for one in EXAMPLES]
        self._grid_place = QWidget(self)
        self._grid = QGridLayout(self._grid_place)
        self._grid.setContentsMargins(0, 20, 0, 0)
        self._grid.setSpacing(12)
        for card in self.cards:
            card.setParent(self._grid_place)
            card.clicked.connect(lambda _checked=False, card=card: self.chosen.emit(card.example))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 12, 24, 12)
        layout.setSpacing(6)
        layout.addStretch(2)
        layout.addWidget(self._logo, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addSpacing(14)
        layout.addWidget(self.title)
        layout.addWidget(self.about)
        layout.addWidget(self._grid_place, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(3)
        self._examples = True
        self._columns = 0
        theme.follow(self._restyle)

    def say(self, title: str, about: str, examples: bool) -> None:
        self.title.setText(title)
        self.about.setText(about)
        self._examples = examples
        self._arrange()

    def _restyle(self) -> None:
        self._columns = 0
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        columns = 2 if self.width() >= theme.px(_TWO) else 1
        high = self.height() >= theme.px(_LOW) + (0 if columns == 2 else theme.px(2 * _HIGH))
        self._grid_place.setVisible(self._examples and high)
        if columns != self._columns:
            self._columns = columns
            for number, card in enumerate(self.cards):
                self._grid.addWidget(card, number // columns, number % columns)
        width = min(theme.px(640), self.width() - 48)
        self._grid_place.setFixedWidth(max(1, width))
