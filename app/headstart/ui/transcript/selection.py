"""The selection of a transcript, from a position in one block to one in another; pure.

A place is (message index, block index, character). The transcript view owns the only selection.
"""

from __future__ import annotations

from msgspec import Struct

Place = tuple[int, int, int]


class Selection(Struct):
    anchor: Place | None = None
    head: Place | None = None

    def start(self, place: Place) -> None:
        self.anchor = self.head = place

    def clear(self) -> None:
        self.anchor = self.head = None

    def shift(self, messages: int) -> None:
        """Shift the selection after messages were inserted at the top."""
        if self.anchor is not None:
            self.anchor = (self.anchor[0] + messages, *self.anchor[1:])
        if self.head is not None:
            self.head = (self.head[0] + messages, *self.head[1:])

    @property
    def ends(self) -> tuple[Place, Place] | None:
        """First and last place in reading order, or None without a selection."""
        if self.anchor is None or self.head is None or self.anchor == self.head:
            return None
        return min(self.anchor, self.head), max(self.anchor, self.head)

    def range_in(self, message: int, block: int, length: int) -> tuple[int, int] | None:
        """Selected range of a block with `length` characters, as (from, to)."""
        ends = self.ends
        if ends is None:
            return None
        first, last = ends
        here = (message, block)
        if here < first[:2] or here > last[:2]:
            return None
        begin = first[2] if here == first[:2] else 0
        end = min(last[2], length) if here == last[:2] else length
        return (begin, end) if begin < end else None
