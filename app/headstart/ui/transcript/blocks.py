"""The widgets that show one block each: prose, code, and a user's plain words.

A block lays its QTextDocument out for a width and paints it; selection belongs to the
transcript, which the block asks through `BlockHost`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Protocol

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, QTimer, QUrl
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QDesktopServices,
    QFontMetrics,
    QGuiApplication,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextLayout,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QScrollBar, QToolButton, QWidget

from headstart.ui import icons, theme
from headstart.ui.transcript.highlight import Highlighter, Span
from headstart.ui.transcript.markdown import Block

_serials = itertools.count(1)
# while code streams its colours follow at this pace; lexing starts from the beginning each time
COLOUR_MS = 200
COPIED_MS = 1500


class BlockHost(Protocol):
    """What a block needs from the transcript around it."""

    @property
    def highlighter(self) -> Highlighter: ...

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

    def offset(self) -> QPointF:
        """Where the document begins."""
        return QPointF(0, 0)

    def layout_width(self, width: int) -> int:
        """Lay out for `width` and return the height; the widget is resized by its owner."""
        raise NotImplementedError

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
        selected = self.host.selection_in(self)
        if selected:
            part = QAbstractTextDocumentLayout.Selection()
            cursor = QTextCursor(self.document)
            cursor.setPosition(selected[0])
            cursor.setPosition(selected[1], QTextCursor.MoveMode.KeepAnchor)
            form = QTextCharFormat()
            form.setBackground(palette.color(QPalette.ColorRole.Highlight))
            part.cursor = cursor
            part.format = form
            context.selections = [part]
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
        self.refresh()

    @property
    def is_heading(self) -> bool:
        return self.block.html.startswith("<h")

    def refresh(self) -> None:
        """Make the document anew, in the theme's fonts and colours of now."""
        colours = theme.current()
        size = theme.px(theme.TEXT_SIZE)
        self.document.setDefaultFont(theme.text_font())
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
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        self.document.setDefaultTextOption(option)
        self.refresh()

    def refresh(self) -> None:
        self._laid_out_for = -1
        self.document.setDefaultFont(theme.text_font())
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


