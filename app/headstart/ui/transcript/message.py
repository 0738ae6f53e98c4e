"""One message: its blocks, its status, its stats, and the actions below it.

Laid out by hand: `lay_out` places everything for a width and returns the height, so that the
transcript can place hundreds of messages without Qt's layouts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QEvent, QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QEnterEvent, QImage
from PySide6.QtWidgets import QLabel, QWidget

from headstart.chat.agent.permissions import Permission
from headstart.core.chats.parts import BlobRef, ImagePart, OtherPart, origins_of
from headstart.core.chats.sections import ReplySections, sections_of
from headstart.core.chats.values import Message, MessageStatus, Role
from headstart.core.settings.schema import StatsShown
from headstart.ui.commands import ItemCommand
from headstart.ui.kit.accessible import Spoken, be_placed
from headstart.ui.transcript.action_row import ActionRow
from headstart.ui.transcript.block_stack import EVERYTHING, Span
from headstart.ui.transcript.blocks import BlockHost, TextBlock
from headstart.ui.transcript.body import Body, CallVerbs
from headstart.ui.transcript.editor import EditPanel, MessageEditor
from headstart.ui.transcript.figures import Figures
from headstart.ui.transcript.markdown import Block, plain
from headstart.ui.transcript.part_boxes import PartBoxes
from headstart.ui.transcript.words import author_html, described, place_text, status_text


class MessageHost(BlockHost, Protocol):
    """The transcript, as a message sees it."""

    commands: tuple[ItemCommand[Message], ...]
    stats_shown: StatsShown
    acted: SignalInstance
    # the number of a message from 1, and the number of all in this branch
    place_among: Callable[[str], tuple[int, int]]

    def height_changed(self, message: MessageWidget) -> None: ...

    def parse_later(self, message_id: str, text: str) -> None: ...

    def thumbnail(self, part: ImagePart, within: QSize) -> QImage | None: ...

    def open_part(self, part: OtherPart) -> None: ...

    def answer_call(self, number: int, permission: Permission) -> None: ...

    def stop_call(self, number: int) -> None: ...

    def open_result(self, name: str, whole: BlobRef) -> None: ...

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
        be_placed(self, Spoken.ListItem, lambda: place_text(*host.place_among(self.message.id)))
        self._host = host
        self.head = QLabel(self)
        self.head.setTextFormat(Qt.TextFormat.RichText)
        self.head.hide()
        verbs = CallVerbs(host.answer_call, host.stop_call, host.open_result)
        self.body = Body(host, self, verbs, self._resized)
        # the blocks of the text, and the first reasoning of a reply
        self.text, self.reasoning = self.body.text, self.body.thoughts[0]
        # the width, and the range of the message whose blocks are placed widgets
        self._placed: tuple[int, Span] | None = None
        self._panel: EditPanel | None = None
        self._busy = False
        # the text of a user's message on the screen
        self._plain = ""
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
        self._show_head()
        if message.role is Role.USER:
            self._show_plain(message.text)
            empty = False
        else:
            empty = not self._show_stored(message, writing)
        self.boxes.show(message)
        stored = origins_of(message.parts)
        if stored:
            self.body.set_origins(stored)
        self._progress.setVisible(writing and empty)
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

    def _show_stored(self, message: Message, writing: bool) -> ReplySections:
        """Show the sections of a stored reply, and return them."""
        before = self.body.sections
        # the database gets the text last: what is on the screen stays
        keep = writing and bool(before)
        sections = before if keep else sections_of(message.parts, writing=writing)
        self.body.show(sections, message.stats, writing)
        text = sections.text
        if not writing and text != self._settled:
            self._settled = text
            # a text that arrived in one piece was already parsed as a whole; blocks parsed piece
            # by piece stay until a long text is
            if before.text:
                self.body.settle(lambda one: self._host.parse_later(message.id, one))
        return sections

    def show_reply(self, sections: ReplySections) -> None:
        """Show all sections so far of a reply being written."""
        self._progress.setVisible(not sections)
        self.body.show(sections, self.message.stats, True)
        self._resized()

    def show_progress(self, text: str) -> None:
        """Show the progress before the first token: loading, prefill."""
        self._progress.setText(text)
        self._progress.setAccessibleName(text)
        self._host.height_changed(self)

    def _show_plain(self, text: str) -> None:
        if text != self._plain or (text and not self.text.slots):
            self.text.set_blocks(plain(text))
        self._plain = text

    def _resized(self) -> None:
        self._placed = None
        self._host.height_changed(self)

    def take_parsed(self, text: str, blocks: list[Block]) -> None:
        """Take the blocks of a complete text, parsed as a whole."""
        if self.body.take_parsed(text, blocks):
            self._resized()

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
        self.body.hide()
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
        self.body.refresh()
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
        self.body.measure_again(block)
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
        y = self.boxes.place(y, width)
        if self._panel is not None:
            self.body.hide()
            y = self.reasoning.place(y, width, near)
            return self._place_panel(y, width)
        return self.body.place(y, width, near)


def _place_label(label: QLabel, y: int, width: int) -> int:
    if label.isHidden():
        return y
    height = label.heightForWidth(width) if label.wordWrap() else label.sizeHint().height()
    label.setGeometry(0, y + 2, width, height)
    return y + 2 + height
