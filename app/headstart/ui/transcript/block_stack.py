"""A vertical stack of the blocks of one text; only those near the viewport are widgets.

The others are only a height: measured earlier, or estimated before the first layout. A long reply
costs no more than its visible part.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct
from PySide6.QtWidgets import QWidget

from headstart.core.chats.parts import OriginRun
from headstart.ui.kit import theme
from headstart.ui.kit.mirrored import across
from headstart.ui.transcript.blocks import BlockHost, PlainBlock, ProseBlock, TextBlock
from headstart.ui.transcript.code_block import CodeBlock
from headstart.ui.transcript.formula_block import FormulaBlock
from headstart.ui.transcript.markdown import Block, BlockKind
from headstart.ui.transcript.table_block import TableBlock

GAP, TIGHT_GAP = 12, 2
# px beyond the near part within which widgets are kept
KEEP = 2_000
# share of the column's width for a user's bubble
BUBBLE_SHARE = 0.8
_WIDGETS: dict[BlockKind, type[TextBlock]] = {
    BlockKind.PROSE: ProseBlock,
    BlockKind.ITEM: ProseBlock,
    BlockKind.CODE: CodeBlock,
    BlockKind.TABLE: TableBlock,
    BlockKind.FORMULA: FormulaBlock,
    BlockKind.PLAIN: PlainBlock,
}

# a vertical range of the column, from and to
Span = tuple[int, int]
EVERYTHING: Span = (-(1 << 30), 1 << 30)
NOTHING: Mapping[int, Callable[[int], int]] = MappingProxyType({})


class Slot(Struct):
    block: Block
    height: int
    # the width for which the height was measured; -1: estimated
    measured_for: int = -1
    widget: TextBlock | None = None
    top: int = 0


class BlockStack:
    """The stack; its widgets are children of `parent`."""

    def __init__(self, host: BlockHost, parent: QWidget) -> None:
        self._host = host
        self._parent = parent
        self.slots: list[Slot] = []
        self._origins: tuple[OriginRun, ...] = ()
        self._width = 0

    # --- content -------------------------------------------------------------------------

    def set_blocks(self, blocks: Sequence[Block], changed: int = 0) -> None:
        """Show these blocks; those before index `changed` are unchanged."""
        slots = self.slots
        for index in range(changed, len(blocks)):
            block = blocks[index]
            if index == len(slots):
                slots.append(Slot(block, self._estimate(block)))
                continue
            slot = slots[index]
            if slot.block == block:
                continue
            if slot.widget is not None:
                if type(slot.widget) is _WIDGETS[block.kind]:
                    slot.widget.set_block(block)
                else:
                    _drop(slot)
            slot.block, slot.measured_for = block, -1
        for slot in slots[len(blocks) :]:
            _drop(slot)
        del slots[len(blocks) :]

    def set_origins(self, origins: tuple[OriginRun, ...]) -> None:
        """Set the origins of the text's characters, for tinting."""
        self._origins = origins
        for widget in self.widgets():
            widget.set_origins(origins)

    def refresh(self) -> None:
        """Apply new fonts or colours."""
        for slot in self.slots:
            slot.measured_for = -1
            if slot.widget is not None:
                slot.widget.refresh()

    # --- widgets -------------------------------------------------------------------------

    def widgets(self) -> list[TextBlock]:
        """The existing widgets."""
        return [slot.widget for slot in self.slots if slot.widget is not None]

    def widget(self, number: int) -> TextBlock:
        """The widget of a block, created if necessary."""
        slot = self.slots[number]
        if slot.widget is None:
            slot.widget = _WIDGETS[slot.block.kind](self._host, self._parent, slot.block)
            slot.widget.set_origins(self._origins)
            slot.measured_for = -1
        return slot.widget

    def number_of(self, block: QWidget) -> int | None:
        for number, slot in enumerate(self.slots):
            if slot.widget is block:
                return number
        return None

    def measure_again(self, block: QWidget) -> None:
        number = self.number_of(block)
        if number is not None:
            self.slots[number].measured_for = -1

    def hide(self) -> None:
        """Fold the text: drop all widgets."""
        for slot in self.slots:
            _drop(slot)

    # --- layout --------------------------------------------------------------------------

    def lay_out(
        self,
        width: int,
        left: int,
        top: int,
        near: Span,
        between: Mapping[int, Callable[[int], int]] = NOTHING,
    ) -> int:
        """Place all blocks from `top` on; create and measure widgets in `near`, drop those far from
        it. Returns the lower end. `between`: places other things at y, before the block with its
        number or after the last one, and returns their lower end."""
        if width != self._width:
            self._width = width
            for slot in self.slots:
                if slot.widget is None and slot.measured_for != width:
                    slot.height = self._estimate(slot.block)
        y = top
        for number, slot in enumerate(self.slots):
            block = slot.block
            put = between.get(number)
            if put is not None:
                y = put(y)
            elif number:
                y += self._gap(block)
            slot.top = y
            if y + slot.height >= near[0] and y <= near[1]:
                widget = self.widget(number)
                if slot.measured_for != width:
                    slot.height = widget.layout_width(self._room(block, width))
                    slot.measured_for = width
            if slot.widget is not None:
                if slot.measured_for != width and slot.measured_for >= 0:
                    # laid out for another width, and not near
                    _drop(slot)
                elif y + slot.height < near[0] - KEEP or y > near[1] + KEEP:
                    _drop(slot)
                else:
                    self._put(slot.widget, left, y, width, slot.height)
            y += slot.height
        put = between.get(len(self.slots))
        return y if put is None else put(y)

    def top_of(self, number: int) -> int:
        return self.slots[number].top if number < len(self.slots) else 0

    def at(self, y: int) -> int | None:
        """The block at `y`, or the first one below it; None if there is none."""
        for number, slot in enumerate(self.slots):
            if slot.top + slot.height > y:
                return number
        return None

    def at_source(self, offset: int) -> int:
        """The block that shows a character of the text."""
        number = bisect_right(self.slots, offset, key=lambda slot: slot.block.start) - 1
        return max(0, number)

    @staticmethod
    def _gap(block: Block) -> int:
        if block.tight:
            return TIGHT_GAP if block.kind is BlockKind.ITEM else 0
        heading = block.kind is BlockKind.PROSE and block.html.startswith("<h")
        return GAP + GAP // 2 if heading else GAP

    @staticmethod
    def _room(block: Block, width: int) -> int:
        return int(width * BUBBLE_SHARE) if block.kind is BlockKind.PLAIN else width

    @staticmethod
    def _put(widget: TextBlock, left: int, y: int, width: int, height: int) -> None:
        room = left + width
        if isinstance(widget, PlainBlock):
            left, width = left + width - widget.bubble_width, widget.bubble_width
        widget.setGeometry(across(left, width, room), y, width, height)
        if widget.isHidden():
            widget.show()

    def _estimate(self, block: Block) -> int:
        """Estimate a height before layout; good enough for the scroll bar."""
        line = theme.line_height()
        if block.kind is BlockKind.CODE:
            return 44 + (block.text.count("\n") + 1) * theme.px(17)
        if block.kind is BlockKind.TABLE:
            return (block.source.count("\n") + 1) * (line + 12)
        per_line = max(20, (self._width or theme.column_width()) // 8)
        text = block.source
        return line * sum(1 + len(one) // per_line for one in text.splitlines() or [""])


def _drop(slot: Slot) -> None:
    if slot.widget is not None:
        slot.widget.hide()
        slot.widget.deleteLater()
        slot.widget = None
