"""One search field for chats, messages, models, commands, settings and help (Ctrl+K); Enter runs
the selected match. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from PySide6.QtCore import QAbstractListModel, QEvent, QObject, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from headstart.core.chats.search import FoundChat, SearchHit
from headstart.core.text.matching import score
from headstart.ui.kit import icons, theme
from headstart.ui.kit.hints import set_hint
from headstart.ui.kit.joining import commas
from headstart.ui.kit.mirrored import draw_words, turned
from headstart.ui.sidebar.chat_list import Index
from headstart.ui.wording import say

_ENTRY = int(Qt.ItemDataRole.UserRole)
_WIDTH, _HEIGHT, _TOP = 620, 420, 72
# entries shown of each kind, so that all kinds get room
_MOST = 6
# from the last key press to the search for messages
_PAUSE_MS = 120


class PaletteEntry(Struct, frozen=True):
    """`kind`: the name of its kind in the list; `note`: its keys, or its location."""

    kind: str
    title: str
    run: Callable[[], object]
    note: str = ""
    icon: str = ""


class Palette(QFrame):
    """`entries` returns all entries but messages, which `messages_wanted` requests."""

    messages_wanted = Signal(str)
    closed = Signal()

    def __init__(self, parent: QWidget, entries: Callable[[], Iterable[PaletteEntry]]) -> None:
        super().__init__(parent)
        self._over = parent
        self._make = entries
        self._known: list[PaletteEntry] = []
        self._messages: list[PaletteEntry] = []
        self.setObjectName("palette")
        self.edit = QLineEdit(self)
        set_hint(self.edit, say("shell.chats-messages-models-settings-help"))
        self.edit.setAccessibleName(say("shell.chats-messages-models-settings-help"))
        self.edit.textChanged.connect(self._on_text)
        self.edit.installEventFilter(self)
        self.list = QListView(self)
        self.list.setObjectName("chatList")
        self.list.setAccessibleName(say("shell.results"))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setMouseTracking(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.entries = _Entries(self)
        self.list.setModel(self.entries)
        self.list.setItemDelegate(_Delegate(self.list))
        self.list.clicked.connect(self._run)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 10, 10, 10)
        layout.setSpacing(8)
        layout.addWidget(self.edit)
        self.nothing = QLabel(say("shell.no-results"), self)
        self.nothing.setObjectName("quiet")
        self.nothing.hide()
        layout.addWidget(self.nothing)
        layout.addWidget(self.list, 1)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PAUSE_MS)
        self._timer.timeout.connect(lambda: self.messages_wanted.emit(self.edit.text()))
        self.hide()

    def open(self) -> None:
        self._known = list(self._make())
        self._messages = []
        self.edit.clear()
        self._show()
        self.place()
        self.show()
        self.raise_()
        self.edit.setFocus()

    def leave(self) -> None:
        if not self.isHidden():
            self.hide()
            self._timer.stop()
            self.closed.emit()

    def place(self) -> None:
        around = self._over.rect()
        width = min(_WIDTH, around.width() - 40)
        height = min(_HEIGHT, around.height() - _TOP - 20)
        self.setGeometry((around.width() - width) // 2, _TOP, width, height)

    def set_messages(self, query: str, found: Sequence[FoundChat], open_: _OpenMessage) -> None:
        """Show the messages found for `query`; `open_` opens one."""
        if query != self.edit.text() or self.isHidden():
            return
        self._messages = [
            PaletteEntry(
                say("shell.message"),
                _plain(one.snippet.text),
                _opening(open_, chat.chat_id, one),
                chat.title,
                "search",
            )
            for chat in found
            for one in chat.messages[:1]
        ]
        self._show()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.edit and isinstance(event, QKeyEvent):
            if event.type() == QEvent.Type.KeyPress and self._on_key(event):
                return True
        elif watched is self.edit and event.type() == QEvent.Type.FocusOut:
            self.leave()
        return super().eventFilter(watched, event)

    def _on_key(self, event: QKeyEvent) -> bool:
        row, last = self.list.currentIndex().row(), self.entries.rowCount() - 1
        match event.key():
            case Qt.Key.Key_Down:
                self._choose(min(last, row + 1))
            case Qt.Key.Key_Up:
                self._choose(max(0, row - 1))
            case Qt.Key.Key_PageDown:
                self._choose(min(last, row + 8))
            case Qt.Key.Key_PageUp:
                self._choose(max(0, row - 8))
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self._run(self.list.currentIndex())
            case Qt.Key.Key_Escape:
                self.leave()
            case _:
                return False
        return True

    def _on_text(self, text: str) -> None:
        self._messages = []
        self._show()
        if len(text.strip()) > 1:
            self._timer.start()
        else:
            self._timer.stop()

    def _show(self) -> None:
        self.entries.set_entries([*_best(self._known, self.edit.text()), *self._messages[:_MOST]])
        found = self.entries.rowCount()
        self.nothing.setVisible(not found)
        self.list.setVisible(bool(found))
        self._choose(0)

    def _choose(self, row: int) -> None:
        index = self.entries.index(row)
        self.list.setCurrentIndex(index)
        self.list.scrollTo(index)
        self.list.viewport().update()

    def _run(self, index: Index) -> None:
        entry = self.entries.entry(index)
        if entry is not None:
            self.leave()
            entry.run()


# id of a chat, id of its message, and the matching text
_OpenMessage = Callable[[str, str, str], object]


def _opening(open_: _OpenMessage, chat_id: str, one: SearchHit) -> Callable[[], object]:
    text, marks = one.snippet.text, one.snippet.marks
    found = text[marks[0][0] : marks[0][1]] if marks else ""
    return lambda: open_(chat_id, one.message_id, found)


def _plain(text: str) -> str:
    return " ".join(text.split())


def _best(entries: Sequence[PaletteEntry], query: str) -> list[PaletteEntry]:
    """The entries that match the query, the best first, some of each kind."""
    found: list[tuple[int, int, PaletteEntry]] = []
    for number, entry in enumerate(entries):
        points = score(query, entry.title)
        if points is not None:
            # without a query in the given order
            found.append((points if query.strip() else 0, number, entry))
    found.sort(key=lambda one: one[:2])
    counts: dict[str, int] = {}
    shown = []
    for _points, _number, entry in found:
        counts[entry.kind] = counts.get(entry.kind, 0) + 1
        if counts[entry.kind] <= _MOST:
            shown.append(entry)
    return shown


class _Entries(QAbstractListModel):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._entries: list[PaletteEntry] = []

    def set_entries(self, entries: Sequence[PaletteEntry]) -> None:
        self.beginResetModel()
        self._entries = list(entries)
        self.endResetModel()

    def entry(self, index: Index) -> PaletteEntry | None:
        return self._entries[index.row()] if index.isValid() else None

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._entries)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        entry = self.entry(index)
        if entry is None:
            return None
        if role == _ENTRY:
            return entry
        if role == Qt.ItemDataRole.DisplayRole:
            return entry.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return commas(filter(None, (entry.kind, entry.title, entry.note)))
        return None


class _Delegate(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(200, theme.px(34))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        entry: PaletteEntry = index.data(_ENTRY)
        colours, area = theme.current(), option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.selected))
            painter.drawRoundedRect(area, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
        side = icons.size()
        if entry.icon:
            place = QRect(area.left() + 10, area.top(), side, area.height())
            icons.icon(entry.icon).paint(painter, turned(place, area))
        small = theme.text_font(theme.SMALL_SIZE)
        note = entry.note or entry.kind
        right = QFontMetrics(small).elidedText(note, Qt.TextElideMode.ElideRight, 200)
        painter.setFont(small)
        painter.setPen(QColor(colours.quiet))
        draw_words(painter, area.adjusted(0, 0, -10, 0), right, area, ends=True)
        font = theme.text_font(theme.TEXT_SIZE, QFont.Weight.Normal)
        words = area.adjusted(side + 20, 0, -22 - QFontMetrics(small).horizontalAdvance(right), 0)
        painter.setFont(font)
        painter.setPen(QColor(colours.ink))
        title = QFontMetrics(font).elidedText(
            entry.title, Qt.TextElideMode.ElideRight, words.width()
        )
        draw_words(painter, words, title, area)
        painter.restore()
