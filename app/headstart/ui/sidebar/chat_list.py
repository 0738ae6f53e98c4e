"""The list of chats as a Qt item model and the delegate that paints its lines.

Rows are section headings (pinned, today, ...) and chats; only chats can be selected.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from headstart.core.values import ChatSummary
from headstart.ui import theme

CHAT_ID = int(Qt.ItemDataRole.UserRole)
SUMMARY = CHAT_ID + 1
WRITING = CHAT_ID + 2
SECTION = CHAT_ID + 3
Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class _Row:
    section: str = ""
    chat: ChatSummary | None = None


class ChatListModel(QAbstractListModel):
    """`renamed(chat id, title)` when the user edits a title in place."""

    renamed = Signal(str, str)

    def __init__(
        self,
        parent: QWidget | None = None,
        today: Callable[[], datetime.date] = datetime.date.today,
    ) -> None:
        super().__init__(parent)
        self._today = today
        self._rows: list[_Row] = []
        self._writing: dict[str, str] = {}
        # the day that the headings are about
        self._day = today()

    def set_chats(self, chats: Sequence[ChatSummary], writing: dict[str, str]) -> None:
        """Replace all rows; `writing` maps the chats with an open reply to what they are doing."""
        rows: list[_Row] = []
        section = ""
        today = self._day = self._today()
        for chat in chats:
            heading = section_of(chat, today)
            if heading != section:
                section = heading
                rows.append(_Row(section=heading))
            rows.append(_Row(chat=chat))
        self._writing = dict(writing)
        if rows == self._rows:
            self._refresh()
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def set_chat(self, chat_id: str, chat: ChatSummary | None) -> None:
        """One chat is new or other than it was (None: it is gone); no other row is touched but
        the headings above it."""
        today = self._today()
        if today != self._day:
            # every heading is another one now
            chats = [row.chat for row in self._rows if row.chat and row.chat.id != chat_id]
            self.set_chats(sorted([*chats, *([chat] if chat else [])], key=_order), self._writing)
            return
        number = self.index_of(chat_id).row()
        if number >= 0 and chat is not None:
            old = self._rows[number].chat
            assert old is not None
            above = self._rows[number - 1].chat
            below = self._rows[number + 1].chat if number + 1 < len(self._rows) else None
            if (
                section_of(old, today) == section_of(chat, today)
                and (above is None or _order(above) <= _order(chat))
                and (below is None or _order(chat) <= _order(below))
            ):
                self._rows[number] = _Row(chat=chat)
                self.dataChanged.emit(self.index(number), self.index(number))
                return
        if number >= 0:
            alone = self._rows[number - 1].chat is None and (
                number + 1 == len(self._rows) or self._rows[number + 1].chat is None
            )
            self._take(number - 1 if alone else number, number)
        if chat is None:
            self._writing.pop(chat_id, None)
            return
        heading, at = section_of(chat, today), 0
        while at < len(self._rows):
            row = self._rows[at]
            if row.chat is not None and _order(row.chat) > _order(chat):
                break
            at += 1
        # a heading right before belongs to the row that the new one goes before
        if at and self._rows[at - 1].chat is None and self._rows[at - 1].section != heading:
            at -= 1
        has_heading = any(row.section == heading for row in self._rows[:at] if row.chat is None)
        new = [_Row(chat=chat)] if has_heading else [_Row(section=heading), _Row(chat=chat)]
        self.beginInsertRows(QModelIndex(), at, at + len(new) - 1)
        self._rows[at:at] = new
        self.endInsertRows()

    def _take(self, first: int, last: int) -> None:
        self.beginRemoveRows(QModelIndex(), first, last)
        del self._rows[first : last + 1]
        self.endRemoveRows()

    def set_writing(self, chat_id: str, text: str | None) -> None:
        if text is None:
            self._writing.pop(chat_id, None)
        else:
            self._writing[chat_id] = text
        index = self.index_of(chat_id)
        if index.isValid():
            self.dataChanged.emit(index, index, [WRITING])

    def index_of(self, chat_id: str) -> QModelIndex:
        for number, row in enumerate(self._rows):
            if row.chat is not None and row.chat.id == chat_id:
                return self.index(number)
        return QModelIndex()

    def is_heading(self, row: int) -> bool:
        return self._rows[row].chat is None

    def chat_ids(self) -> list[str]:
        return [row.chat.id for row in self._rows if row.chat is not None]

    def summaries(self) -> list[ChatSummary]:
        return [row.chat for row in self._rows if row.chat is not None]

    def titles(self) -> dict[str, str]:
        return {row.chat.id: row.chat.title for row in self._rows if row.chat is not None}

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        chat = row.chat
        if role == SECTION:
            return row.section
        if chat is None:
            display = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
            return row.section if role in display else None
        match role:
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.EditRole:
                return chat.title
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{chat.title}, {self._writing.get(chat.id) or subtitle(chat)}"
            case Qt.ItemDataRole.ToolTipRole:
                return chat.title
            case _ if role == CHAT_ID:
                return chat.id
            case _ if role == SUMMARY:
                return chat
            case _ if role == WRITING:
                return self._writing.get(chat.id)
        return None

    def setData(
        self, index: Index, value: object, role: int = int(Qt.ItemDataRole.EditRole)
    ) -> bool:
        chat = self._rows[index.row()].chat
        title = str(value).strip()
        if chat is None or not title or title == chat.title:
            return False
        self.renamed.emit(chat.id, title)
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid() or self._rows[index.row()].chat is None:
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return flags | Qt.ItemFlag.ItemIsEditable | Qt.ItemFlag.ItemIsDragEnabled

    def _refresh(self) -> None:
        if self._rows:
            self.dataChanged.emit(self.index(0), self.index(len(self._rows) - 1))


class ChatListDelegate(QStyledItemDelegate):
    """Title and a quiet second line; a dot in the accent colour while a reply is written."""

    def __init__(self, model: ChatListModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        # asked for each of thousands of rows whenever the list is laid out
        return QSize(200, theme.px(34 if self._model.is_heading(index.row()) else 52))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        colours = theme.current()
        area: QRect = option.rect
        state = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        section = index.data(SECTION)
        if section:
            painter.setPen(QColor(colours.quiet))
            font = theme.text_font(11, QFont.Weight.Medium)
            font.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, 0.5)
            painter.setFont(font)
            painter.drawText(
                area.adjusted(8, 0, -8, -6),
                int(Qt.AlignmentFlag.AlignBottom),
                str(section).upper(),
            )
            painter.restore()
            return
        chat: ChatSummary = index.data(SUMMARY)
        writing = index.data(WRITING)
        selected = bool(state & QStyle.StateFlag.State_Selected)
        hovered = bool(state & QStyle.StateFlag.State_MouseOver)
        if selected or hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.hover))
            painter.drawRoundedRect(area, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
        if bool(state & QStyle.StateFlag.State_HasFocus):
            painter.setPen(QColor(colours.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(area.adjusted(0, 0, -1, -1), 8, 8)
        left = area.left() + 8
        if writing:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.accent))
            painter.drawEllipse(left, area.top() + theme.px(13), 7, 7)
            left += 13
        font = theme.text_font()
        painter.setFont(font)
        painter.setPen(QColor(colours.ink))
        width = area.right() - left - 8
        title = QFontMetrics(font).elidedText(chat.title, Qt.TextElideMode.ElideRight, width)
        top = QRect(left, area.top() + 6, width, theme.px(20))
        painter.drawText(top, int(Qt.AlignmentFlag.AlignVCenter), title)
        painter.setFont(theme.text_font(theme.SMALL_SIZE))
        painter.setPen(QColor(colours.quiet))
        under = QRect(area.left() + 8, top.bottom(), area.width() - 16, theme.px(20))
        painter.drawText(under, int(Qt.AlignmentFlag.AlignVCenter), writing or subtitle(chat))
        painter.restore()

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = QLineEdit(parent)
        editor.setAccessibleName("Title of the chat")
        return editor

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        assert isinstance(editor, QLineEdit)
        # asked again whenever the row changes: what the user is typing stays
        if not editor.property("filled"):
            editor.setProperty("filled", True)
            editor.setText(str(index.data()))
            editor.selectAll()

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        assert isinstance(editor, QLineEdit)
        model.setData(index, editor.text())


def subtitle(chat: ChatSummary) -> str:
    return "1 message" if chat.messages == 1 else f"{chat.messages:,} messages"


def _order(chat: ChatSummary) -> tuple[bool, bool, int]:
    """Smaller ones stand further up."""
    return not chat.private, not chat.pinned, -chat.updated_at


def section_of(chat: ChatSummary, today: datetime.date) -> str:
    """The heading under which a chat stands on the day `today`."""
    if chat.private:
        return "Private, until Headstart closes"
    if chat.pinned:
        return "Pinned"
    day = datetime.datetime.fromtimestamp(chat.updated_at / 1000).date()
    age = (today - day).days
    if age <= 0:
        return "Today"
    if age == 1:
        return "Yesterday"
    if age <= 7:
        return "Previous 7 days"
    if age <= 30:
        return "Previous 30 days"
    return day.strftime("%B %Y")
