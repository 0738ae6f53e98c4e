"""Holes that a reader would see: blocks that overlap the view and are no visible widgets."""

from __future__ import annotations

from headstart.ui.transcript.message import MessageWidget
from headstart.ui.transcript.view import TranscriptView


def blank_blocks(view: TranscriptView) -> list[str]:
    """Each message and block that overlaps the viewport and is not a visible widget in its place,
    by the message's id and the block's number. A folded reasoning and a text that is being edited
    have no blocks."""
    begin = view.verticalScrollBar().value()
    end = begin + view.viewport().height()
    found = []
    for item in view.column.items:
        if item.top + item.height <= begin or item.top >= end:
            continue
        widget = item.widget
        if widget is None or not widget.isVisible():
            found.append(item.message.id)
            continue
        if widget.y() != item.top - begin or widget.height() != item.height:
            found.append(f"{item.message.id} is out of its place")
        found += _in_message(widget, begin - item.top, end - item.top)
    return found


def _in_message(message: MessageWidget, begin: int, end: int) -> list[str]:
    found = []
    stacks = [] if message.editing else [("text", message.text)]
    if message.reasoning.open:
        stacks.append(("reasoning", message.reasoning.stack))
    for name, stack in stacks:
        for number, slot in enumerate(stack.slots):
            if slot.top + slot.height <= begin or slot.top >= end:
                continue
            block = slot.widget
            placed = block is not None and block.isVisible() and block.y() == slot.top
            if not placed:
                found.append(f"{message.message.id} {name} {number}")
    return found
