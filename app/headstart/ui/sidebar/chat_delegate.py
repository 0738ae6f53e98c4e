"""Paints the lines of the list of chats, and edits their titles in place."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPolygonF
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from headstart.core.values import ChatSummary
from headstart.ui import theme
from headstart.ui.sidebar.chat_list import ROW, WRITING, ChatListModel, Index, subtitle
from headstart.ui.sidebar.rows import Row

# px that each folder moves what is in it to the right
_INDENT = 12
_DOT = 7


class ChatListDelegate(QStyledItemDelegate):
    """Title and a quiet second line; a dot in the accent colour while a reply is written, and
    behind the title where one came that nobody has seen."""

    def __init__(self, model: ChatListModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        # asked for each of thousands of rows whenever the list is laid out
        return QSize(200, theme.px(34 if self._model.is_heading(index.row()) else 52))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: Row = index.data(ROW)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if row.section:
            _paint_heading(painter, option.rect.adjusted(8, 0, -8, -6), row.section)
        else:
            _paint_ground(painter, option)
            area = option.rect.adjusted(8 + _INDENT * row.depth, 0, -8, 0)
            if row.folder is not None:
                _paint_folder(painter, area, row)
            elif row.chat is not None:
                _paint_chat(painter, area, row.chat, index.data(WRITING) or "")
        painter.restore()

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = QLineEdit(parent)
        row: Row = index.data(ROW)
        what = "Title of the chat" if row.folder is None else "Name of the folder"
        editor.setAccessibleName(what)
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


def _paint_heading(painter: QPainter, area: QRect, text: str) -> None:
    painter.setPen(QColor(theme.current().quiet))
    font = theme.text_font(11, QFont.Weight.Medium)
    font.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, 0.5)
    painter.setFont(font)
    painter.drawText(area, int(Qt.AlignmentFlag.AlignBottom), text.upper())


def _paint_ground(painter: QPainter, option: QStyleOptionViewItem) -> None:
    colours, area, state = theme.current(), option.rect, option.state
    if state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.hover))
        painter.drawRoundedRect(area, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
    if state & QStyle.StateFlag.State_HasFocus:
        painter.setPen(QColor(colours.accent))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(area.adjusted(0, 0, -1, -1), 8, 8)


def _paint_folder(painter: QPainter, area: QRect, row: Row) -> None:
    """A triangle that says whether it is open, the name, and how many chats are in it."""
    assert row.folder is not None
    colours = theme.current()
    middle = QPointF(area.left() + 4, area.center().y() + 1)
    sign = ((-2, -4), (3, 0), (-2, 4)) if row.folder.folded else ((-4, -2), (4, -2), (0, 3))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colours.quiet))
    painter.drawPolygon(QPolygonF([middle + QPointF(x, y) for x, y in sign]))
    font = theme.text_font(theme.TEXT_SIZE, QFont.Weight.Medium)
    painter.setFont(font)
    painter.setPen(QColor(colours.ink))
    words = area.adjusted(16, 0, -28, 0)
    name = QFontMetrics(font).elidedText(
        row.folder.name, Qt.TextElideMode.ElideRight, words.width()
    )
    painter.drawText(words, int(Qt.AlignmentFlag.AlignVCenter), name)
    painter.setFont(theme.text_font(theme.SMALL_SIZE))
    painter.setPen(QColor(colours.quiet))
    flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
    painter.drawText(area, int(flags), f"{row.count:,}")


def _paint_chat(painter: QPainter, area: QRect, chat: ChatSummary, writing: str) -> None:
    colours = theme.current()
    left = area.left()
    if writing:
        _paint_dot(painter, left, area.top() + theme.px(13))
        left += 13
    weight = QFont.Weight.DemiBold if chat.unseen else QFont.Weight.Normal
    font = theme.text_font(theme.TEXT_SIZE, weight)
    painter.setFont(font)
    painter.setPen(QColor(colours.ink))
    width = area.right() - left - (14 if chat.unseen else 0)
    metrics = QFontMetrics(font)
    title = metrics.elidedText(chat.title, Qt.TextElideMode.ElideRight, width)
    top = QRect(left, area.top() + 6, width, theme.px(20))
    painter.drawText(top, int(Qt.AlignmentFlag.AlignVCenter), title)
    if chat.unseen:
        _paint_dot(painter, left + metrics.horizontalAdvance(title) + 7, area.top() + theme.px(13))
    painter.setFont(theme.text_font(theme.SMALL_SIZE))
    painter.setPen(QColor(colours.accent if writing or chat.unseen else colours.quiet))
    under = QRect(area.left(), top.bottom(), area.width(), theme.px(20))
    said = writing or ("answered" if chat.unseen else subtitle(chat))
    painter.drawText(under, int(Qt.AlignmentFlag.AlignVCenter), said)


def _paint_dot(painter: QPainter, x: int, y: int) -> None:
    pen = painter.pen()
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(theme.current().accent))
    painter.drawEllipse(x, y, _DOT, _DOT)
    painter.setPen(pen)
