"""The transcript: a scrolling column of messages, of which only the near ones are widgets.

Messages far from the viewport are an estimated or remembered height. When a height turns out
different above the reader's eyes, the scroll position moves along, so that nothing jumps. The
view follows the end only while the reader is at the end.
"""

from __future__ import annotations

import time

from PySide6.QtCore import QEvent, QRect, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from headstart.core.parts import OriginRun
from headstart.core.values import BranchPage, Message, MessageStatus
from headstart.ui import theme
from headstart.ui.commands import ItemCommand
from headstart.ui.transcript.blocks import TextBlock
from headstart.ui.transcript.context_menu import open_menu
from headstart.ui.transcript.highlight import Highlighter
from headstart.ui.transcript.message import MessageWidget
from headstart.ui.transcript.selecting import Selecting
from headstart.ui.transcript.stack import Item, anchor_at, estimated_height, moved_anchor, stack

MARGIN = 24
# widgets are made this far beyond the viewport, and kept this far (in px)
AHEAD, KEEP = 400, 2400
FRAME_MS = 16
# after the window is there, before anybody has read what is in it
PREPARE_MS = 200


class TranscriptView(QAbstractScrollArea):
    """Shows one branch. Emits what the user asks of a message, by its id."""

    edit_submitted = Signal(str, str)
    version_requested = Signal(str, int)
    link_hover_changed = Signal(str)
    # the reader is near the first message that is here, and others come before it
    earlier_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Conversation")
        self.viewport().setBackgroundRole(QPalette.ColorRole.Window)
        # what can be done with a message
        self.commands: tuple[ItemCommand[Message], ...] = ()
        self.shows_stats = True
        self.highlighter = Highlighter(self)
        self._items: list[Item] = []
        self._selecting = Selecting(self)
        self._following = True
        self._writing = False
        self._placing = False
        self._reply: tuple[str, str, str] | None = None  # message id, text, reasoning
        self._reply_origins: tuple[str, tuple[OriginRun, ...]] = ("", ())
        self._tinted = False
        self._frame = QTimer(self)
        self._frame.setSingleShot(True)
        self._frame.setInterval(FRAME_MS)
        self._frame.timeout.connect(self._paint_reply)
        self._relayout = QTimer(self)
        self._relayout.setSingleShot(True)
        self._relayout.setInterval(0)
        self._relayout.timeout.connect(self._place)
        prepare = QTimer(self)
        prepare.setSingleShot(True)
        prepare.timeout.connect(self.highlighter.prepare)
        prepare.start(PREPARE_MS)
        self._hint = ""
        self._hovered_link = ""
        # messages before the first one that is here; whether all of them are to be selected
        self._earlier = 0
        self._all_wanted = False
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self.verticalScrollBar().setSingleStep(theme.LINE_HEIGHT)

    # --- content -------------------------------------------------------------------------

    def set_branch(self, messages: list[Message], same_chat: bool, earlier: int = 0) -> None:
        """Show these messages; widgets of the same messages live on when the chat is the same.

        `earlier`: how many come before them, which are asked for when the reader goes there.
        """
        self._earlier = earlier
        anchor = (
            None if self._following else anchor_at(self._items, self.verticalScrollBar().value())
        )
        before = [item.message.id for item in self._items]
        old = {item.message.id: item for item in self._items}
        keep = old if same_chat else {}
        width = self._column_width()
        items = []
        for message in messages:
            item = keep.pop(message.id, None)
            if item is None:
                item = Item(message, estimated_height(message, width))
            else:
                item.message = message
                if item.widget is not None:
                    item.widget.set_message(message)
                item.measured_for = -1
            items.append(item)
        kept = {id(item) for item in items}
        for item in old.values():
            if id(item) not in kept:
                self._drop(item)
        self._items = items
        if not same_chat:
            self._following = True
            anchor = None
        upto = self._selecting.messages_up_to(len(before))
        if not same_chat or before[:upto] != [item.message.id for item in items[:upto]]:
            self._selecting.clear()
        for item in items:
            if item.widget is not None:
                item.widget.set_busy(self._writing)
        self._place(moved_anchor(self._items, anchor, before, self._measured))

    def show_earlier(self, page: BranchPage) -> None:
        """Messages that come before those that are shown; what the reader sees stays in place."""
        width = self._column_width()
        anchor = (
            None if self._following else anchor_at(self._items, self.verticalScrollBar().value())
        )
        new = [Item(message, estimated_height(message, width)) for message in page.messages]
        self._items[:0] = new
        self._earlier = page.earlier
        self._selecting.shift(len(new))
        if self._all_wanted:
            self._selecting.select_all()
        self._all_wanted = self._all_wanted and page.earlier > 0
        self._place(anchor)
        if self._all_wanted and self._earlier:
            self._ask_earlier()

    def set_message(self, message: Message) -> None:
        """A message is other than it was: its reply has ended."""
        item = self._find(message.id)
        if item is None:
            return
        item.message = message
        item.measured_for = -1
        if item.widget is not None:
            item.widget.set_message(message)
            item.widget.set_busy(self._writing)
        self._place()

    def set_writing(self, writing: bool) -> None:
        """Whether a reply is being written in the open chat."""
        self._writing = writing
        for item in self._items:
            if item.widget is not None:
                item.widget.set_busy(writing)

    def begin_edit(self, message_id: str) -> None:
        """Turn a message of the user into an editor."""
        widget = self.widget_of(message_id)
        if widget is not None:
            widget.begin_edit()

    def leave_edit(self) -> bool:
        """Close the editor of a message, if one is open."""
        for item in self._items:
            if item.widget is not None and item.widget.editing:
                item.widget.end_edit()
                self.setFocus()
                return True
        return False

    def show_reply(self, message_id: str, text: str, reasoning: str) -> None:
        """The words of the reply being written; painted at most once per frame."""
        self._reply = (message_id, text, reasoning)
        if not self._frame.isActive():
            self._frame.start()

    def show_origins(self, message_id: str, origins: tuple[OriginRun, ...]) -> None:
        """Where the words of the reply being written came from, shown with the next frame."""
        self._reply_origins = (message_id, origins)

    def set_tinted(self, on: bool) -> None:
        """Mark drafted words by their origin, or not."""
        if on != self._tinted:
            self._tinted = on
            for blocks in self.shown_blocks():
                for block in blocks:
                    block.update()

    def set_stats(self, on: bool) -> None:
        """Whether what a reply cost is shown under it."""
        if on != self.shows_stats:
            self.shows_stats = on
            for item in self._items:
                if item.widget is not None:
                    item.widget.set_message(item.message)

    @property
    def tinted(self) -> bool:
        return self._tinted

    def show_progress(self, message_id: str, text: str) -> None:
        item = self._find(message_id)
        if item is not None and item.widget is not None:
            item.widget.show_progress(text)

    def set_hint(self, text: str) -> None:
        """What an empty conversation shows."""
        self._hint = text
        self.viewport().update()

    def refresh_theme(self) -> None:
        for item in self._items:
            item.measured_for = -1
            if item.widget is not None:
                item.widget.refresh_theme()
        self._place()
        self.viewport().update()

    def shown_blocks(self) -> list[list[TextBlock]]:
        """The blocks of every message, none where it has no widget."""
        return [[] if item.widget is None else item.widget.blocks for item in self._items]

    def blocks_of(self, number: int) -> list[TextBlock]:
        """The blocks of a message, made if need be."""
        return self._widget(self._items[number]).blocks

    def text_of(self, number: int) -> str:
        return self._items[number].message.text

    def widget_of(self, message_id: str) -> MessageWidget | None:
        item = self._find(message_id)
        return None if item is None else self._widget(item)

    def scroll_to_end(self) -> None:
        self._following = True
        self._place()

    def close_workers(self) -> None:
        self.highlighter.close()

    def _find(self, message_id: str) -> Item | None:
        return next((item for item in self._items if item.message.id == message_id), None)

    def _paint_reply(self) -> None:
        if self._reply is None:
            return
        message_id, text, reasoning = self._reply
        self._reply = None
        item = self._find(message_id)
        if item is not None and item.message.status is MessageStatus.OPEN:
            began = time.perf_counter()
            self._widget(item).show_reply(text, reasoning)
            if self._tinted and self._reply_origins[0] == message_id:
                self._widget(item).set_origins(self._reply_origins[1])
            self._place()
            # a reply that is slow to lay out is painted less often, so that the window answers
            cost = (time.perf_counter() - began) * 1000
            self._frame.setInterval(max(FRAME_MS, min(250, round(2 * cost))))

    # --- layout --------------------------------------------------------------------------

    def _column_width(self) -> int:
        return max(120, min(theme.COLUMN_WIDTH, self.width() - 2 * MARGIN))

    def height_changed(self, message: MessageWidget) -> None:
        for item in self._items:
            if item.widget is message:
                item.measured_for = -1
                break
        if not self._relayout.isActive():
            self._relayout.start()

    def _place(self, anchor: tuple[Item, int] | None = None) -> None:
        """Give every near message its widget and every widget its place.

        `anchor` is the message at the top of the view and how far it is scrolled past; without
        it the reader's place of now is kept.
        """
        if self._placing:
            return
        self._placing = True
        try:
            self._place_now(anchor)
        finally:
            self._placing = False

    def _place_now(self, anchor: tuple[Item, int] | None) -> None:
        bar = self.verticalScrollBar()
        width, view = self._column_width(), self.viewport().height()
        # centred in the whole, as the composer below is, with or without the scroll bar
        left = (self.width() - width) // 2
        anchor = anchor or anchor_at(self._items, bar.value())
        # measuring changes heights, which changes what is near: twice is enough, since
        # everything near is measured after the first time
        for _ in range(3):
            total = stack(self._items)
            at = self._scroll_target(anchor, total, view)
            if not self._measure(at - AHEAD, at + view + AHEAD, width):
                break
        total = stack(self._items)
        at = self._scroll_target(anchor, total, view)
        bar.setPageStep(view)
        bar.setRange(0, max(0, total - view))
        bar.setValue(at)
        for item in self._items:
            if item.widget is None:
                continue
            near = item.top + item.height > at - KEEP and item.top < at + view + KEEP
            if near or item.widget.editing or item.message.status is MessageStatus.OPEN:
                item.widget.setGeometry(QRect(left, item.top - at, width, item.height))
                item.widget.show()
            else:
                self._drop(item)
        if not self._items:
            self.viewport().update()
        if self._earlier and at < view:
            self._ask_earlier()

    def _ask_earlier(self) -> None:
        """Once; an answer says whether there are more."""
        self._earlier = 0
        self.earlier_requested.emit()

    def _scroll_target(self, anchor: tuple[Item, int] | None, total: int, view: int) -> int:
        end = max(0, total - view)
        if self._following or anchor is None:
            return end
        item, past = anchor
        return min(end, max(0, item.top + past))

    def _measure(self, begin: int, end: int, width: int) -> bool:
        """Make and measure widgets between two heights; whether a height changed."""
        changed = False
        for item in self._items:
            if item.top > end or item.top + item.height < begin:
                continue
            widget = self._widget(item)
            if item.measured_for != width:
                height = widget.layout_width(width)
                item.measured_for = width
                changed = changed or height != item.height
                item.height = height
        return changed

    def _measured(self, item: Item) -> int:
        """The height of an item as it is now; its widget is made if need be."""
        width = self._column_width()
        item.height, item.measured_for = self._widget(item).layout_width(width), width
        return item.height

    def _widget(self, item: Item) -> MessageWidget:
        if item.widget is None:
            widget = MessageWidget(self, self.viewport(), item.message)
            widget.edit_submitted.connect(self.edit_submitted)
            widget.version_requested.connect(self.version_requested)
            widget.set_busy(self._writing)
            item.widget = widget
            item.measured_for = -1
        return item.widget

    @staticmethod
    def _drop(item: Item) -> None:
        if item.widget is not None:
            item.widget.hide()
            item.widget.deleteLater()
            item.widget = None

    def _on_scrolled(self, value: int) -> None:
        if self._placing:
            return
        bar = self.verticalScrollBar()
        self._following = value >= bar.maximum() - 4
        self._place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def wheelEvent(self, event: QWheelEvent) -> None:
        super().wheelEvent(event)
        bar = self.verticalScrollBar()
        self._following = bar.value() >= bar.maximum() - 4

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._items or not self._hint:
            return
        painter = QPainter(self.viewport())
        painter.setPen(theme.colour(theme.current().quiet))
        painter.setFont(theme.text_font())
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        area = self.viewport().rect().adjusted(MARGIN * 2, 0, -MARGIN * 2, 0)
        painter.drawText(area, int(flags), self._hint)
        painter.end()

    def viewportEvent(self, event: QEvent) -> bool:
        press = event.type() == QEvent.Type.MouseButtonPress
        if press and isinstance(event, QMouseEvent) and event.button() == Qt.MouseButton.LeftButton:
            self._selecting.clear()
        return super().viewportEvent(event)

    # --- selection (the work is done in selecting.py) -------------------------------------

    def selection_in(self, block: TextBlock) -> tuple[int, int] | None:
        return self._selecting.range_in(block)

    def press(self, block: TextBlock, position: int, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        extend = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self._selecting.begin(block, position, extend)

    def drag(self, event: QMouseEvent) -> None:
        point = self.viewport().mapFromGlobal(event.globalPosition().toPoint())
        if point.y() < 0 or point.y() > self.viewport().height():
            bar = self.verticalScrollBar()
            step = point.y() if point.y() < 0 else point.y() - self.viewport().height()
            self._following = False
            bar.setValue(bar.value() + step // 4)
        self._selecting.extend_to(point)

    def double_click(self, block: TextBlock, position: int) -> None:
        self._selecting.select_word(block, position)

    def link_hovered(self, url: str) -> None:
        self._hovered_link = url
        self.link_hover_changed.emit(url)

    def selected_text(self) -> str:
        return self._selecting.text()

    def select_all(self) -> None:
        """All of the branch; what is not here yet is fetched page by page."""
        self._all_wanted = self._earlier > 0
        if self._earlier:
            self._ask_earlier()
        self._selecting.select_all()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        open_menu(self, event.globalPos(), self._selecting.any, self._hovered_link)

    def copy_selection(self) -> None:
        text = self.selected_text()
        if text:
            QGuiApplication.clipboard().setText(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        bar = self.verticalScrollBar()
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_selection()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif event.key() == Qt.Key.Key_End:
            self.scroll_to_end()
        elif event.key() == Qt.Key.Key_Home:
            bar.setValue(0)
        else:
            super().keyPressEvent(event)
