"""Widgets that show one block each: prose, and a user's plain text (the others are in
code_block.py, table_block.py and formula_block.py).

A block lays out its QTextDocument for a width and paints it; the selection and search matches
belong to the transcript, which the block asks through `BlockHost`.
"""

from __future__ import annotations

from math import floor
from typing import Protocol

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, QUrl
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QDesktopServices,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
)
from PySide6.QtWidgets import QWidget

from headstart.core.chats.parts import Origin, OriginRun
from headstart.core.text.units import from_units, spans_in_units
from headstart.ui.kit import theme
from headstart.ui.kit.accessible import Spoken, be_read
from headstart.ui.kit.line_heights import LevelLines, is_high, set_line_height
from headstart.ui.kit.wrapping import is_endless, wrap
from headstart.ui.transcript.boxes import paint_boxes
from headstart.ui.transcript.cited import CitedMark, cited_at, cited_selections, cited_tip
from headstart.ui.transcript.document_text import objects_of, text_between
from headstart.ui.transcript.heard_block import HeardBlock
from headstart.ui.transcript.highlight import Highlighter
from headstart.ui.transcript.markdown import Block
from headstart.ui.transcript.origins import (
    source_between,
    tinted_ranges,
)
from headstart.ui.transcript.prose import append, fill, growth


class BlockHost(Protocol):
    """The transcript, as a block sees it."""

    @property
    def highlighter(self) -> Highlighter: ...

    @property
    def tinted(self) -> bool:
        """True if drafted text is tinted."""
        ...

    def selection_in(self, block: TextBlock) -> tuple[int, int] | None: ...

    def found_in(self, block: TextBlock) -> list[tuple[int, int, bool]]:
        """Search matches: from, to, and True for the current one."""
        ...

    def cited_in(self, block: TextBlock) -> list[CitedMark]:
        """Marks of passages in a reply."""
        ...

    def open_citation(self, cited: CitedMark) -> None: ...

    def press(self, block: TextBlock, position: int, event: QMouseEvent) -> None: ...

    def drag(self, event: QMouseEvent) -> None: ...

    def double_click(self, block: TextBlock, position: int) -> None: ...

    def link_hovered(self, url: str) -> None: ...

    def save_code(self, code: str, language: str) -> None: ...

    def height_of_block_changed(self, block: TextBlock) -> None: ...


