"""Paints the lines of the list of chats, and edits their titles in place."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPolygonF
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from headstart.core.chats.values import ChatSummary
from headstart.core.text.locale import locale
from headstart.ui.kit import icons, theme
from headstart.ui.kit.mirrored import draw_words, is_mirrored, turned
from headstart.ui.kit.row_ground import paint_ground
from headstart.ui.sidebar.chat_list import ROW, WRITING, ChatListModel, Index, name_of
from headstart.ui.sidebar.rows import ChatRow
from headstart.ui.wording import say

# px by which each folder indents its content
_INDENT = 12
_DOT = 7
# px between adjacent texts, and reserved for a title
_GAP, _TITLE = 8, 90
_HEADING = 36


class ChatListDelegate(QStyledItemDelegate):
    """Paints a line per chat: behind the title the status of a reply in progress, else the first
    tag; a dot for an unseen reply."""

    def __init__(self, model: ChatListModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        # called for each of thousands of rows whenever the list is laid out
        heading = self._model.is_heading(index.row())
        return QSize(200, theme.px(_HEADING if heading else theme.CONTROL))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: ChatRow = index.data(ROW)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if row.section:
            _paint_heading(painter, option.rect.adjusted(8, 0, -8, -7), row.section)
        else:
            paint_ground(painter, option.rect, option.state)
            area = option.rect.adjusted(8 + _INDENT * row.depth, 0, -8, 0)
            area = turned(area, option.rect)
            if row.folder is not None:
                _paint_folder(painter, area, row)
            elif row.chat is not None:
                chosen = bool(option.state & QStyle.StateFlag.State_Selected)
                _paint_chat(painter, area, row.chat, index.data(WRITING) or "", chosen)
        painter.restore()

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = QLineEdit(parent)
        row: ChatRow = index.data(ROW)
        what = say("sidebar.title-of-chat") if row.folder is None else say("sidebar.name-of-folder")
        editor.setAccessibleName(what)
        return editor

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        assert isinstance(editor, QLineEdit)
        # called again whenever the row changes: keep the typed text
        if not editor.property("filled"):
            editor.setProperty("filled", True)
            editor.setText(str(index.data()))
            editor.selectAll()

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        assert isinstance(editor, QLineEdit)
        model.setData(index, editor.text())


def _paint_heading(painter: QPainter, area: QRect, text: str) -> None:
    painter.setPen(QColor(theme.current().quiet))
    painter.setFont(theme.text_font(theme.SMALL_SIZE, QFont.Weight.Medium))
    painter.drawText(area, int(Qt.AlignmentFlag.AlignBottom), text)


def _paint_folder(painter: QPainter, area: QRect, row: ChatRow) -> None:
    """Paint a triangle, open or folded, the name, and the number of chats."""
    assert row.folder is not None
    colours = theme.current()
    at = turned(QRect(area.left(), area.top(), 9, area.height()), area).center().x()
    middle, side = QPointF(at, area.center().y() + 1), -1 if is_mirrored() else 1
    sign = ((-2, -4), (3, 0), (-2, 4)) if row.folder.folded else ((-4, -2), (4, -2), (0, 3))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colours.quiet))
    painter.drawPolygon(QPolygonF([middle + QPointF(side * x, y) for x, y in sign]))
    font = theme.text_font(theme.TEXT_SIZE, QFont.Weight.Medium)
    painter.setFont(font)
    painter.setPen(QColor(colours.ink))
    words = area.adjusted(16, 0, -28, 0)
    name = QFontMetrics(font).elidedText(
        row.folder.name, Qt.TextElideMode.ElideRight, words.width()
    )
    draw_words(painter, words, name, area)
    painter.setFont(theme.text_font(theme.SMALL_SIZE))
    painter.setPen(QColor(colours.quiet))
    draw_words(painter, area, locale().number(row.count), area, ends=True)


def _paint_chat(
    painter: QPainter, area: QRect, chat: ChatSummary, writing: str, chosen: bool
) -> None:
    colours = theme.current()
    left, right = area.left(), area.right()
    if chat.private:
        side = theme.icon_px(14)
        place = QRect(left, area.top(), side, area.height())
        icons.icon("lock").paint(painter, turned(place, area))
        left += side + _GAP
    if chat.unseen:
        right -= _DOT
        dot = QRect(right, area.center().y() - _DOT // 2, _DOT, _DOT)
        _paint_dot(painter, turned(dot, area))
        right -= _GAP
    weight = QFont.Weight.Medium if chosen or chat.unseen else QFont.Weight.Normal
    font = theme.text_font(theme.TEXT_SIZE, weight)
    metrics, name = QFontMetrics(font), name_of(chat)
    tag = f"#{chat.tags[0]}" if chat.tags else ""
    # a title is cut for a status, not for a tag
    least = _TITLE if writing else metrics.horizontalAdvance(name)
    room = right - left - least - _GAP
    small = theme.text_font(theme.SMALL_SIZE)
    note = QFontMetrics(small).elidedText(writing or tag, Qt.TextElideMode.ElideRight, room)
    if note and note != "…" and room > 0:
        painter.setFont(small)
        painter.setPen(QColor(colours.accent_text if writing else colours.quiet))
        line = QRect(left, area.top(), right - left, area.height())
        draw_words(painter, line, note, area, ends=True)
        right -= QFontMetrics(small).horizontalAdvance(note) + _GAP
    painter.setFont(font)
    painter.setPen(QColor(colours.ink))
    title = metrics.elidedText(name, Qt.TextElideMode.ElideRight, right - left)
    line = QRect(left, area.top(), right - left, area.height())
    draw_words(painter, line, title, area)


def _paint_dot(painter: QPainter, area: QRect) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(theme.current().accent))
    painter.drawEllipse(area)
