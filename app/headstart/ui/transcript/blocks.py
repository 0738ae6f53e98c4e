"""The widgets that show one block each: prose, and a user's plain words (code: code_block.py).

A block lays its QTextDocument out for a width and paints it; selection belongs to the
transcript, which the block asks through `BlockHost`.
"""

from __future__ import annotations

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
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
)
from PySide6.QtWidgets import QWidget

from headstart.core.parts import Origin, OriginRun
from headstart.ui import theme
from headstart.ui.transcript.highlight import Highlighter
from headstart.ui.transcript.markdown import Block
from headstart.ui.transcript.origins import in_utf16, tinted_ranges
from headstart.ui.wrapping import is_endless, wrap


class BlockHost(Protocol):
    """What a block needs from the transcript around it."""

    @property
    def highlighter(self) -> Highlighter: ...

    @property
    def tinted(self) -> bool:
        """Whether drafted words are marked."""
        ...

    def selection_in(self, block: TextBlock) -> tuple[int, int] | None: ...

    def press(self, block: TextBlock, position: int, event: QMouseEvent) -> None: ...

    def drag(self, event: QMouseEvent) -> None: ...

    def double_click(self, block: TextBlock, position: int) -> None: ...

    def link_hovered(self, url: str) -> None: ...


class TextBlock(QWidget):
    """A document at an offset inside the widget; the base of every block."""

    def __init__(self, host: BlockHost, parent: QWidget) -> None:
        super().__init__(parent)
        self.host = host
        self.document = QTextDocument(self)
        self.document.setDocumentMargin(0)
        self.document.setUndoRedoEnabled(False)
        self.setMouseTracking(True)
        self.setCursor(Qt.CursorShape.IBeamCursor)
        self._origins: tuple[OriginRun, ...] = ()
        self._tints: list[tuple[int, int, Origin]] | None = None

    def offset(self) -> QPointF:
        """Where the document begins."""
        return QPointF(0, 0)

    def layout_width(self, width: int) -> int:
        """Lay out for `width` and return the height; the widget is resized by its owner."""
        raise NotImplementedError

    def source(self) -> tuple[str, int]:
        """The Markdown that is shown, and where it begins in the message."""
        return "", 0

    def set_origins(self, origins: tuple[OriginRun, ...]) -> None:
        """Where the message's characters came from."""
        self._origins, self._tints = origins, None
        if self.host.tinted:
            self.update()

    def tint_selections(self) -> list[QAbstractTextDocumentLayout.Selection]:
        """An overlay: the document itself knows nothing of origins."""
        if not self.host.tinted or not self._origins:
            return []
        if self._tints is None:
            source, start = self.source()
            shown = self.document.toPlainText()
            self._tints = in_utf16(shown, tinted_ranges(shown, source, start, self._origins))
        colours = theme.current()
        fill = {Origin.DRAFT: colours.by_draft, Origin.LOOKUP: colours.by_lookup}
        return [
            self._marked(begin, end, QColor(fill[origin])) for begin, end, origin in self._tints
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
        cursor = QTextCursor(self.document)
        cursor.setPosition(begin)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        return cursor.selection().toPlainText()

    def position_at(self, point: QPointF) -> int:
        """The character nearest to a point of this widget."""
        layout = self.document.documentLayout()
        position = layout.hitTest(point - self.offset(), Qt.HitTestAccuracy.FuzzyHit)
        return max(0, position)

    def set_text_width(self, width: float) -> None:
        # Qt lays the whole document out again even for the width it has
        if self.document.textWidth() != width:
            self.document.setTextWidth(width)

    def paint_document(self, painter: QPainter, area: QRect) -> None:
        """Draw what of the document lies in `area` of this widget."""
        context = QAbstractTextDocumentLayout.PaintContext()
        context.clip = QRectF(area).translated(-self.offset())
        palette = self.palette()
        context.palette = palette
        marks = self.tint_selections()
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
        return self.document.documentLayout().anchorAt(point - self.offset())

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
        self.setCursor(Qt.CursorShape.PointingHandCursor if url else Qt.CursorShape.IBeamCursor)
        self.host.link_hovered(url)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            super().mouseReleaseEvent(event)
            return
        url = self._link_at(event.position())
        if url and self.host.selection_in(self) is None:
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
    """A paragraph, heading, list, quote or table of a reply."""

    def __init__(self, host: BlockHost, parent: QWidget, block: Block) -> None:
        super().__init__(host, parent)
        self.set_block(block)

    def set_block(self, block: Block) -> None:
        self.block = block
        self._tints = None
        self.refresh()

    def source(self) -> tuple[str, int]:
        return self.block.source, self.block.start

    @property
    def is_heading(self) -> bool:
        return self.block.html.startswith("<h")

    def refresh(self) -> None:
        """Make the document again, in the theme's fonts and colours of now."""
        colours = theme.current()
        size = theme.px(theme.TEXT_SIZE)
        wrap(self.document, is_endless(self.block.source), theme.text_font())
        self.document.setDefaultStyleSheet(
            f"a {{ color: {colours.accent}; }}"
            f"code, pre {{ font-family: 'JetBrains Mono'; font-size: {theme.px(13)}px;"
            f" background-color: {colours.code}; }}"
            "pre { white-space: pre-wrap; }"
            f"h1 {{ font-size: {round(size * 1.5)}px; }} h2 {{ font-size: {round(size * 1.3)}px; }}"
            f"h3, h4, h5, h6 {{ font-size: {round(size * 1.1)}px; }}"
            f"blockquote {{ color: {colours.quiet}; }}"
            f"table {{ border-collapse: collapse; border-color: {colours.line}; }}"
            f"th {{ background-color: {colours.code}; }}"
        )
        self.document.setHtml(self.block.html)
        self._space_lines()
        self.setAccessibleName(self.document.toPlainText())

    def _space_lines(self) -> None:
        cursor = QTextCursor(self.document)
        # one edit: otherwise Qt lays everything out again for every line
        cursor.beginEditBlock()
        block = self.document.begin()
        last = self.document.blockCount() - 1
        while block.isValid():
            form = QTextBlockFormat()
            in_table = QTextCursor(block).currentTable() is not None
            if not block.blockFormat().headingLevel() and not in_table:
                form.setLineHeight(
                    theme.px(theme.LINE_HEIGHT),
                    QTextBlockFormat.LineHeightTypes.MinimumHeight.value,
                )
            # the space around a block is the transcript's
            if block.blockNumber() == 0:
                form.setTopMargin(0)
            if block.blockNumber() == last:
                form.setBottomMargin(0)
            elif block.textList() is not None:
                form.setTopMargin(0)
                form.setBottomMargin(2)
            cursor.setPosition(block.position())
            cursor.mergeBlockFormat(form)
            block = block.next()
        cursor.endEditBlock()

    def layout_width(self, width: int) -> int:
        self.set_text_width(width)
        return round(self.document.size().height())


class PlainBlock(TextBlock):
    """A user's message, word for word, in a bubble that is as wide as it needs to be."""

    PAD_X, PAD_Y = 14, 9

    def __init__(self, host: BlockHost, parent: QWidget, text: str) -> None:
        super().__init__(host, parent)
        self._text = text
        self.bubble_width = 0
        self._laid_out_for = -1
        option = QTextOption()
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        self.document.setDefaultTextOption(option)
        self.refresh()

    def refresh(self) -> None:
        self._laid_out_for = -1
        wrap(self.document, is_endless(self._text), theme.text_font())
        self.document.setPlainText(self._text)
        form = QTextBlockFormat()
        form.setLineHeight(
            theme.px(theme.LINE_HEIGHT), QTextBlockFormat.LineHeightTypes.MinimumHeight.value
        )
        cursor = QTextCursor(self.document)
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.mergeBlockFormat(form)
        self.setAccessibleName(self._text)

    def offset(self) -> QPointF:
        # the extra line height lies above the words: a little less room above evens it out
        return QPointF(self.PAD_X, self.PAD_Y - 2)

    def layout_width(self, width: int) -> int:
        inner = width - 2 * self.PAD_X
        if inner != self._laid_out_for:
            self._laid_out_for = inner
            self.document.setTextWidth(inner)
            self.document.setTextWidth(min(inner, int(self.document.idealWidth()) + 2))
        ideal = round(self.document.textWidth())
        self.bubble_width = ideal + 2 * self.PAD_X
        return round(self.document.size().height()) + 2 * self.PAD_Y

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.current().bubble))
        radius = theme.RADIUS_BUBBLE
        painter.drawRoundedRect(QRectF(self.rect()), radius, radius)
        self.paint_document(painter, event.rect())
        painter.end()