class TextBlock(QWidget):
    """A document at an offset inside the widget; the base of every block."""

    def __init__(self, host: BlockHost, parent: QWidget, block: Block) -> None:
        super().__init__(parent)
        self.host = host
        self.block = block
        self.document = QTextDocument(self)
        self.document.setDocumentMargin(0)
        self.document.setUndoRedoEnabled(False)
        self.lines = LevelLines(self.document)
        self.setMouseTracking(True)
        self.setCursor(Qt.CursorShape.IBeamCursor)
        be_read(self, Spoken.Paragraph)
        self._origins: tuple[OriginRun, ...] = ()
        self._tints: list[tuple[int, int, Origin]] | None = None

    def offset(self) -> QPointF:
        """Offset of the document inside the widget."""
        return QPointF(0, 0)

    def inside(self, point: QPointF) -> QPointF:
        """The point of the document at a point of this widget."""
        return point - self.offset()

    def shown_x(self, x: float) -> float:
        """The place in this widget of a place in the document, across."""
        return self.offset().x() + x

    def left_of(self, block: QTextBlock) -> float:
        """The place of a cell in the document, from which its lines are counted; 0 elsewhere."""
        if QTextCursor(block).currentTable() is None:
            return 0.0
        return self.document.documentLayout().blockBoundingRect(block).left()

    def layout_width(self, width: int) -> int:
        """Lay out for `width` and return the height; the owner resizes the widget."""
        raise NotImplementedError

    def source(self) -> tuple[str, int]:
        """The Markdown shown, and its start in the message."""
        return self.block.source, self.block.start

    def set_block(self, block: Block) -> None:
        """Show another block of the same kind."""
        self.block = block
        self._tints = None
        self.refresh()
        self.update()

    def refresh(self) -> None:
        """Rebuild the document with the theme's current fonts and colours."""
        raise NotImplementedError

    def set_origins(self, origins: tuple[OriginRun, ...]) -> None:
        """Set the origins of the message's characters."""
        self._origins, self._tints = origins, None
        if self.host.tinted:
            self.update()

    def tint_selections(self) -> list[QAbstractTextDocumentLayout.Selection]:
        """Tints as an overlay: the document itself does not know the origins."""
        if not self.host.tinted or not self._origins:
            return []
        if self._tints is None:
            source, start = self.source()
            shown, objects = self.document.toPlainText(), objects_of(self.document)
            ranges = tinted_ranges(shown, source, start, self._origins, objects)
            self._tints = spans_in_units(shown, ranges)
        colours = theme.current()
        fill = {True: colours.by_draft, False: colours.by_lookup}
        return [
            self._marked(begin, end, QColor(fill[origin.drafted]))
            for begin, end, origin in self._tints
        ]

    def _marked(
        self, begin: int, end: int, colour: QColor
    ) -> QAbstractTextDocumentLayout.Selection:
        part = QAbstractTextDocumentLayout.Selection()
        cursor = QTextCursor(self.document)
        cursor.setPosition(begin)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        form = QTextCharFormat()
        form.setBackground(colour)
        part.cursor = cursor
        part.format = form
        return part

    def text_length(self) -> int:
        return max(0, self.document.characterCount() - 1)

    def selected_text(self, begin: int, end: int) -> str:
        return text_between(self.document, begin, end)

    def selected_source(self, begin: int, end: int) -> str:
        """The Markdown between two positions of the document."""
        source, _start = self.source()
        if begin <= 0 and end >= self.text_length():
            return source.strip("\n")
        shown, objects = self.document.toPlainText(), objects_of(self.document)
        places = from_units(shown, begin), from_units(shown, end)
        return source_between(shown, source, places, objects)

    def position_at(self, point: QPointF) -> int:
        """The character nearest to a point of this widget."""
        layout = self.document.documentLayout()
        position = layout.hitTest(self.inside(point), Qt.HitTestAccuracy.FuzzyHit)
        return max(0, position)

    def y_of(self, position: int) -> float:
        """Top of a character's line, in this widget."""
        block = self.document.findBlock(position)
        layout = self.document.documentLayout()
        line = block.layout().lineForTextPosition(position - block.position())
        top = layout.blockBoundingRect(block).top()
        return self.offset().y() + top + (line.y() if line.isValid() else 0.0)

    def heard(self) -> HeardBlock:
        """The text for screen readers."""
        return HeardBlock(self, lambda: self.host.selection_in(self))

    def set_text_width(self, width: float) -> None:
        # Qt repeats the whole layout even for an unchanged width
        if self.document.textWidth() != width:
            self.document.setTextWidth(width)

    def paint_document(self, painter: QPainter, area: QRect) -> None:
        """Draw the part of the document inside `area` of this widget."""
        context = QAbstractTextDocumentLayout.PaintContext()
        context.clip = QRectF(area).translated(-self.offset())
        palette = self.palette()
        context.palette = palette
        marks = self.tint_selections()
        for begin, end, current in self.host.found_in(self):
            colours = theme.current()
            fill = colours.found_now if current else colours.found
            marks.append(self._marked(begin, end, QColor(fill)))
        marks += cited_selections(self.document, self.host.cited_in(self))
        selected = self.host.selection_in(self)
        if selected:
            marks.append(self._marked(*selected, palette.color(QPalette.ColorRole.Highlight)))
        if marks:
            context.selections = marks
        painter.translate(self.offset())
        self.document.documentLayout().draw(painter, context)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self.paint_document(painter, event.rect())
        painter.end()

    def _link_at(self, point: QPointF) -> str:
        return self.document.documentLayout().anchorAt(self.inside(point))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.host.press(self, self.position_at(event.position()), event)
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self.host.drag(event)
            return
        url = self._link_at(event.position())
        cited = cited_at(self.document, self.inside(event.position()), self.host.cited_in(self))
        hand = url or cited is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if hand else Qt.CursorShape.IBeamCursor)
        self.setToolTip("" if cited is None else cited_tip(cited))
        self.host.link_hovered(url)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            super().mouseReleaseEvent(event)
            return
        if self.host.selection_in(self) is not None:
            return
        url = self._link_at(event.position())
        cited = cited_at(self.document, self.inside(event.position()), self.host.cited_in(self))
        if cited is not None:
            self.host.open_citation(cited)
        elif url:
            open_link(url)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.host.double_click(self, self.position_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self.host.link_hovered("")
        super().leaveEvent(event)


def open_link(url: str) -> None:
    """Open a link outside; only web and mail addresses, never a local file or a program."""
    target = QUrl(url)
    if target.scheme() in ("http", "https", "mailto"):
        QDesktopServices.openUrl(target)


class ProseBlock(TextBlock):
    """A paragraph, heading, quote, or an item of a list."""

    def __init__(self, host: BlockHost, parent: QWidget, block: Block) -> None:
        super().__init__(host, parent, block)
        self.refresh()

    def set_block(self, block: Block) -> None:
        words = None if is_endless(block.source) else growth(self.block.html, block.html)
        if words is None:
            super().set_block(block)
            return
        self.block, self._tints = block, None
        end = self.text_length()
        # only the last lines of a growing reply change; tall letters reach above their line
        top = floor(self.y_of(max(0, end - 1))) - theme.line_height() // 3
        append(self.document, words)
        self.setAccessibleName(self.accessibleName() + words)
        self.update(0, top, self.width(), self.height() - top)

    @property
    def is_heading(self) -> bool:
        return self.block.html.startswith("<h")

    def refresh(self) -> None:
        fill(self.document, self.block)
        be_read(self, Spoken.Heading if self.is_heading else Spoken.Paragraph)
        self.setAccessibleName(text_between(self.document, 0, self.text_length()))

    def layout_width(self, width: int) -> int:
        self.set_text_width(width)
        return round(self.lines.size().height())

    def paint_document(self, painter: QPainter, area: QRect) -> None:
        super().paint_document(painter, area)
        if 'class="checked"' in self.block.html or 'class="unchecked"' in self.block.html:
            paint_boxes(painter, self.document)


class PlainBlock(TextBlock):
    """A user's message, verbatim, in a bubble as wide as its text; or a part of a long message,
    whose bubble takes the full width."""

    PAD_X, PAD_Y = 14, 9

    def __init__(self, host: BlockHost, parent: QWidget, block: Block) -> None:
        super().__init__(host, parent, block)
        self.bubble_width = 0
        self._laid_out_for = -1
        option = QTextOption()
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        self.document.setDefaultTextOption(option)
        self.refresh()

    def refresh(self) -> None:
        self._laid_out_for = -1
        wrap(self.document, is_endless(self.block.text), theme.reading_font())
        self.document.setPlainText(self.block.text)
        form = QTextBlockFormat()
        set_line_height(form, is_high(self.block.text))
        cursor = QTextCursor(self.document)
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.mergeBlockFormat(form)
        self.setAccessibleName(self.block.text)

    def offset(self) -> QPointF:
        # the extra line height is above the text: slightly less padding above evens it out
        return QPointF(self.PAD_X, self._above - 2 if self._above else 0)

    def layout_width(self, width: int) -> int:
        inner = width - 2 * self.PAD_X
        if inner != self._laid_out_for:
            self._laid_out_for = inner
            self.document.setTextWidth(inner)
            if self.block.whole:
                self.document.setTextWidth(min(inner, int(self.document.idealWidth()) + 2))
        ideal = round(self.document.textWidth())
        self.bubble_width = ideal + 2 * self.PAD_X
        return round(self.lines.size().height()) + self._above + self._below

    @property
    def _above(self) -> int:
        return 0 if self.block.tight else self.PAD_Y

    @property
    def _below(self) -> int:
        return 0 if self.block.goes_on else self.PAD_Y

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.current().bubble))
        radius = theme.RADIUS_BUBBLE
        # corners are rounded only at the start and end of the message
        over, under = (0 if each else 2 * radius for each in (self._above, self._below))
        bubble = QRectF(self.rect()).adjusted(0, -over, 0, under)
        painter.drawRoundedRect(bubble, radius, radius)
        self.paint_document(painter, event.rect())
        painter.end()
