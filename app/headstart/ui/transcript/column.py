"""A column of the messages of a branch; only those near the viewport are widgets.

Messages far from the viewport are only an estimated or remembered height. If a height above the
reader's position changes, the scroll position moves along, so that nothing jumps. The view follows
the end only while the reader is at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from PySide6.QtCore import QRect
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from headstart.core.chats.values import BranchPage, Message, MessageStatus
from headstart.ui.kit import theme
from headstart.ui.transcript.block_stack import EVERYTHING
from headstart.ui.transcript.blocks import TextBlock
from headstart.ui.transcript.markdown import Block
from headstart.ui.transcript.message import MessageWidget
from headstart.ui.transcript.stack import (
    Anchor,
    Item,
    anchor_at,
    estimated_height,
    first_below,
    moved_anchor,
    stack,
)

MARGIN = 24
# px beyond the viewport within which widgets are created, and kept
AHEAD, KEEP = 400, 2400
# limit of measuring passes, in case heights never settle; bad estimates take about ten
PASSES = 100
# px of a long message placed in advance, so that not every wheel step repeats its layout
MORE = 400


class Column:
    """Lays out the viewport of `area`; `make` creates a widget in it, `ask_earlier` requests the
    messages before the first loaded one."""

    def __init__(
        self,
        area: QAbstractScrollArea,
        make: Callable[[Message], MessageWidget],
        ask_earlier: Callable[[], None],
    ) -> None:
        self._area = area
        self._make = make
        self._ask_earlier = ask_earlier
        self.items: list[Item] = []
        # items with widgets
        self._alive: list[Item] = []
        # number of leading items with a correct position
        self._stacked = 0
        # index in the list, by message id
        self._numbers: dict[str, int] = {}
        # True: the view stays at the end
        self.following = True
        # number of messages before the first loaded one
        self.earlier = 0
        self.placing = False

    # --- messages ------------------------------------------------------------------------

    def set_messages(
        self, messages: Sequence[Message], keep: bool, earlier: int
    ) -> Callable[[], None]:
        """Show these messages; `keep` reuses the widgets of those already shown. Returns a function
        that places them, to be called once the widgets are ready."""
        self.earlier = earlier
        anchor = self.reader() if keep else None
        before = [item.message.id for item in self.items]
        old = {item.message.id: item for item in self.items}
        kept = dict(old) if keep else {}
        width, items = self.width, []
        for message in messages:
            item = kept.pop(message.id, None)
            if item is None:
                item = Item(message, estimated_height(message, width))
            else:
                item.message = message
                if item.widget is not None:
                    item.widget.set_message(message)
                item.measured_for = -1
            items.append(item)
        here = {id(item) for item in items}
        for item in old.values():
            if id(item) not in here:
                _drop(item)
        self.items = items
        self._alive = [item for item in items if item.widget is not None]
        self._number()
        if not keep:
            self.following = True
        return lambda: self.place(moved_anchor(self.items, anchor, before, self._measured))

    def show_earlier(self, page: BranchPage) -> Callable[[], None]:
        """Insert messages before the loaded ones. Returns a function that places them and keeps the
        text in view where it is."""
        width, anchor = self.width, self.reader()
        self.items[:0] = [
            Item(message, estimated_height(message, width)) for message in page.messages
        ]
        self.earlier = page.earlier
        self._number()
        return lambda: self.place(anchor)

    def set_message(self, message: Message) -> None:
        """Show a message's new state."""
        item = self.find(message.id)
        if item is not None:
            item.message, item.measured_for = message, -1
            if item.widget is not None:
                item.widget.set_message(message)

    def find(self, message_id: str) -> Item | None:
        number = self._numbers.get(message_id)
        return None if number is None else self.items[number]

    def _number(self) -> None:
        self._stacked = 0
        self._numbers = {item.message.id: number for number, item in enumerate(self.items)}

    def widgets(self) -> Iterator[MessageWidget]:
        """The existing widgets."""
        return (item.widget for item in self._alive if item.widget is not None)

    def widget(self, item: Item) -> MessageWidget:
        """The widget of an item, created if necessary."""
        if item.widget is None:
            item.widget = self._make(item.message)
            item.measured_for = -1
            self._alive.append(item)
        return item.widget

    def height_changed(self, message: MessageWidget) -> None:
        item = self.find(message.message.id)
        if item is not None and item.widget is message:
            item.measured_for = -1

    def refresh(self) -> None:
        """Apply new fonts or colours."""
        for item in self.items:
            item.measured_for = -1
            if item.widget is not None:
                item.widget.refresh()
        self.place()

    # --- for the selection ---------------------------------------------------------------

    def shown_blocks(self) -> Iterator[tuple[int, int, TextBlock]]:
        """All blocks with widgets, each with the numbers of its message and of the block."""
        for item in self._alive:
            if item.widget is not None:
                number = self._numbers[item.message.id]
                for index, slot in enumerate(item.widget.text.slots):
                    if slot.widget is not None:
                        yield number, index, slot.widget

    def blocks_of(self, number: int) -> Sequence[Block] | None:
        """The blocks of a message; None if it has no widget."""
        widget = self.items[number].widget
        return None if widget is None else [slot.block for slot in widget.text.slots]

    def block(self, number: int, index: int) -> TextBlock | None:
        """The widget of a block, created if necessary."""
        text = self.widget(self.items[number]).text
        return text.widget(index) if index < len(text.slots) else None

    def place_of(self, block: TextBlock) -> tuple[int, int] | None:
        """The number of the block's message, and the block's number in it."""
        parent = block.parentWidget()
        number = self._numbers.get(parent.message.id) if isinstance(parent, MessageWidget) else None
        widget = None if number is None else self.items[number].widget
        index = None if widget is None else widget.text.number_of(block)
        return None if number is None or index is None else (number, index)

    def message(self, number: int) -> Message:
        return self.items[number].message

    # --- layout --------------------------------------------------------------------------

    @property
    def width(self) -> int:
        return max(120, min(theme.column_width(), self._area.width() - 2 * MARGIN))

    def place(self, anchor: Anchor | None = None) -> None:
        """Give every near message its widget and every widget its position.

        Without an `anchor`, the reader's current position is kept.
        """
        if self.placing:
            return
        self.placing = True
        try:
            self._place(anchor)
        finally:
            self.placing = False

    def _place(self, anchor: Anchor | None) -> None:
        area, bar = self._area, self._area.verticalScrollBar()
        width, view = self.width, area.viewport().height()
        # centred in the whole area, like the composer below, with or without the scroll bar
        left = (area.width() - width) // 2
        anchor = anchor or anchor_at(self.items, bar.value())
        # measuring changes heights, and so the set of near items; each pass measures more of them
        for _ in range(PASSES):
            total = self._stack()
            at = _scroll_target(None if self.following else anchor, total, view)
            if not self._measure(at - AHEAD, at + view + AHEAD, width):
                break
        total = self._stack()
        at = _scroll_target(None if self.following else anchor, total, view)
        bar.setPageStep(view)
        bar.setRange(0, max(0, total - view))
        bar.setValue(at)
        alive, self._alive = self._alive, []
        for item in alive:
            if item.widget is None:
                continue
            near = item.top + item.height > at - KEEP and item.top < at + view + KEEP
            if near or item.widget.editing or item.message.status is MessageStatus.OPEN:
                item.widget.setGeometry(QRect(left, item.top - at, width, item.height))
                item.widget.show()
                self._alive.append(item)
            else:
                _drop(item)
        if not self.items:
            area.viewport().update()
        if self.earlier and at < view:
            self.want_earlier()

    def scroll_to(self, item: Item, block: int | None, y: int, *, at_top: bool = False) -> None:
        """Scroll to a position in a message, at the top of the view or a third of the way down."""
        self.following = False
        past = y if at_top else y - self._area.viewport().height() // 3
        for _ in range(2):
            # first with estimated heights, then with measured ones
            self.place(Anchor(item, block, past))

    def want_earlier(self) -> None:
        """Request earlier messages, once: the answer tells if there are more."""
        self.earlier = 0
        self._ask_earlier()

    def reader(self) -> Anchor | None:
        """The reader's position; None at the end."""
        if self.following:
            return None
        return anchor_at(self.items, self._area.verticalScrollBar().value())

    def _measure(self, begin: int, end: int, width: int) -> bool:
        """Create and measure widgets between two y positions; return True if a height changed."""
        changed = False
        for number in range(first_below(self.items, begin), len(self.items)):
            item = self.items[number]
            if item.top > end:
                break
            widget = self.widget(item)
            near = (begin - item.top, end - item.top)
            if item.measured_for != width or not widget.is_placed(width, near):
                height = widget.lay_out(width, (near[0] - MORE, near[1] + MORE))
                item.measured_for = width
                if height != item.height:
                    changed, item.height = True, height
                    self._stacked = min(self._stacked, number + 1)
        return changed

    def _stack(self) -> int:
        """Update positions below changed heights; return the total height."""
        total = stack(self.items, self._stacked)
        self._stacked = len(self.items)
        return total

    def _measured(self, item: Item) -> int:
        """The measured height of an item; its widget is created if necessary."""
        width = self.width
        item.height, item.measured_for = self.widget(item).lay_out(width, EVERYTHING), width
        self._stacked = 0
        return item.height


def _scroll_target(anchor: Anchor | None, total: int, view: int) -> int:
    end = max(0, total - view)
    return end if anchor is None else min(end, max(0, anchor.top))


def message_of(items: Sequence[Item], widget: QWidget | None) -> str:
    """The id of the message that contains a widget; "" for none."""
    while widget is not None:
        for item in items:
            if item.widget is widget:
                return item.message.id
        widget = widget.parentWidget()
    return ""


def _drop(item: Item) -> None:
    if item.widget is not None:
        item.widget.hide()
        item.widget.deleteLater()
        item.widget = None
