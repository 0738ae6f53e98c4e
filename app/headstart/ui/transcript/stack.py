"""The messages of a transcript as a stack of heights: what is where before it is a widget."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence

from msgspec import Struct

from headstart.core.chats.parts import TextPart
from headstart.core.chats.values import Message, Role
from headstart.ui.kit import theme
from headstart.ui.transcript.message import MessageWidget

# each message ends with room for what can be done with it
SPACING = 8
TOP = 22


class Item(Struct):
    message: Message
    height: int
    measured_for: int = -1  # the width its height belongs to
    widget: MessageWidget | None = None
    top: int = 0


def stack(items: Sequence[Item], start: int = 0) -> int:
    """Place the items below each other, those from `start` on; returns the height of all."""
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
    """The first item that reaches below a height; as many as there are, where none does."""
    return bisect_right(items, y, key=lambda item: item.top + item.height)


class Anchor(Struct, frozen=True):
    """The reader's place: the first message in view, which of its blocks, and how far that (the
    message, without a block) is scrolled past."""

    item: Item
    block: int | None
    past: int

    @property
    def top(self) -> int:
        """Top of the view."""
        widget = self.item.widget
        within = widget.text.top_of(self.block) if widget and self.block is not None else 0
        return self.item.top + within + self.past


def anchor_at(items: Sequence[Item], value: int) -> Anchor | None:
    """Item at a scroll position."""
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
    """Reading position among new `items`; `before` are the ids of the old ones.

    When their message is gone (another version took its place), the foot of the new one stands
    where the foot of the old one was: that is where the arrows are.
    """
    if anchor is None or not items:
        return None
    item, past = anchor.item, anchor.top - anchor.item.top
    if any(item is other for other in items):
        return anchor
    new = items[min(before.index(item.message.id), len(items) - 1)]
    return Anchor(new, None, measure(new) - (item.height - past))


def estimated_height(message: Message, width: int) -> int:
    """A height before anything is laid out; good enough for the scroll bar."""
    per_line = max(20, width // 8)
    lines = 0
    for part in message.parts:
        if isinstance(part, TextPart):
            lines += sum(1 + len(line) // per_line for line in part.text.splitlines())
    extra = 60 if message.role is Role.ASSISTANT else 50
    return max(1, lines) * theme.line_height() + extra
