"""The messages of a transcript as a stack of heights: positions without widgets."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence

from msgspec import Struct

from headstart.core.chats.parts import TextPart
from headstart.core.chats.values import Message, Role
from headstart.ui.kit import theme
from headstart.ui.transcript.message import MessageWidget

# small, because each message ends with space for its actions
SPACING = 8
TOP = 22


class Item(Struct):
    message: Message
    height: int
    measured_for: int = -1  # the width for which the height was measured
    widget: MessageWidget | None = None
    top: int = 0


def stack(items: Sequence[Item], start: int = 0) -> int:
    """Stack the items from index `start` on; return the total height."""
    y = TOP
    if start:
        last = items[start - 1]
        y = last.top + last.height + SPACING
    for number in range(start, len(items)):
        item = items[number]
        item.top = y
        y += item.height + SPACING
    return y + 4


def first_below(items: Sequence[Item], y: int) -> int:
    """Index of the first item that reaches below `y`; the number of items if none does."""
    return bisect_right(items, y, key=lambda item: item.top + item.height)


class Anchor(Struct, frozen=True):
    """The reader's position: the first message in view, its block, and the px by which the block
    (or the message, without a block) is scrolled past."""

    item: Item
    block: int | None
    past: int

    @property
    def top(self) -> int:
        """Scroll position of the view's top."""
        widget = self.item.widget
        within = widget.text.top_of(self.block) if widget and self.block is not None else 0
        return self.item.top + within + self.past


def anchor_at(items: Sequence[Item], value: int) -> Anchor | None:
    """The anchor for a scroll position; None below the last item."""
    number = first_below(items, value)
    if number == len(items):
        return None
    item = items[number]
    past = value - item.top
    block = item.widget.block_at(past) if item.widget is not None else None
    if block is not None and item.widget is not None:
        return Anchor(item, block, past - item.widget.text.top_of(block))
    return Anchor(item, None, past)


def moved_anchor(
    items: Sequence[Item],
    anchor: Anchor | None,
    before: Sequence[str],
    measure: Callable[[Item], int],
) -> Anchor | None:
    """The reading position among new `items`; `before`: the ids of the old ones.

    If the anchor's message was replaced by another version, the foot of the new one goes where the
    old one's was, so that the version arrows stay in place.
    """
    if anchor is None or not items:
        return None
    item, past = anchor.item, anchor.top - anchor.item.top
    if any(item is other for other in items):
        return anchor
    new = items[min(before.index(item.message.id), len(items) - 1)]
    return Anchor(new, None, measure(new) - (item.height - past))


def estimated_height(message: Message, width: int) -> int:
    """Estimate a height before layout; good enough for the scroll bar."""
    per_line = max(20, width // 8)
    lines = 0
    for part in message.parts:
        if isinstance(part, TextPart):
            lines += sum(1 + len(line) // per_line for line in part.text.splitlines())
    extra = 60 if message.role is Role.ASSISTANT else 50
    return max(1, lines) * theme.line_height() + extra
