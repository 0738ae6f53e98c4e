"""Selects text across the blocks of a transcript: takes mouse positions, returns selected text.

Works with any host that knows its messages' blocks; `selection.Selection` holds the two ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from PySide6.QtCore import QPoint
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QWidget

from headstart.core.chats.values import Message, Role
from headstart.core.markdown.plain import plain_html
from headstart.core.markdown.words import words_of
from headstart.ui.transcript.blocks import TextBlock
from headstart.ui.transcript.markdown import Block, BlockKind, html_of
from headstart.ui.transcript.selection import Place, Selection

# marks around the user's verbatim text amid Markdown
_BEGIN, _END = "\ufdd0", "\ufdd1"
_KEPT = re.compile(f"{_BEGIN}([^{_BEGIN}{_END}]*){_END}")


class SelectingHost(Protocol):
    @property
    def items(self) -> Sequence[object]: ...

    def shown_blocks(self) -> Iterator[tuple[int, int, TextBlock]]: ...

    def blocks_of(self, number: int) -> Sequence[Block] | None: ...

    def block(self, number: int, index: int) -> TextBlock | None: ...

    def place_of(self, block: TextBlock) -> tuple[int, int] | None: ...

    def message(self, number: int) -> Message: ...


# longest message, in characters, that is parsed for copying; longer ones are copied as Markdown
LONGEST_SHOWN = 50_000


class Selecting:
    """The single selection of a transcript, and the mouse's effects on it."""

    def __init__(self, host: SelectingHost, viewport: QWidget) -> None:
        self._host = host
        self._viewport = viewport
        self.selection = Selection()

    @property
    def any(self) -> bool:
        return self.selection.ends is not None

    def messages_up_to(self, otherwise: int) -> int:
        """Number of messages up to the end of the selection; `otherwise` without a selection."""
        ends = self.selection.ends
        return otherwise if ends is None else ends[1][0] + 1

    def range_in(self, block: TextBlock) -> tuple[int, int] | None:
        if not self.any:
            return None
        place = self._place_of(block, 0)
        if place is None:
            return None
        return self.selection.range_in(place[0], place[1], block.text_length())

    def begin(self, block: TextBlock, position: int, extend: bool) -> None:
        """Handle a press: begin a selection here, or move the end of the current one."""
        place = self._place_of(block, position)
        if extend and self.selection.anchor:
            self.selection.head = place
        elif place is None:
            self.selection.clear()
        else:
            self.selection.start(place)
        self._repaint()

    def extend_to(self, point: QPoint) -> None:
        """Move the end to the position nearest to a point of the viewport."""
        place = self.nearest(point)
        if place is not None:
            self.selection.head = place
            self._repaint()

    def select_word(self, block: TextBlock, position: int) -> None:
        cursor = QTextCursor(block.document)
        cursor.setPosition(min(position, block.text_length()))
        cursor.select(QTextCursor.SelectionType.WordUnderCursor)
        self.selection.anchor = self._place_of(block, cursor.selectionStart())
        self.selection.head = self._place_of(block, cursor.selectionEnd())
        self._repaint()

    def select_all(self) -> None:
        last = len(self._host.items) - 1
        if last >= 0:
            self.selection.anchor = (0, 0, 0)
            self.selection.head = (last, 1 << 30, 1 << 30)
            self._repaint()

    def shift(self, messages: int) -> None:
        """Shift the selection after messages were inserted at the top."""
        self.selection.shift(messages)

    def clear(self) -> None:
        self.selection.clear()
        self._repaint()

    def text(self) -> str:
        """Selected text as shown, with empty lines between blocks."""
        return self._collected(TextBlock.selected_text, _shown_words, _words_of_message)

    def markdown(self) -> str:
        """The Markdown of the selection."""
        return self._collected(
            TextBlock.selected_source,
            lambda block: block.source.strip("\n"),
            lambda message: message.text.strip(),
        )

    def html(self) -> str:
        """The selection as HTML; the user's text is verbatim, not Markdown, as on screen."""

        def part(widget: TextBlock, begin: int, end: int) -> str:
            if widget.block.kind is BlockKind.PLAIN:
                return _kept(widget.selected_text(begin, end))
            return widget.selected_source(begin, end)

        def whole(block: Block) -> str:
            words = block.source.strip("\n")
            return _kept(block.text) if block.kind is BlockKind.PLAIN else words

        def message(one: Message) -> str:
            return _kept(one.text) if one.role is Role.USER else one.text.strip()

        pieces = _KEPT.split(self._collected(part, whole, message))
        return "".join(
            plain_html(piece) if number % 2 else html_of(piece) if piece.strip() else ""
            for number, piece in enumerate(pieces)
        )

    def _collected(
        self,
        part: Callable[[TextBlock, int, int], str],
        whole: Callable[[Block], str],
        message: Callable[[Message], str],
    ) -> str:
        """The selection, joined from `part` of a block, `whole` blocks, and each `message` without
        widgets."""
        ends = self.selection.ends
        if ends is None:
            return ""
        pieces: list[str] = []
        for number in range(ends[0][0], min(ends[1][0] + 1, len(self._host.items))):
            blocks = self._host.blocks_of(number)
            if blocks is None and ends[0][0] < number < ends[1][0]:
                # wholly selected and far away: no widgets are created for it
                _add(pieces, message(self._host.message(number)), tight=False)
                continue
            if blocks is None:
                self._host.block(number, 0)
                blocks = self._host.blocks_of(number) or ()
            for index, block in enumerate(blocks):
                here = (number, index)
                if here < ends[0][:2] or here > ends[1][:2]:
                    continue
                if here in (ends[0][:2], ends[1][:2]):
                    widget = self._host.block(number, index)
                    assert widget is not None
                    found = self.selection.range_in(number, index, widget.text_length())
                    if found:
                        _add(pieces, part(widget, *found), tight=block.tight)
                else:
                    _add(pieces, whole(block), tight=block.tight)
        return "".join(pieces)

    def nearest(self, point: QPoint) -> Place | None:
        """The text position nearest to a point of the viewport."""
        best: tuple[int, Place] | None = None
        for number, index, block in self._host.shown_blocks():
            local = block.mapFrom(self._viewport, point)
            distance = max(-local.y(), 0, local.y() - block.height())
            if best is None or distance < best[0]:
                best = distance, (number, index, block.position_at(local.toPointF()))
        return None if best is None else best[1]

    def _place_of(self, block: TextBlock, position: int) -> Place | None:
        found = self._host.place_of(block)
        return None if found is None else (*found, position)

    def _repaint(self) -> None:
        for _number, _index, block in self._host.shown_blocks():
            block.update()


def _kept(text: str) -> str:
    """Wrap verbatim text in marks that occur in no text, to tell it from Markdown."""
    return f"{_BEGIN}{text}{_END}" if text else ""


def _add(pieces: list[str], text: str, tight: bool) -> None:
    """Append a block; `tight` ones (list items, parts of a split block) without an empty line."""
    if text:
        if pieces:
            pieces.append("\n" if tight else "\n\n")
        pieces.append(text)


def _shown_words(block: Block) -> str:
    return block.text if block.kind in (BlockKind.CODE, BlockKind.PLAIN) else words_of(block.source)


def _words_of_message(message: Message) -> str:
    text = message.text.strip()
    if message.role is Role.USER or len(text) > LONGEST_SHOWN:
        return text
    return words_of(text)
