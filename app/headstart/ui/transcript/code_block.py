"""The widget of a code block: language, Copy, Save, line wrapping, colours, sideways scrolling."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt, QTimer
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
)
from PySide6.QtWidgets import QWidget

from headstart.core.markdown.json_answer import is_whole_json
from headstart.ui.kit import icons, theme
from headstart.ui.kit.joining import titled
from headstart.ui.kit.tool import small_tool
from headstart.ui.transcript.blocks import BlockHost
from headstart.ui.transcript.highlight import Span
from headstart.ui.transcript.markdown import Block
from headstart.ui.transcript.sideways import SidewaysBlock
from headstart.ui.wording import say

_serials = itertools.count(1)
# interval of new colours while code streams; lexing restarts from the beginning each time
COLOUR_MS = 200
COPIED_MS = 1500


class CodeBlock(SidewaysBlock):
    """Fenced code: long lines scroll sideways, or wrap if the reader wants that."""

    pad, head, foot = 14, 32, 12

    def __init__(self, host: BlockHost, parent: QWidget, block: Block) -> None:
        super().__init__(host, parent, block)
        self.id = next(_serials)
        self._asked = 0
        self.spans: Sequence[Span] = ()
        # line number -> its current colours, to touch only lines that change
        self._shown: dict[int, tuple[tuple[int, int, str], ...]] = {}
        self._code = ""
        self._ask_again = QTimer(self)
        self._ask_again.setSingleShot(True)
        self._ask_again.setInterval(COLOUR_MS)
        self._ask_again.timeout.connect(self._ask)
        self.copy_button = small_tool(
            self, "copy", say("transcript.copy"), say("transcript.copy-code"), tab=False
        )
        self.copy_button.clicked.connect(self._copy_code)
        self.save_button = small_tool(self, "download", name=say("transcript.save-code"), tab=False)
        self.save_button.clicked.connect(self._save_code)
        self.wrap_button = small_tool(
            self, "text-wrap", name=say("transcript.wrap-long-lines"), tab=False
        )
        self.wrap_button.clicked.connect(self._wrap)
        self.wrap_button.setCheckable(True)
        self._buttons = (self.copy_button, self.save_button, self.wrap_button)
        host.highlighter.highlighted.connect(self._on_highlighted)
        self.set_block(block)
        self.refresh()

    def set_block(self, block: Block) -> None:
        self.block = block
        self._tints = None
        code = block.text
        cut = block.written and not block.open and not is_whole_json(block.written)
        self._title = (
            say("transcript.language-not-complete", language=block.language)
            if cut
            else block.language or say("transcript.plain-code")
        )
        self.update()
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
        """Apply the theme's current font and colours."""
        font = theme.code_font()
        self.document.setDefaultFont(font)
        option = self.document.defaultTextOption()
        option.setTabStopDistance(4 * QFontMetrics(font).horizontalAdvance(" "))
        modes = QTextOption.WrapMode
        wraps = self.wrap_button.isChecked()
        option.setWrapMode(modes.WrapAtWordBoundaryOrAnywhere if wraps else modes.NoWrap)
        self.document.setDefaultTextOption(option)
        self._shown = {}
        self._colour()
        self._ask()

    def _ask(self) -> None:
        """Request colours for the current code."""
        self._asked += 1
        if self.block.language:
            self.host.highlighter.request(self.id, self._asked, self._code, self.block.language)
        name = (
            say("transcript.title-code", title=self._title)
            if self.block.language
            else say("transcript.code")
        )
        self.setAccessibleName(titled(name, self._code))

    def layout_width(self, width: int) -> int:
        # without wrapping, the longest line sets the width
        self.set_text_width(width - 2 * self.pad if self.wrap_button.isChecked() else -1)
        size = self.document.size()
        wide = 0.0 if self.wrap_button.isChecked() else size.width()
        height = self.place_bar(width, wide, size.height())
        # shown only if a line is too long, or wrapping is on
        self.wrap_button.setVisible(self.wrap_button.isChecked() or self.bar.maximum() > 0)
        x = width - 8
        for button in self._buttons:
            if not button.isHidden():
                hint = button.sizeHint()
                x -= hint.width() + 2
                button.setGeometry(x, 4, hint.width(), hint.height())
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
        head = QRectF(self.pad, 0, self.width() - 160, self.head)
        flags = Qt.AlignmentFlag
        # code is read from the left in every window
        side = flags.AlignVCenter | flags.AlignLeft | flags.AlignAbsolute
        painter.drawText(head, int(side), self._title)
        self.paint_inside(painter, event)
        painter.end()

    def _wrap(self) -> None:
        self.refresh()
        self.host.height_of_block_changed(self)

    @property
    def _as_written(self) -> str:
        return self.block.written or self._code

    def _save_code(self) -> None:
        self.host.save_code(self._as_written, self.block.language)

    def _copy_code(self) -> None:
        QGuiApplication.clipboard().setText(self._as_written)
        self.copy_button.setIcon(icons.icon("check", "accent"))
        self.copy_button.setAccessibleName(say("transcript.copied"))
        QTimer.singleShot(COPIED_MS, self.copy_button, self._show_copy)

    def _show_copy(self) -> None:
        self.copy_button.setIcon(icons.icon("copy"))
        self.copy_button.setAccessibleName(say("transcript.copy-code"))

    def _on_highlighted(self, block: int, serial: int, spans: Sequence[Span]) -> None:
        if block == self.id:
            # an older answer still fits the beginning of code that has grown since
            self.spans = spans
            self._colour()

    def _colour(self) -> None:
        """Give every line its spans; only lines with changed colours are laid out again."""
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
