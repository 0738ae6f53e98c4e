"""Serves messages and blocks with selection, marks, colours and links on behalf of the
transcript."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QImage, QMouseEvent
from PySide6.QtWidgets import QApplication

from headstart.chat.agent.permissions import Permission
from headstart.core.chats.parts import BlobRef, ImagePart, OtherPart, PassagePart
from headstart.core.chats.values import Message
from headstart.core.settings.schema import StatsShown
from headstart.ui.commands import ItemCommand
from headstart.ui.transcript.blocks import TextBlock
from headstart.ui.transcript.cited import ChatCitations, CitedMark
from headstart.ui.transcript.finding import ChatFinding
from headstart.ui.transcript.highlight import Highlighter
from headstart.ui.transcript.markdown import Block
from headstart.ui.transcript.message import MessageWidget
from headstart.ui.transcript.selecting import Selecting

if TYPE_CHECKING:
    from PySide6.QtWidgets import QAbstractScrollArea

    from headstart.ui.transcript.column import Column


class Host(QObject):
    """The host of all messages; `use` gives it the column."""

    link_hover_changed = Signal(str)
    # code, and its language as the model named it
    save_requested = Signal(str, str)
    # a file or an image of a message
    part_opened = Signal(object)
    # a passage, and the words of it that a reply quotes
    citation_opened = Signal(PassagePart, str)
    # the number of a call, and the user's answer
    call_answered = Signal(int, Permission)
    # the number of a call
    call_stopped = Signal(int)
    # the tool's name, and a result to show whole
    result_opened = Signal(str, BlobRef)
    # a height changed
    changed = Signal()
    # the user acted on a message
    acted = Signal()

    def __init__(self, area: QAbstractScrollArea) -> None:
        super().__init__(area)
        self._area = area
        # commands for a message
        self.commands: tuple[ItemCommand[Message], ...] = ()
        self.stats_shown: StatsShown = "speed"
        # True: drafted text is tinted
        self.tinted = False
        self.highlighter = Highlighter(self)
        self.highlighter.parsed.connect(self._on_parsed)
        self.hovered_link = ""
        self.citing = ChatCitations()
        self.place_among: Callable[[str], tuple[int, int]] = lambda _id: (0, 0)
        # an image of a message, if loaded; otherwise it is fetched
        self.thumbnails: Callable[[ImagePart, QSize], QImage | None] = lambda _part, _size: None

    def use(self, column: Column) -> None:
        def place(message_id: str) -> tuple[int, int]:
            numbers = (at for at, one in enumerate(column.items, 1) if one.message.id == message_id)
            return column.earlier + next(numbers, 0), column.earlier + len(column.items)

        self._column = column
        self.place_among = place
        self.selecting = Selecting(column, self._area.viewport())
        self.finding = ChatFinding(column)

    def set_tinted(self, on: bool) -> None:
        """Switch the tinting of drafted text by origin."""
        if on != self.tinted:
            self.tinted = on
            self.repaint_blocks()
            for widget in self._column.widgets():
                widget.body.show_tint()

    def repaint_blocks(self) -> None:
        for _message, _number, block in self._column.shown_blocks():
            block.update()

    # --- for blocks ----------------------------------------------------------------------

    def selection_in(self, block: TextBlock) -> tuple[int, int] | None:
        return self.selecting.range_in(block)

    def found_in(self, block: TextBlock) -> list[tuple[int, int, bool]]:
        return self.finding.marks_in(block)

    def cited_in(self, block: TextBlock) -> list[CitedMark]:
        if not isinstance(block.parentWidget(), MessageWidget):
            return []
        return self.citing.marks(block.document, self._column.items)

    def press(self, block: TextBlock, position: int, event: QMouseEvent) -> None:
        self._area.setFocus(Qt.FocusReason.MouseFocusReason)
        extend = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self.selecting.begin(block, position, extend)

    def drag(self, event: QMouseEvent) -> None:
        view = self._area.viewport()
        point = view.mapFromGlobal(event.globalPosition().toPoint())
        if point.y() < 0 or point.y() > view.height():
            bar = self._area.verticalScrollBar()
            step = point.y() if point.y() < 0 else point.y() - view.height()
            self._column.following = False
            bar.setValue(bar.value() + step // 4)
        self.selecting.extend_to(point)

    def double_click(self, block: TextBlock, position: int) -> None:
        self.selecting.select_word(block, position)

    def parse_later(self, message_id: str, text: str) -> None:
        """Have the whole text of a message parsed on the worker thread."""
        self.highlighter.parse(message_id, text)

    def _on_parsed(self, message_id: str, text: str, blocks: list[Block]) -> None:
        item = self._column.find(message_id)
        if item is not None and item.widget is not None:
            item.widget.take_parsed(text, blocks)

    def link_hovered(self, url: str) -> None:
        self.hovered_link = url
        self.link_hover_changed.emit(url)

    def save_code(self, code: str, language: str) -> None:
        self.save_requested.emit(code, language)

    def height_of_block_changed(self, block: TextBlock) -> None:
        message = block.parentWidget()
        if isinstance(message, MessageWidget):
            message.measure_again(block)

    # --- for messages --------------------------------------------------------------------

    def thumbnail(self, part: ImagePart, within: QSize) -> QImage | None:
        return self.thumbnails(part, within)

    def open_part(self, part: OtherPart) -> None:
        self.part_opened.emit(part)

    def open_citation(self, cited: CitedMark) -> None:
        self.citation_opened.emit(cited.part, cited.quote)

    def answer_call(self, number: int, permission: Permission) -> None:
        self.call_answered.emit(number, permission)

    def stop_call(self, number: int) -> None:
        self.call_stopped.emit(number)

    def open_result(self, name: str, whole: BlobRef) -> None:
        self.result_opened.emit(name, whole)

    def picture_ready(self, digest: str) -> None:
        """Show a requested image that has arrived."""
        for item in self._column.items:
            if item.widget is not None:
                item.widget.boxes.picture_ready(digest)

    def is_focused(self, message: MessageWidget) -> bool:
        focus = QApplication.focusWidget()
        return focus is not None and (focus is message or message.isAncestorOf(focus))

    def height_changed(self, message: MessageWidget) -> None:
        self._column.height_changed(message)
        self.changed.emit()
