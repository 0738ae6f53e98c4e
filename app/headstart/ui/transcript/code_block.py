"""The widget of a code block: language, Copy, colours, sideways scrolling."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt, QTimer
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QGuiApplication,
    QPainter,
    QPaintEvent,
    QTextCharFormat,
    QTextCursor,
    QTextLayout,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QScrollBar, QToolButton, QWidget

from headstart.ui import icons, theme
from headstart.ui.transcript.blocks import BlockHost, TextBlock
from headstart.ui.transcript.highlight import Span
from headstart.ui.transcript.markdown import Block

_serials = itertools.count(1)
# while code streams its colours follow at this pace; lexing starts from the beginning each time
COLOUR_MS = 200
COPIED_MS = 1500


class CodeBlock(TextBlock):
    """Fenced code: language, Copy, colours; long lines scroll sideways and never wrap."""

    PAD, HEAD = 14, 32

    def __init__(self, host: BlockHost, parent: QWidget, block: Block) -> None:
        super().__init__(host, parent)
        self.id = next(_serials)
        self._asked = 0
        self.spans: Sequence[Span] = ()
        # line number -> the colours it shows, to touch only lines that change
        self._shown: dict[int, tuple[tuple[int, int, str], ...]] = {}
        self._code = ""
        self._ask_again = QTimer(self)
        self._ask_again.setSingleShot(True)
        self._ask_again.setInterval(COLOUR_MS)
        self._ask_again.timeout.connect(self._ask)
        self.copy_button = QToolButton(self)
        self.copy_button.setObjectName("small")
        self.copy_button.setText("Copy")
        self.copy_button.setAccessibleName("Copy this code")
        self.copy_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.copy_button.setCursor(Qt.CursorShape.PointingHandCursor)
        self.copy_button.clicked.connect(self._copy_code)
        self.bar = QScrollBar(Qt.Orientation.Horizontal, self)
        self.bar.setCursor(Qt.CursorShape.ArrowCursor)
        self.bar.valueChanged.connect(lambda _value: self.update())
        self.bar.hide()
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.NoWrap)
        self.document.setDefaultTextOption(option)
        host.highlighter.highlighted.connect(self._on_highlighted)
        self.set_block(block)
        self.refresh()

    def set_block(self, block: Block) -> None:
        self.block = block
        self._tints = None
        code = block.code or ""
        old, self._code = self._code, code
        if code == old:
            return
        if old and code.startswith(old):
            cursor = QTextCursor(self.document)
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(code[len(old) :])
        else:
            self.spans, self._shown = (), {}
            self.document.setPlainText(code)
        if not self._ask_again.isActive():
            self._ask_again.start()

    def source(self) -> tuple[str, int]:
        # the line that opens the block names the language, which is not shown in the document
        head = self.block.source.find("\n") + 1 if self.block.source[:3] in ("```", "~~~") else 0
        return self.block.source[head:], self.block.start + head

    def refresh(self) -> None:
        """Take over the theme's font and colours of now."""
        font = theme.code_font()
        self.document.setDefaultFont(font)
        option = self.document.defaultTextOption()
        option.setTabStopDistance(4 * QFontMetrics(font).horizontalAdvance(" "))
        self.document.setDefaultTextOption(option)
        self.copy_button.setFont(theme.text_font(theme.SMALL_SIZE))
        self.copy_button.setIcon(icons.icon("copy"))
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
        return QPointF(self.PAD - self.bar.value(), self.HEAD)

    def layout_width(self, width: int) -> int:
        # without wrapping the width is that of the longest line
        self.set_text_width(-1)
        size = self.document.size()
        inner = width - 2 * self.PAD
        hidden = max(0, round(size.width()) - inner)
        bottom = 12
        height = self.HEAD + round(size.height()) + bottom
        self.bar.setVisible(hidden > 0)
        if hidden:
            self.bar.setRange(0, hidden)
            self.bar.setPageStep(inner)
            self.bar.setSingleStep(24)
            self.bar.setGeometry(self.PAD - 2, height - 10, width - 2 * self.PAD + 4, 10)
        else:
            self.bar.setRange(0, 0)
        hint = self.copy_button.sizeHint()
        self.copy_button.setGeometry(width - hint.width() - 8, 4, hint.width(), hint.height())
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
        if sideways and self.bar.maximum() > 0:
            self.bar.setValue(self.bar.value() - sideways // 2)
            event.accept()
        else:
            event.ignore()

    def _copy_code(self) -> None:
        QGuiApplication.clipboard().setText(self._code)
        self.copy_button.setIcon(icons.icon("check", theme.current().accent))
        self.copy_button.setAccessibleName("Copied")
        QTimer.singleShot(COPIED_MS, self.copy_button, self._show_copy)

    def _show_copy(self) -> None:
        self.copy_button.setIcon(icons.icon("copy"))
        self.copy_button.setAccessibleName("Copy this code")

    def _on_highlighted(self, block: int, serial: int, spans: Sequence[Span]) -> None:
        if block == self.id:
            # an older answer still fits the beginning of code that has grown since
            self.spans = spans
            self._colour()

    def _colour(self) -> None:
        """Give every line its spans; only lines whose colours change are laid out again."""
        spans = self.spans
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
