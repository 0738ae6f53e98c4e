"""One message: its blocks, its status, its stats, and the actions below it.

Laid out by hand: `lay_out` places everything for a width and returns the height, so that the
transcript can place hundreds of messages without Qt's layouts.
"""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QEvent, QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QEnterEvent, QImage
from PySide6.QtWidgets import QLabel, QWidget

from headstart.core.chats.parts import ImagePart, OriginRun, OtherPart
from headstart.core.chats.values import Message, MessageStatus, Role
from headstart.core.settings.schema import StatsShown
from headstart.ui.commands import ItemCommand
from headstart.ui.kit.accessible import Spoken, be
from headstart.ui.transcript.action_row import ActionRow
from headstart.ui.transcript.block_stack import EVERYTHING, BlockStack, Span
from headstart.ui.transcript.blocks import BlockHost, TextBlock
from headstart.ui.transcript.editor import EditPanel, MessageEditor
from headstart.ui.transcript.figures import Figures
from headstart.ui.transcript.markdown import Block, plain
from headstart.ui.transcript.part_boxes import PartBoxes
from headstart.ui.transcript.reasoning import Reasoning, grow
from headstart.ui.transcript.streaming import StreamingMarkdown
from headstart.ui.transcript.words import author_html, described, origins_of, status_text

# characters of a text that takes more than a few milliseconds to parse
_LONG = 8_000


class MessageHost(BlockHost, Protocol):
    """The transcript, as a message sees it."""

    commands: tuple[ItemCommand[Message], ...]
    stats_shown: StatsShown
    acted: SignalInstance

    def height_changed(self, message: MessageWidget) -> None: ...

    def parse_later(self, message_id: str, text: str) -> None: ...

    def thumbnail(self, part: ImagePart, within: QSize) -> QImage | None: ...

    def open_part(self, part: OtherPart) -> None: ...

    def is_focused(self, message: MessageWidget) -> bool:
        """True while the message has the keyboard focus."""
        ...


