"""The widget of a table, or of a part of a long one: columns as wide as their texts need, or
shrunk to fit; a table that is still wider than the transcript scrolls sideways."""

from __future__ import annotations

from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QTextLength, QTextTable
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
        self.refresh()

    def refresh(self) -> None:
        self._laid_out_for = -1
        fill(self.document, self.block)
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
        return self.place_bar(width, size.width(), size.height())

    def _set_columns(self, width: int) -> None:
        """Set the same column widths in every part of a table, from each column's longest text."""
        tables = [
            frame for frame in self.document.rootFrame().childFrames()
            if isinstance(frame, QTextTable)
        ]  # fmt: skip
        metrics = QFontMetricsF(theme.reading_font())
        # headers are bold, and code is wider
        wanted = [
            max(theme.px(24), metrics.horizontalAdvance(text) * 1.12 + _AROUND)
            for text in self.block.columns
        ]
        # borders, and the extra width Qt adds to each column
        around = _LINE * (len(wanted) + 2)
        widths = _fitted(wanted, width - around, theme.px(WIDEST), theme.px(NARROWEST))
        fixed = QTextLength.Type.FixedLength
        for table in tables:
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
