"""The branches of the open chat, drawn beside it: the straight line is the branch on show; the
others fork off. Main thread."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
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
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPen,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QLabel,
    QListView,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolButton,
    QToolTip,
    QVBoxLayout,
    QWidget,
)

from headstart.core.chats.tree import TreeNode
from headstart.core.chats.tree_rows import TreeRow, branches_of, rows_of
from headstart.core.chats.values import Role
from headstart.core.text.shown import in_window_order, shortened
from headstart.ui.kit import icons, theme
from headstart.ui.kit.focus_ring import OWN_FOCUS
from headstart.ui.kit.joining import commas
from headstart.ui.kit.mirrored import draw_words, is_mirrored, turned
from headstart.ui.kit.row_ground import paint_ground
from headstart.ui.kit.when import when_text
from headstart.ui.wording import say

WIDTH = 360
_ROW = int(Qt.ItemDataRole.UserRole)
Index = QModelIndex | QPersistentModelIndex
# px: width of a column of lines, radius of a message's dot; the columns after which deeper branches
# are no longer indented
_STEP, _DOT, _MOST = 20, 4.5, 6
_LEFT = 18
_WORDS = 90
# Markdown marks, dropped from the rows
_MARKS = re.compile(r"[*_`#]{1,3}")


class BranchRows(QAbstractListModel):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: list[TreeRow] = []

    def set_nodes(self, nodes: Sequence[TreeNode]) -> None:
        self.beginResetModel()
        self._rows = rows_of(nodes)
        self.endResetModel()

    def row(self, index: Index) -> TreeRow | None:
        return self._rows[index.row()] if index.isValid() else None

    def last_shown(self) -> QModelIndex:
        """The last message of the branch on show."""
        shown = [number for number, row in enumerate(self._rows) if row.node.shown]
        return self.index(shown[-1]) if shown else QModelIndex()

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        row = self.row(index)
        if row is None:
            return None
        if role == _ROW:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return words_of(row.node)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            where = (
                say("transcript.on-branch-read")
                if row.node.shown
                else say("transcript.branch-depth", depth=row.depth)
            )
            return f"{who_of(row.node)}: {words_of(row.node)}, {where}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return words_of(row.node)
        return None


class BranchDelegate(QStyledItemDelegate):
    """Paints the rows; its small buttons emit signals with the id of a message."""

    compare_wanted = Signal(str)
    chat_wanted = Signal(str)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(200, theme.px(theme.TALL_ROW))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: TreeRow = index.data(_ROW)
        colours, area, flags = theme.current(), option.rect, QStyle.StateFlag
        chosen = bool(option.state & flags.State_Selected)
        over = bool(option.state & flags.State_MouseOver)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(painter, area.adjusted(8, 0, -8, 0), option.state)
        painter.save()
        if is_mirrored():
            painter.translate(area.left() + area.right() + 1, 0)
            painter.scale(-1, 1)
        _paint_lines(painter, area, row)
        painter.restore()
        left = _x(area, row.depth) + 12
        right = area.right() - 16
        if over:
            for name, place in self._buttons(area, row):
                icons.icon(name).paint(painter, turned(place, area))
                right = min(right, place.left() - 8)
        weight = QFont.Weight.Medium if chosen else QFont.Weight.Normal
        font = theme.text_font(theme.TEXT_SIZE, weight)
        small = theme.text_font(theme.SMALL_SIZE)
        line, few = QFontMetrics(font), QFontMetrics(small)
        top = area.top() + (area.height() - line.height() - few.height() - 1) // 2
        painter.setFont(font)
        painter.setPen(QColor(colours.ink if row.node.shown else colours.quiet))
        elide, room = Qt.TextElideMode.ElideRight, right - left
        words = line.elidedText(words_of(row.node), elide, room)
        draw_words(painter, QRect(left, top, room, line.height()), words, area)
        painter.setFont(small)
        painter.setPen(QColor(colours.quiet))
        facts = commas(filter(None, (who_of(row.node), when_text(row.node.created_at))))
        lower = QRect(left, top + line.height() + 1, room, few.height())
        facts = in_window_order(few.elidedText(facts, elide, room))
        draw_words(painter, lower, facts, area)
        painter.restore()

    def editorEvent(
        self, event: QEvent, model: object, option: QStyleOptionViewItem, index: Index
    ) -> bool:
        if event.type() == QEvent.Type.MouseButtonRelease and isinstance(event, QMouseEvent):
            name = self.button_at(event.position().toPoint(), option.rect, index)
            if name:
                node = index.data(_ROW).node
                wanted = self.compare_wanted if name == "columns-2" else self.chat_wanted
                wanted.emit(node.id)
                return True
        return False

    def helpEvent(
        self,
        event: QHelpEvent,
        view: QAbstractItemView,
        option: QStyleOptionViewItem,
        index: Index,
    ) -> bool:
        name = self.button_at(event.pos(), option.rect, index) if index.isValid() else ""
        told = {
            "columns-2": say("transcript.compare-versions"),
            "message-square-plus": say("transcript.branch-into-new-chat"),
        }
        if name:
            QToolTip.showText(event.globalPos(), told[name], view)
            return True
        return super().helpEvent(event, view, option, index)

    def button_at(self, point: QPoint, area: QRect, index: Index) -> str:
        """The button at a point of a row; "" for none."""
        for name, place in self._buttons(area, index.data(_ROW)):
            if turned(place, area).adjusted(-5, -6, 5, 6).contains(point):
                return name
        return ""

    @staticmethod
    def _buttons(area: QRect, row: TreeRow) -> list[tuple[str, QRect]]:
        names = [*(["columns-2"] if row.versions > 1 else []), "message-square-plus"]
        side, right, found = icons.size(), area.right() - 18, []
        for name in reversed(names):
            found.append((name, QRect(right - side, area.center().y() - side // 2, side, side)))
            right -= side + 12
        return found


class BranchPanel(QFrame):
    chosen = Signal(str)  # the id of a message
    compare_wanted = Signal(str)
    chat_wanted = Signal(str)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("branches")
        self.setAccessibleName(say("transcript.branches-of-chat"))
        self._title = QLabel(say("transcript.branches"), self)
        self._title.setObjectName("chatTitle")
        self.close_button = QToolButton(self)
        self.close_button.setObjectName("bar")
        self.close_button.setIcon(icons.icon("x"))
        self.close_button.setToolTip(say("transcript.close"))
        self.close_button.setAccessibleName(say("transcript.close-branches"))
        self.close_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.close_button.clicked.connect(self.closed)
        self.rows = BranchRows(self)
        self.list = QListView(self)
        self.list.setObjectName("chatList")
        self.list.setProperty(OWN_FOCUS, True)
        self.list.setAccessibleName(say("transcript.branches"))
        self.list.setModel(self.rows)
        self.list.setUniformItemSizes(True)
        self.list.setMouseTracking(True)
        self.list.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        delegate = self._delegate = BranchDelegate(self.list)
        delegate.compare_wanted.connect(self.compare_wanted)
        delegate.chat_wanted.connect(self.chat_wanted)
        self.list.setItemDelegate(delegate)
        self.list.clicked.connect(self._on_clicked)
        self.list.activated.connect(self._choose)
        self.list.installEventFilter(self)
        self.count = QLabel(self)
        self.count.setWordWrap(True)
        self.count.setObjectName("quiet")
        self.compare = QPushButton(say("transcript.compare"), self)
        self.compare.setIcon(icons.icon("columns-2"))
        self.compare.setAutoDefault(False)
        self.compare.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.compare.clicked.connect(self._on_compare)
        self.list.selectionModel().currentChanged.connect(lambda *_: self._show_compare())
        head = QHBoxLayout()
        head.setContentsMargins(16, 0, 8, 0)
        head.addWidget(self._title, 1)
        head.addWidget(self.close_button)
        self._head = QWidget(self)
        self._head.setLayout(head)
        foot = QHBoxLayout()
        foot.setContentsMargins(16, 8, 16, 12)
        foot.addWidget(self.count, 1)
        foot.addWidget(self.compare)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(1, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._head)
        layout.addWidget(self.list, 1)
        layout.addLayout(foot)
        self.setFocusProxy(self.list)
        theme.follow(self._measure)

    def set_nodes(self, nodes: Sequence[TreeNode]) -> None:
        self.rows.set_nodes(nodes)
        ways = branches_of(nodes)
        facts = [say("transcript.count-messages", count=len(nodes))]
        if ways > 1:
            facts.append(say("transcript.ways-goes", ways=ways))
        self.count.setText(" · ".join(facts))
        shown = self.rows.last_shown()
        if shown.isValid():
            self.list.setCurrentIndex(shown)
            self.list.scrollTo(shown)
        self._show_compare()

    def _measure(self) -> None:
        self.setFixedWidth(theme.panel_width(WIDTH))
        self._head.setFixedHeight(theme.px(48))
        self.list.doItemsLayout()

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        if watched is self.list and isinstance(event, QKeyEvent):
            enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            if event.type() == QEvent.Type.KeyPress and enter:
                self._choose(self.list.currentIndex())
                return True
        return False

    def _on_clicked(self, index: QModelIndex) -> None:
        place = self.list.viewport().mapFromGlobal(self.list.cursor().pos())
        if not self._delegate.button_at(place, self.list.visualRect(index), index):
            self._choose(index)

    def _choose(self, index: Index) -> None:
        row = self.rows.row(index)
        if row is not None:
            self.chosen.emit(row.node.id)

    def _current(self) -> TreeRow | None:
        return self.rows.row(self.list.currentIndex())

    def _show_compare(self) -> None:
        row = self._current()
        self.compare.setEnabled(row is not None and row.versions > 1)

    def _on_compare(self) -> None:
        row = self._current()
        if row is not None:
            self.compare_wanted.emit(row.node.id)


def who_of(node: TreeNode) -> str:
    return (
        say("transcript.you") if node.role is Role.USER else node.model or say("transcript.model")
    )


def words_of(node: TreeNode) -> str:
    return shortened(_MARKS.sub("", node.words), _WORDS) or say("transcript.no-text")


def _x(area: QRect, depth: int) -> int:
    return area.left() + _LEFT + 10 + min(depth, _MOST) * _STEP


def _paint_lines(painter: QPainter, area: QRect, row: TreeRow) -> None:
    colours = theme.current()
    middle = QPointF(_x(area, row.depth), area.center().y() + 0.5)
    painter.setBrush(Qt.BrushStyle.NoBrush)

    def pen(column: int) -> QPen:
        straight = column == 0
        return QPen(QColor(colours.accent if straight else colours.off), 2.5 if straight else 1.5)

    for column in row.lines:
        painter.setPen(pen(column))
        x = _x(area, column)
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom() + 1))
    painter.setPen(pen(row.depth))
    if row.above and not row.begins:
        painter.drawLine(QPointF(middle.x(), area.top()), middle)
    if row.below:
        painter.drawLine(middle, QPointF(middle.x(), area.bottom() + 1))
    if row.begins:
        # forks off the line to its left in an arc
        parent = _x(area, row.depth - 1)
        painter.setPen(QPen(QColor(colours.off), 1.5))
        path = QPainterPath(QPointF(parent, area.top()))
        path.quadTo(QPointF(parent, middle.y()), middle)
        painter.drawPath(path)
    shown = row.node.shown
    colour = QColor(colours.accent if shown else colours.off)
    painter.setPen(QPen(colour, 2))
    hollow = row.node.role is Role.USER
    painter.setBrush(QColor(colours.ground) if hollow else colour)
    painter.drawEllipse(middle, _DOT, _DOT)
