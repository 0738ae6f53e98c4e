"""Search results as a list: a line per chat, below it the latest messages with the matches marked
and the number of further ones, and below all chats the best passages of files."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import (
    QAbstractListModel,
    QPointF,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QListView, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from headstart.core.chats.parts import PassagePart
from headstart.core.chats.search import FoundChat, SearchHit
from headstart.core.text.shown import isolated
from headstart.core.text.units import spans_in_units, units
from headstart.ui.kit import theme
from headstart.ui.kit.focus_ring import OWN_FOCUS
from headstart.ui.kit.mirrored import draw_words
from headstart.ui.kit.row_ground import paint_ground
from headstart.ui.kit.typed import is_typed
from headstart.ui.kit.when import when_text
from headstart.ui.sidebar.chat_list import Index
from headstart.ui.source_words import passage_place
from headstart.ui.wording import say

_ROW = int(Qt.ItemDataRole.UserRole)
_WHO = {
    "user": "sidebar.you",
    "assistant": "sidebar.model",
    "system": "sidebar.system",
    "file": "sidebar.file",
}
# lines of a snippet
_LINES = 2


class ResultRow(Struct, frozen=True):
    """A chat, one of its messages, the number of further ones, the heading over files, a passage
    of a file, or the way to all of them."""

    chat: FoundChat | None = None
    message: SearchHit | None = None
    more: int = 0
    passage: PassagePart | None = None
    snippet: str = ""
    words: str = ""
    all_files: bool = False

    @property
    def shown(self) -> str:
        """The row in words."""
        if self.passage is not None:
            return f"{passage_place(self.passage)}: {self.snippet}"
        if self.message is not None:
            return self.message.snippet.text
        if self.chat is None:
            return self.words
        if self.more:
            only = not self.chat.messages
            return say("sidebar.count-messages" if only else "sidebar.and-count", count=self.more)
        return self.chat.title


class SearchResultsModel(QAbstractListModel):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: list[ResultRow] = []
        self._chats: list[FoundChat] = []
        self._passages: list[tuple[PassagePart, str]] = []

    def set_found(self, found: Sequence[FoundChat]) -> None:
        self._chats = list(found)
        self._show()

    def add_places(self, chat_id: str, messages: Sequence[SearchHit]) -> None:
        """Add further messages to those of a chat, after them."""
        for number, chat in enumerate(self._chats):
            if chat.chat_id == chat_id and chat.more:
                shown = (*chat.messages, *messages)
                # what was deleted meanwhile is not found any more
                more = max(0, chat.more - len(messages)) if messages else 0
                self._chats[number] = replace(chat, messages=shown, more=more)
        self._show()

    def set_passages(self, found: Sequence[tuple[PassagePart, str]]) -> None:
        """Set the best passages of files, each with its snippet."""
        self._passages = list(found)
        self._show()

    def _show(self) -> None:
        self.beginResetModel()
        self._rows = []
        for chat in self._chats:
            self._rows.append(ResultRow(chat))
            self._rows += [ResultRow(chat, message) for message in chat.messages]
            if chat.more:
                self._rows.append(ResultRow(chat, more=chat.more))
        if self._passages:
            self._rows.append(ResultRow(words=say("sidebar.in-your-files")))
            self._rows += [
                ResultRow(passage=passage, snippet=snippet) for passage, snippet in self._passages
            ]
            self._rows.append(ResultRow(words=say("sidebar.all-in-files"), all_files=True))
        self.endResetModel()

    def row(self, index: Index) -> ResultRow | None:
        return self._rows[index.row()] if index.isValid() else None

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        row = self.row(index)
        if row is None:
            return None
        if role == _ROW:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return row.shown
        return None


class SearchResultsDelegate(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row = index.data(_ROW)
        if row.message is not None or row.passage is not None:
            return QSize(200, theme.px(16 * _LINES + 14))
        return QSize(200, theme.px(24 if row.more or row.all_files else 40))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: ResultRow = index.data(_ROW)
        colours, area = theme.current(), option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(painter, option.rect, option.state)
        if row.message is not None:
            _paint_message(painter, area.adjusted(16, 5, -8, -3), row.message)
        elif row.passage is not None:
            head = f"{isolated(passage_place(row.passage))}: "
            _paint_excerpt(painter, area.adjusted(16, 5, -8, -3), head, row.snippet, ())
        elif row.more or row.all_files:
            _paint_line(painter, area.adjusted(16, 0, -8, 0), row.shown, colours.accent_text)
        elif row.chat is not None:
            _paint_chat(painter, area.adjusted(8, 10, -8, 0), row.chat)
        else:
            _paint_line(painter, area.adjusted(8, 10, -8, 0), row.shown, colours.quiet)
        painter.restore()


class ResultsView(QListView):
    """Emits the chosen chat, or the chosen message with the text found in it."""

    chat_chosen = Signal(str)
    message_chosen = Signal(str, str, str)
    # further messages of a chat, from a number on
    places_wanted = Signal(str, int)
    passage_chosen = Signal(PassagePart)
    all_files_chosen = Signal()
    # up from the first line
    left = Signal()
    entered = Signal()  # a result was clicked
    typed = Signal(str)  # text to add to the query

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.results = SearchResultsModel(self)
        self.setModel(self.results)
        self.setItemDelegate(SearchResultsDelegate(self))
        self.setObjectName("chatList")
        self.setProperty(OWN_FOCUS, True)
        self.setAccessibleName(say("sidebar.search-results"))
        self.setMouseTracking(True)
        self.setSpacing(1)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.clicked.connect(self._choose)
        self.clicked.connect(lambda _index: self.entered.emit())
        self.activated.connect(self._choose)

    def set_found(self, found: Sequence[FoundChat]) -> None:
        self.results.set_found(found)
        self.scrollToTop()

    def add_places(self, chat_id: str, messages: Sequence[SearchHit]) -> None:
        """Add further messages of a chat below those that are shown."""
        row, top = self.currentIndex().row(), self.verticalScrollBar().value()
        self.results.add_places(chat_id, messages)
        self.setCurrentIndex(self.results.index(row))
        self.verticalScrollBar().setValue(top)

    def choose_first(self) -> None:
        """Choose the first message found, or the first chat."""
        for number in (1, 0):
            index = self.results.index(number)
            row = self.results.row(index)
            if row is not None and (row.message is not None or number == 0):
                self.setCurrentIndex(index)
                self._choose(index)
                return

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if is_typed(event):
            self.typed.emit(event.text())
        elif event.key() == Qt.Key.Key_Up and self.currentIndex().row() <= 0:
            self.left.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _choose(self, index: Index) -> None:
        row = self.results.row(index)
        if row is None:
            return
        if row.passage is not None:
            self.passage_chosen.emit(row.passage)
        elif row.all_files:
            self.all_files_chosen.emit()
        elif row.chat is not None and row.more:
            self.places_wanted.emit(row.chat.chat_id, len(row.chat.messages))
        elif row.chat is not None and row.message is None:
            self.chat_chosen.emit(row.chat.chat_id)
        if row.chat is None or row.message is None:
            return
        text, marks = row.message.snippet.text, row.message.snippet.marks
        found = text[marks[0][0] : marks[0][1]] if marks else ""
        self.message_chosen.emit(row.chat.chat_id, row.message.message_id, found)


def _paint_chat(painter: QPainter, area: QRect, chat: FoundChat) -> None:
    colours = theme.current()
    when = when_text(chat.updated_at)
    if chat.archived:
        when = say("sidebar.archived-when", when=when)
    small = theme.text_font(theme.SMALL_SIZE)
    room = QFontMetrics(small).horizontalAdvance(when) + 8
    _paint_line(painter, area, when, colours.quiet, ends=True)
    font = theme.text_font(theme.TEXT_SIZE, QFont.Weight.Medium)
    painter.setFont(font)
    painter.setPen(QColor(colours.ink))
    width = area.width() - room
    title = QFontMetrics(font).elidedText(chat.title, Qt.TextElideMode.ElideRight, width)
    draw_words(painter, area.adjusted(0, 0, -room, 0), title, area)


def _paint_line(
    painter: QPainter, area: QRect, text: str, colour: str, *, ends: bool = False
) -> None:
    painter.setFont(theme.text_font(theme.SMALL_SIZE))
    painter.setPen(QColor(colour))
    draw_words(painter, area, text, area, ends=ends)


def _paint_message(painter: QPainter, area: QRect, message: SearchHit) -> None:
    """Paint the author and the snippet."""
    who = _WHO.get("file" if message.kind == "file" else message.role, "")
    head = f"{say(who) if who else ''}: "
    _paint_excerpt(painter, area, head, message.snippet.text, message.snippet.marks)


def _paint_excerpt(
    painter: QPainter, area: QRect, head: str, shown: str, marks: Sequence[tuple[int, int]]
) -> None:
    """Paint a place and an excerpt in two lines, with matches in the accent colour."""
    colours = theme.current()
    words = isolated(shown)
    text = head + words
    # a direction mark may precede the text
    begins = units(head) + words.index(shown)
    layout = QTextLayout(text, theme.text_font(theme.SMALL_SIZE))
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.setFormats(
        [
            _range(0, units(head), colours.ink),
            *(
                _range(begins + begin, end - begin, colours.accent_text, marked=True)
                for begin, end, _ in spans_in_units(shown, ((*mark, None) for mark in marks))
            ),
        ]
    )
    layout.beginLayout()
    y = 0.0
    for _ in range(_LINES):
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(area.width())
        line.setPosition(QPointF(0, y))
        y += line.height()
    layout.endLayout()
    painter.setPen(QColor(colours.quiet))
    layout.draw(painter, area.topLeft())


def _range(start: int, length: int, colour: str, marked: bool = False) -> QTextLayout.FormatRange:
    form = QTextCharFormat()
    form.setForeground(QColor(colour))
    if marked:
        form.setFontWeight(QFont.Weight.DemiBold)
    found = QTextLayout.FormatRange()
    found.start, found.length, found.format = start, length, form
    return found