class CodeBlock(TextBlock):
    """Fenced code: language, Copy, colours; long lines scroll sideways and never wrap."""

    PAD, HEAD = 14, 32

    def __init__(self, host: BlockHost, parent: QWidget, block: Block) -> None:
        super().__init__(host, parent)
        self.id = next(_serials)
        self._asked = 0
        self._spans: Sequence[Span] = ()
        # line number -> the colours it shows, to touch only lines that change
        self._shown: dict[int, tuple[tuple[int, int, str], ...]] = {}
        self._code = ""
        self._ask_again = QTimer(self)
        self._ask_again.setSingleShot(True)
        self._ask_again.setInterval(COLOUR_MS)
        self._ask_again.timeout.connect(self._ask)
        self._copy = QToolButton(self)
        self._copy.setObjectName("small")
        self._copy.setText("Copy")
        self._copy.setAccessibleName("Copy this code")
        self._copy.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._copy.setCursor(Qt.CursorShape.PointingHandCursor)
        self._copy.clicked.connect(self._copy_code)
        self._bar = QScrollBar(Qt.Orientation.Horizontal, self)
        self._bar.setCursor(Qt.CursorShape.ArrowCursor)
        self._bar.valueChanged.connect(lambda _value: self.update())
        self._bar.hide()
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.NoWrap)
        self.document.setDefaultTextOption(option)
        host.highlighter.highlighted.connect(self._on_highlighted)
        self.set_block(block)
        self.refresh()

    def set_block(self, block: Block) -> None:
        self.block = block
        code = block.code or ""
        old, self._code = self._code, code
        if code == old:
            return
        if old and code.startswith(old):
            cursor = QTextCursor(self.document)
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(code[len(old) :])
        else:
            self._spans, self._shown = (), {}
            self.document.setPlainText(code)
        if not self._ask_again.isActive():
            self._ask_again.start()

    def refresh(self) -> None:
        """Take over the theme's font and colours of now."""
        font = theme.code_font()
        self.document.setDefaultFont(font)
        option = self.document.defaultTextOption()
        option.setTabStopDistance(4 * QFontMetrics(font).horizontalAdvance(" "))
        self.document.setDefaultTextOption(option)
        self._copy.setFont(theme.text_font(theme.SMALL_SIZE))
        self._copy.setIcon(icons.icon("copy"))
        self._shown = {}
        self._colour()
        self._ask()

    def _ask(self) -> None:
        """Have the colours of the code as it is now worked out."""
        self._asked += 1
        if self.block.language:
            self.host.highlighter.request(self.id, self._asked, self._code, self.block.language)
        name = f"{self.block.language} code" if self.block.language else "code"
        self.setAccessibleName(f"{name}: {self._code}")

    def offset(self) -> QPointF:
        return QPointF(self.PAD - self._bar.value(), self.HEAD)

    def layout_width(self, width: int) -> int:
        # without wrapping the width is that of the longest line
        self.set_text_width(-1)
        size = self.document.size()
        inner = width - 2 * self.PAD
        hidden = max(0, round(size.width()) - inner)
        bottom = 12
        height = self.HEAD + round(size.height()) + bottom
        self._bar.setVisible(hidden > 0)
        if hidden:
            self._bar.setRange(0, hidden)
            self._bar.setPageStep(inner)
            self._bar.setSingleStep(24)
            self._bar.setGeometry(self.PAD - 2, height - 10, width - 2 * self.PAD + 4, 10)
        else:
            self._bar.setRange(0, 0)
        hint = self._copy.sizeHint()
        self._copy.setGeometry(width - hint.width() - 8, 4, hint.width(), hint.height())
        return height

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(colours.line))
        painter.setBrush(QColor(colours.code))
        frame = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(frame, theme.RADIUS_CARD, theme.RADIUS_CARD)
        painter.setPen(QColor(colours.quiet))
        painter.setFont(theme.text_font(theme.SMALL_SIZE))
        head = QRectF(self.PAD, 0, self.width() - 120, self.HEAD)
        painter.drawText(head, int(Qt.AlignmentFlag.AlignVCenter), self.block.language or "text")
        painter.setClipRect(
            QRectF(self.PAD, self.HEAD, self.width() - 2 * self.PAD, self.height() - self.HEAD)
        )
        self.paint_document(painter, event.rect())
        painter.end()

    def wheelEvent(self, event: QWheelEvent) -> None:
        sideways = event.angleDelta().x() or (
            event.angleDelta().y() if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 0
        )
        if sideways and self._bar.maximum() > 0:
            self._bar.setValue(self._bar.value() - sideways // 2)
            event.accept()
        else:
            event.ignore()

    def _copy_code(self) -> None:
        QGuiApplication.clipboard().setText(self._code)
        self._copy.setIcon(icons.icon("check", theme.current().accent))
        self._copy.setAccessibleName("Copied")
        QTimer.singleShot(COPIED_MS, self._copy, self._show_copy)

    def _show_copy(self) -> None:
        self._copy.setIcon(icons.icon("copy"))
        self._copy.setAccessibleName("Copy this code")

    def _on_highlighted(self, block: int, serial: int, spans: Sequence[Span]) -> None:
        if block == self.id:
            # an older answer still fits the beginning of code that has grown since
            self._spans = spans
            self._colour()

    def _colour(self) -> None:
        """Give every line its spans; only lines whose colours change are laid out again."""
        spans = self._spans
        at = 0
        block = self.document.begin()
        while block.isValid():
            begin, end = block.position(), block.position() + block.length() - 1
            while at < len(spans) and spans[at][0] + spans[at][1] <= begin:
                at += 1
            wanted = []
            index = at
            while index < len(spans) and spans[index][0] < end:
                start, length, role = spans[index]
                first, last = max(start, begin), min(start + length, end)
                if last > first:
                    wanted.append((first - begin, last - first, role))
                index += 1
            number = block.blockNumber()
            if self._shown.get(number, ()) != tuple(wanted):
                self._shown[number] = tuple(wanted)
                block.layout().setFormats([_format(*item) for item in wanted])
                self.document.markContentsDirty(begin, block.length())
            block = block.next()
        self.update()


def _format(start: int, length: int, role: str) -> QTextLayout.FormatRange:
    item = QTextLayout.FormatRange()
    item.start, item.length = start, length
    form = QTextCharFormat()
    form.setForeground(QColor(getattr(theme.current(), role)))
    item.format = form
    return item