class MessageWidget(QWidget):
    """Emits the user's requests; the transcript passes them on."""

    edit_submitted = Signal(str, str, str)  # message id, text, the action After
    edit_left = Signal()
    version_requested = Signal(str, int)

    def __init__(self, host: MessageHost, parent: QWidget, message: Message) -> None:
        super().__init__(parent)
        be(self, Spoken.ListItem)
        self._host = host
        self.head = QLabel(self)
        self.head.setTextFormat(Qt.TextFormat.RichText)
        self.head.hide()
        self.text = BlockStack(host, self)
        self.reasoning = Reasoning(host, self, self._resized)
        self._markdown = StreamingMarkdown()
        # the width, and the range of the message whose blocks are placed widgets
        self._placed: tuple[int, Span] | None = None
        self._panel: EditPanel | None = None
        self._busy = False
        self._shown_text = ""
        self._settled: str | None = None
        self._progress = QLabel(self)
        self._progress.setObjectName("quiet")
        self._progress.hide()
        self.status_label = QLabel(self)
        self.status_label.setObjectName("quiet")
        self.status_label.setWordWrap(True)
        self.status_label.setTextFormat(Qt.TextFormat.PlainText)
        self.status_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.figures = Figures(self)
        # parts of the message besides its text
        self.boxes = PartBoxes(self, host.thumbnail, host.open_part)
        self.message = message
        self.foot = ActionRow(
            self,
            host.commands,
            lambda: self.message,
            lambda step: self.version_requested.emit(self.message.id, step),
            host.acted.emit,
        )
        self.set_message(message)

    # --- content -------------------------------------------------------------------------

    def set_message(self, message: Message) -> None:
        """Show a stored message, keeping unchanged blocks."""
        self.message = message
        writing = message.status is MessageStatus.OPEN
        shown = self._shown_text
        text, reasoning = message.text, message.reasoning
        if writing and text == "" == reasoning:
            # the database gets the text last: keep the text on the screen
            text, reasoning = shown, self.reasoning.text
        self._show_head()
        self._show_text(text)
        self.reasoning.show(reasoning, message.stats, writing and not text)
        if not writing and text != self._settled:
            self._settled = text
            # a text that arrived in one piece was already parsed as a whole
            if shown and message.role is not Role.USER:
                if len(text) > _LONG:
                    # blocks parsed piece by piece stay until then
                    self._host.parse_later(message.id, text)
                else:
                    self.take_parsed(text, self._markdown.finished())
        self.boxes.show(message)
        stored = origins_of(message)
        if stored:
            self.set_origins(stored)
        self._progress.setVisible(writing and not text and not reasoning)
        self.status_label.setText(status_text(message))
        self.status_label.setVisible(bool(self.status_label.text()))
        stats = None if writing or self.editing else message.stats
        self.figures.show_stats(stats, self._host.stats_shown)
        self.foot.show(message, self.editing)
        self._resized()

    def _show_head(self) -> None:
        """Show the author of a reply, and its time."""
        message = self.message
        self.head.setText("" if message.role is Role.USER else author_html(message))
        self.head.setVisible(bool(self.head.text()))
        self.setAccessibleName(described(message))

    def show_reply(self, text: str, reasoning: str) -> None:
        """Show the whole text so far of a reply being written."""
        self._progress.setVisible(not text and not reasoning)
        self._show_text(text)
        self.reasoning.show(reasoning, self.message.stats, not text)
        self._resized()

    def set_origins(self, origins: tuple[OriginRun, ...]) -> None:
        """Set the origins of the text's characters, for tinting."""
        self.text.set_origins(origins)

    def show_progress(self, text: str) -> None:
        """Show the progress before the first token: loading, prefill."""
        self._progress.setText(text)
        self._progress.setAccessibleName(text)
        self._host.height_changed(self)

    def _show_text(self, text: str) -> None:
        if self.message.role is Role.USER:
            if text != self._shown_text or (text and not self.text.slots):
                self.text.set_blocks(plain(text))
        elif text != self._shown_text:
            grow(self._markdown, self.text, self._shown_text, text)
        self._shown_text = text

    def _resized(self) -> None:
        self._placed = None
        self._host.height_changed(self)

    def take_parsed(self, text: str, blocks: list[Block]) -> None:
        """Take the blocks of the complete text, parsed as a whole."""
        if text == self._markdown.text:
            changed = self._markdown.adopt(blocks)
            if changed < len(self._markdown.blocks):
                self._placed = None
                self.text.set_blocks(self._markdown.blocks, changed)
                self._host.height_changed(self)

    # --- editing -------------------------------------------------------------------------

    @property
    def editing(self) -> bool:
        return self._panel is not None

    @property
    def editor(self) -> MessageEditor | None:
        return None if self._panel is None else self._panel.edit

    def begin_edit(self, text: str | None = None) -> None:
        """Turn the message into an editor, with the `text` of an earlier edit, if any; Enter
        submits, Esc cancels."""
        if self._panel is not None:
            return
        shown = self.message.text if text is None else text
        panel = self._panel = EditPanel(self, self.message.role, shown)
        panel.submitted.connect(
            # the editor disappears when the new version replaces this one
            lambda text, after: self.edit_submitted.emit(self.message.id, text, after)
        )
        panel.cancelled.connect(self.end_edit)
        panel.cancelled.connect(self.edit_left)
        panel.changed.connect(self._resized)
        panel.set_busy(self._busy)
        panel.show()
        self.text.hide()
        self.set_message(self.message)

    def end_edit(self) -> None:
        if self._panel is not None:
            self._panel.hide()
            self._panel.deleteLater()
            self._panel = None
            self.set_message(self.message)

    def set_busy(self, busy: bool) -> None:
        """Disable beginning or showing other versions while a reply is written in this chat."""
        self._busy = busy
        self.foot.set_busy(busy)
        if self._panel is not None:
            self._panel.set_busy(busy)

    # --- looks ---------------------------------------------------------------------------

    def refresh(self) -> None:
        self._placed = None
        self.text.refresh()
        self.reasoning.refresh()
        self._show_head()

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.foot.set_active(True)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.foot.set_active(self._host.is_focused(self))

    def is_placed(self, width: int, near: Span) -> bool:
        """True if all blocks in `near`, relative to the message's top, are placed for `width`."""
        if self._placed is None or self._placed[0] != width:
            return False
        begin, end = self._placed[1]
        return begin <= near[0] and near[1] <= end

    def lay_out(self, width: int, near: Span) -> int:
        """Place everything for `width`, but only the text blocks in `near`; return the height."""
        if self.message.role is Role.USER:
            y = self._place_user(width, near)
        else:
            y = self._place_reply(width, near)
        y = _place_label(self._progress, y, width)
        y = _place_label(self.status_label, y, width)
        top, y = y, self.foot.place(y, width)
        self.figures.place(top, width, y - top)
        # nothing lies beyond the message's ends, so it counts as placed
        begin = EVERYTHING[0] if near[0] <= 0 else near[0]
        end = EVERYTHING[1] if near[1] >= y else near[1]
        self._placed = (width, (begin, end))
        return y

    def measure_again(self, block: TextBlock) -> None:
        """Measure a block again, whose height changed."""
        self.text.measure_again(block)
        self.reasoning.stack.measure_again(block)
        self._resized()

    def block_at(self, y: int) -> int | None:
        """The text block at `y`; None above the text."""
        if not self.text.slots or y < self.text.slots[0].top:
            return None
        return self.text.at(y)

    def _place_user(self, width: int, near: Span) -> int:
        y = self.boxes.place(0, width)
        if self._panel is not None:
            return self._place_panel(y, width)
        if not self.message.text:
            # attachments only
            return y
        return self.text.lay_out(width, 0, y, near) + 2

    def _place_panel(self, y: int, width: int) -> int:
        assert self._panel is not None
        height = self._panel.lay_out(width)
        self._panel.setGeometry(0, y, width, height)
        return y + height

    def _place_reply(self, width: int, near: Span) -> int:
        y = 0
        if not self.head.isHidden():
            y = _place_label(self.head, -2, width) + 4
        y = self.reasoning.place(y, width, near)
        y = self.boxes.place(y, width)
        if self._panel is not None:
            return self._place_panel(y, width)
        if not self.text.slots:
            return y
        return self.text.lay_out(width, 0, y, near) + 6


def _place_label(label: QLabel, y: int, width: int) -> int:
    if label.isHidden():
        return y
    height = label.heightForWidth(width) if label.wordWrap() else label.sizeHint().height()
    label.setGeometry(0, y + 2, width, height)
    return y + 2 + height
