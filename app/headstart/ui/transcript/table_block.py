"""The widget of a table, or of a part of a long one: columns as wide as their texts need, or
shrunk to fit; a table that is still wider than the transcript scrolls sideways.

Qt's tables have no direction. A table whose first column is the right one is laid out as any other,
and its columns are shown in the other order: the text stays in its own order for everything else.
"""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import (
    QFontMetricsF,
    QPainter,
    QPaintEvent,
    QTextBlockFormat,
    QTextCursor,
    QTextLength,
    QTextTable,
)
from PySide6.QtWidgets import QWidget

from headstart.ui.kit import theme
from headstart.ui.transcript.blocks import BlockHost
from headstart.ui.transcript.document_text import text_between
from headstart.ui.transcript.markdown import Block
from headstart.ui.transcript.prose import fill
from headstart.ui.transcript.sideways import SidewaysBlock
from headstart.ui.wording import say

# px at 100 %: half of WIDEST limits the columns of a table that cannot fit; NARROWEST is the least
# width to which columns shrink to fit
WIDEST, NARROWEST = 340, 70
# px around a cell's text, including borders
_AROUND = 14
# extra px of every column
_LINE = 2


class TableBlock(SidewaysBlock):
    def __init__(self, host: BlockHost, parent: QWidget, block: Block) -> None:
        super().__init__(host, parent, block)
        self._laid_out_for = -1
        # of a table from the right: the beginnings of its columns in the document, and its end
        self._edges: list[float] = []
        self._widths: list[float] = []
        self.refresh()

    def refresh(self) -> None:
        self._laid_out_for = -1
        fill(self.document, self.block)
        if self.block.from_right:
            self._align_right()
        self.setAccessibleName(
            say(
                "transcript.table-text-between",
                text_between=text_between(self.document, 0, self.text_length()),
            )
        )

    def layout_width(self, width: int) -> int:
        if width != self._laid_out_for:
            self._laid_out_for = width
            self._set_columns(width)
        size = self.lines.size()
        self._edges = self._find_edges() if self.block.from_right else []
        at_beginning = not self.bar.isVisibleTo(self) or self.bar.maximum() == self.bar.value()
        height = self.place_bar(width, size.width(), size.height())
        if self._edges and at_beginning:
            # where reading begins
            self.bar.setValue(self.bar.maximum())
        return height

    def inside(self, point: QPointF) -> QPointF:
        found = super().inside(point)
        for begin, end in pairwise(self._edges):
            left = self._wide - end
            if left <= found.x() < left + end - begin:
                return QPointF(begin + found.x() - left, found.y())
        if self._edges:
            # beside the table
            return QPointF(self._wide - found.x(), found.y())
        return found

    def shown_x(self, x: float) -> float:
        for begin, end in pairwise(self._edges):
            if begin <= x < end:
                x += self._wide - end - begin
                break
        return super().shown_x(x)

    @property
    def _wide(self) -> float:
        """The width in which the columns are turned."""
        return max(self.document.textWidth(), self.lines.size().width())

    def _tables(self) -> list[QTextTable]:
        return [
            frame
            for frame in self.document.rootFrame().childFrames()
            if isinstance(frame, QTextTable)
        ]

    def _align_right(self) -> None:
        """Have cells begin at the right that do not say where."""
        cursor = QTextCursor(self.document)
        cursor.beginEditBlock()
        block = self.document.begin()
        while block.isValid():
            # one that the text chose is absolute
            if block.blockFormat().alignment() == Qt.AlignmentFlag.AlignLeft:
                form = QTextBlockFormat()
                form.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute)
                cursor.setPosition(block.position())
                cursor.mergeBlockFormat(form)
            block = block.next()
        cursor.endEditBlock()

    def _find_edges(self) -> list[float]:
        tables, layout = self._tables(), self.document.documentLayout()
        if not tables or not self._widths:
            return []
        table = tables[0]
        around = table.format().cellPadding() + table.format().border()
        lefts = [
            layout.blockBoundingRect(table.cellAt(0, column).firstCursorPosition().block()).left()
            for column in range(table.columns())
        ]
        edges = [left - around for left in lefts]
        # the frame is wider than its last column, and each column by a line than its width
        line = edges[1] - edges[0] - self._widths[0] if len(edges) > 1 else _LINE
        return [*edges, edges[-1] + self._widths[-1] + line]

    def paint_document(self, painter: QPainter, area: QRect) -> None:
        if not self._edges:
            super().paint_document(painter, area)
            return
        offset = self.offset().x()
        for begin, end in pairwise(self._edges):
            left = self._wide - end
            column = QRectF(offset + left, area.top(), end - begin + 1, area.height())
            here = column.intersected(QRectF(area))
            if here.isEmpty():
                continue
            painter.save()
            painter.setClipRect(here, Qt.ClipOperation.IntersectClip)
            painter.translate(left - begin, 0)
            super().paint_document(painter, here.translated(begin - left, 0).toAlignedRect())
            painter.restore()

    def _set_columns(self, width: int) -> None:
        """Set the same column widths in every part of a table, from each column's longest text."""
        metrics = QFontMetricsF(theme.reading_font())
        # headers are bold, and code is wider
        wanted = [
            max(theme.px(24), metrics.horizontalAdvance(text) * 1.12 + _AROUND)
            for text in self.block.columns
        ]
        # borders, and the extra width Qt adds to each column
        around = _LINE * (len(wanted) + 2)
        widths = _fitted(wanted, width - around, theme.px(WIDEST), theme.px(NARROWEST))
        self._widths = widths
        fixed = QTextLength.Type.FixedLength
        for table in self._tables():
            form = table.format()
            form.setColumnWidthConstraints([QTextLength(fixed, each) for each in widths])
            table.setFormat(form)
        self.set_text_width(max(width, sum(widths) + around))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self.paint_inside(painter, event)
        painter.end()


def _fitted(wanted: list[float], room: float, widest: float, narrowest: float) -> list[float]:
    """Column widths: as wanted if they fit; else wide columns shrink, down to `narrowest`. If that
    does not fit either, columns keep readable widths and the table is wider than the room."""
    if sum(wanted) <= room or not wanted:
        return wanted
    low, high = narrowest, max(wanted)
    for _ in range(30):
        limit = (low + high) / 2
        if sum(min(each, limit) for each in wanted) > room:
            high = limit
        else:
            low = limit
    if sum(min(each, low) for each in wanted) <= room:
        return [min(each, low) for each in wanted]
    # too many columns for the room: each gets a readable width
    return [min(each, max(widest / 2, narrowest)) for each in wanted]
