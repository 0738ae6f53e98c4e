"""The table of other programs' requests: figures of each, the latest first."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from headstart.core.serving.line import LineState, ServedLine
from headstart.core.text.locale import locale
from headstart.ui.kit import theme
from headstart.ui.kit.mirrored import turned
from headstart.ui.kit.when import when_text
from headstart.ui.wording import say

Index = QModelIndex | QPersistentModelIndex
_HEADS = {
    "time": "settings.request-time",
    "program": "settings.request-program",
    "state": "settings.request-state",
    "tokens": "settings.request-tokens",
    "reused": "settings.request-reused",
    "first": "settings.request-first",
    "speed": "settings.request-speed",
    "why": "settings.request-why",
}
COLUMNS = tuple(_HEADS)
_STATES = {
    LineState.WAITING: "settings.request-waiting",
    LineState.LOADING: "settings.request-loading",
    LineState.PROCESSING: "settings.request-begins",
    LineState.WRITING: "settings.request-writing",
    LineState.PAUSED: "settings.request-paused",
    LineState.DONE: "settings.request-done",
    LineState.STOPPED: "settings.request-stopped",
    LineState.GONE: "settings.request-gone",
    LineState.FAILED: "settings.request-failed",
}
_NUMBERS = ("tokens", "reused", "first", "speed")
# height of a row, and width and height of the bar, in px at 100 %
_ROW, _BAR, _BAR_HEIGHT = 32, 56, 4
_MOST_ROWS = 8


class RequestModel(QAbstractTableModel):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.lines: Sequence[ServedLine] = ()

    def show(self, lines: Sequence[ServedLine]) -> None:
        """Show these lines; rows that are there already change in place."""
        if [one.number for one in lines] == [one.number for one in self.lines]:
            self.lines = lines
            if not lines:
                return
            last = self.index(len(lines) - 1, len(COLUMNS) - 1)
            self.dataChanged.emit(self.index(0, 0), last)
            return
        self.beginResetModel()
        self.lines = lines
        self.endResetModel()

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.lines)

    def columnCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return say(_HEADS[COLUMNS[section]])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(COLUMNS[section])
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        line, column = self.lines[index.row()], COLUMNS[index.column()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return shown(line, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return details(line)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(column)
        return None


class RequestTable(QTableView):
    """Emits `stop_wanted` with the number of a line."""

    stop_wanted = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("requests")
        self.rows = RequestModel(self)
        self.setModel(self.rows)
        self.setItemDelegateForColumn(COLUMNS.index("reused"), ReusedBar(self))
        self.setAccessibleName(say("settings.requests"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        # a stretched section is cut where the others leave too little, and nothing scrolls to it
        self._last = len(COLUMNS) - 1
        header.setSectionResizeMode(self._last, QHeaderView.ResizeMode.Fixed)
        header.sectionResized.connect(self._on_resized)
        theme.follow(self._measure)

    def show_lines(self, lines: Sequence[ServedLine]) -> None:
        chosen = self.chosen
        self.rows.show(lines)
        if chosen is not None:
            numbers = [one.number for one in lines]
            if chosen.number in numbers:
                self.choose_row(numbers.index(chosen.number))
        self._measure()

    def choose_row(self, row: int) -> None:
        """Select a row; Qt's own method finds none in a window from right to left."""
        self.setCurrentIndex(self.rows.index(row, 0))

    @property
    def chosen(self) -> ServedLine | None:
        """The line of the selected row."""
        row = self.currentIndex().row()
        return self.rows.lines[row] if 0 <= row < len(self.rows.lines) else None

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fill()

    def _on_resized(self, column: int) -> None:
        if column < self._last:
            self._fill()

    def _fill(self) -> None:
        """Give the last column what the others leave, and at least the width of its head."""
        header = self.horizontalHeader()
        wanted = header.sectionSizeHint(self._last)
        rest = self.viewport().width() - header.sectionPosition(self._last)
        header.resizeSection(self._last, max(wanted, rest))

    def _measure(self) -> None:
        self._fill()
        height = theme.px(_ROW)
        self.verticalHeader().setDefaultSectionSize(height)
        count = min(max(len(self.rows.lines), 1), _MOST_ROWS)
        self.setFixedHeight(self.horizontalHeader().sizeHint().height() + count * height + 14)


class ReusedBar(QStyledItemDelegate):
    """A bar of the reused share beside the number."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        hint = super().sizeHint(option, index)
        return QSize(hint.width() + theme.px(_BAR) + 12, hint.height())

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        model = index.model()
        assert isinstance(model, RequestModel)
        line = model.lines[index.row()]
        if not line.prompt:
            return
        colours = theme.current()
        share = line.reused / line.prompt if not line.under_way else line.done / line.prompt
        area: QRect = option.rect
        width, height = theme.px(_BAR), theme.px(_BAR_HEIGHT)
        bar = QRect(area.left() + 6, area.center().y() - height // 2, width, height)
        done = QRect(bar.topLeft(), QSize(round(width * min(1.0, share)), height))
        painter.save()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(QColor(colours.line))
        painter.drawRoundedRect(turned(bar, area), height / 2, height / 2)
        painter.setBrush(QColor(colours.accent))
        painter.drawRoundedRect(turned(done, area), height / 2, height / 2)
        painter.restore()


def shown(line: ServedLine, column: str) -> str:
    """The text of a cell."""
    numbers = locale()
    match column:
        case "time":
            return when_text(line.at)
        case "program":
            return line.program
        case "state":
            return _state(line)
        case "tokens":
            return numbers.number(line.prompt) if line.prompt else ""
        case "reused":
            # the bar stands before it
            return numbers.number(line.reused) if line.prompt and not line.under_way else ""
        case "first":
            seconds = line.first_seconds
            return "" if seconds is None else say("transcript.short-time", seconds=seconds)
        case "speed":
            return "" if line.speed is None else numbers.number(line.speed, 0)
        case _:
            return why(line)


def _state(line: ServedLine) -> str:
    if line.state is LineState.PROCESSING and line.prompt:
        percent = 100 * line.done // line.prompt
        return say("settings.request-processing", percent=percent)
    return say(_STATES[line.state])


def why(line: ServedLine) -> str:
    """The reason for which tokens were processed, or the request failed."""
    if line.why is not None:
        return line.why.text
    if line.under_way or not line.prompt:
        return ""
    if line.processed <= 1:
        return say("settings.request-all-reused")
    return say("settings.request-new" if line.reused else "settings.request-nothing-before")


def details(line: ServedLine) -> str:
    """All figures of a line."""
    said = [line.model, why(line)]
    if line.prompt and not line.under_way:
        said.append(
            say(
                "settings.request-sources",
                reused=line.reused,
                memory=line.from_memory,
                disk=line.from_disk,
                processed=line.processed,
            )
        )
    if line.verified:
        said.append(say("settings.request-drafts", accepted=line.accepted, verified=line.verified))
    return "\n".join(one for one in said if one)


def _side(column: str) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in _NUMBERS else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
