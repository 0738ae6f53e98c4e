"""One message: its blocks, how it ended, its figures, and the actions under it.

Laid out by hand: `layout_width` places everything for a width and returns the height, so that
the transcript can place hundreds of messages without Qt's layouts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton, QToolButton, QWidget

from headstart.core.parts import OriginRun
from headstart.core.values import Message, MessageStatus, Role
from headstart.ui import icons, theme
from headstart.ui.commands import ItemCommand
from headstart.ui.transcript.blocks import BlockHost, PlainBlock, ProseBlock, TextBlock
from headstart.ui.transcript.code_block import CodeBlock
from headstart.ui.transcript.editor import MessageEditor
from headstart.ui.transcript.markdown import Block, StreamingMarkdown
from headstart.ui.transcript.part_boxes import PartBoxes
from headstart.ui.transcript.words import origins_of, stats_text, status_text

GAP = 12
STATS_TIP = (
    "tok/s: tokens written each second\n"
    "first token: how long the first one took\n"
    "reused: tokens of this chat that did not have to be computed again\n"
    "drafts accepted: how many drafted tokens the model agreed with\n"
    "× plain: how much faster that was than writing one token after another\n"
    "Can be switched off in the settings."
)
BUBBLE_SHARE = 0.8


class MessageHost(BlockHost, Protocol):
    """What a message asks of the transcript around it."""

    commands: tuple[ItemCommand[Message], ...]
    shows_stats: bool

    def height_changed(self, message: MessageWidget) -> None: ...


class MessageWidget(QWidget):
    """Emits what the user asks for; the transcript passes it on."""

    edit_submitted = Signal(str, str)
    version_requested = Signal(str, int)

    def __init__(self, host: MessageHost, parent: QWidget, message: Message) -> None:
        super().__init__(parent)
        self._host = host
        self.blocks: list[TextBlock] = []
        self._markdown = StreamingMarkdown()
        self._reasoning_markdown = StreamingMarkdown()
        self.reasoning_blocks: list[TextBlock] = []
        self._reasoning_open = False
        self.editor: QPlainTextEdit | None = None
        self._busy = False
        self._editor_buttons: list[QPushButton] = []
        self._shown_parts: tuple[str, str] = ("", "")
        self._settled: str | None = None
        self._origins: tuple[OriginRun, ...] = ()
        self.reasoning_toggle = self._tool("chevron-right", "Reasoning")
        self.reasoning_toggle.clicked.connect(self._toggle_reasoning)
        self.reasoning_toggle.hide()
        self._progress = QLabel(self)
        self._progress.setObjectName("quiet")
        self._progress.hide()
        self.status_label = QLabel(self)
        self.status_label.setObjectName("quiet")
        self.status_label.setWordWrap(True)
        self.status_label.setTextFormat(Qt.TextFormat.PlainText)
        self.status_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.stats_label = QLabel(self)
        self.stats_label.setObjectName("quiet")
        self.stats_label.setWordWrap(True)
        self.previous_button = self._tool("chevron-left", "", "Earlier version")
        self._next = self._tool("chevron-right", "", "Later version")
        self.version_label = QLabel(self)
        self.version_label.setObjectName("quiet")
        # what belongs to the message besides its text
        self._boxes = PartBoxes(self)
        # by the id of the command
        self.buttons: dict[str, QToolButton] = {}
        for command in host.commands:
            button = self.buttons[command.id] = self._tool(command.icon, command.title)
            button.clicked.connect(lambda _checked, run=command.run: run(self.message))
        self.previous_button.clicked.connect(
            lambda: self.version_requested.emit(self.message.id, -1)
        )
        self._next.clicked.connect(lambda: self.version_requested.emit(self.message.id, 1))
        self.set_message(message)

    # --- content -------------------------------------------------------------------------

    def set_message(self, message: Message) -> None:
        """Show a stored message, keeping the blocks that are the same."""
        self.message = message
        writing = message.status is MessageStatus.OPEN
        shown_text, shown_reasoning = self._shown_parts
        text, reasoning = message.text, message.reasoning
        if writing and text == "" == reasoning:
            # the database hears of the words last: what is on the screen stays
            text, reasoning = shown_text, shown_reasoning
        self._show_text(text, reasoning)
        if not writing and text != self._settled:
            self._settled = text
            # a text that came in one piece has been parsed as a whole already
            if shown_text:
                self._settle()
        self._boxes.show(message)
        stored = origins_of(message)
        if stored:
            self.set_origins(stored)
        self._progress.setVisible(writing and not text and not reasoning)
        self.status_label.setText(status_text(message))
        self.status_label.setVisible(bool(self.status_label.text()))
        self.stats_label.setText("" if message.stats is None else stats_text(message.stats))
        # why tokens were recomputed, where some were
        reason = None if message.stats is None else message.stats.prefix.reason
        why = f"Recomputed: {reason.text}\n\n" if reason is not None else ""
        self.stats_label.setToolTip(f"{why}{STATS_TIP}")
        shown = self._host.shows_stats and not writing
        self.stats_label.setVisible(bool(self.stats_label.text()) and shown)
        several = message.versions > 1 and not writing
        for widget in (self.previous_button, self.version_label, self._next):
            widget.setVisible(several)
        self.version_label.setText(f"{message.version} / {message.versions}")
        self.version_label.setAccessibleName(f"Version {message.version} of {message.versions}")
        self._enable_versions()
        for command in self._host.commands:
            # the editor has buttons of its own
            shown = command.shown(message) and not (command.needs_idle and self.editing)
            self.buttons[command.id].setVisible(shown)
        self._host.height_changed(self)

    def show_reply(self, text: str, reasoning: str) -> None:
        """The words of a reply that is being written, all of them so far."""
        self._progress.setVisible(not text and not reasoning)
        self._show_text(text, reasoning)
        self._host.height_changed(self)

    def set_origins(self, origins: tuple[OriginRun, ...]) -> None:
        """Where the characters of the text came from, for the tint."""
        self._origins = origins
        for block in self.blocks:
            block.set_origins(origins)

    def show_progress(self, text: str) -> None:
        """What happens before the first word: loading, reading."""
        self._progress.setText(text)
        self._progress.setAccessibleName(text)
        self._host.height_changed(self)

    def _show_text(self, text: str, reasoning: str) -> None:
        old_text, old_reasoning = self._shown_parts
        if self.message.role is Role.USER:
            if text != old_text or not self.blocks:
                self._clear(self.blocks)
                self.blocks = [PlainBlock(self._host, self, text)]
                self.blocks[0].setVisible(self.editor is None)
        elif text != old_text:
            self._grow(self._markdown, self.blocks, old_text, text)
        if reasoning != old_reasoning:
            self._grow(self._reasoning_markdown, self.reasoning_blocks, old_reasoning, reasoning)
            for block in self.reasoning_blocks:
                block.setVisible(self._reasoning_open)
        self.reasoning_toggle.setVisible(bool(reasoning))
        self._shown_parts = (text, reasoning)

    def _grow(
        self, markdown: StreamingMarkdown, widgets: list[TextBlock], old: str, new: str
    ) -> None:
        if new.startswith(old):
            changed = markdown.append(new[len(old) :])
        else:
            markdown.reset(new)
            changed = 0
        self._rebuild(markdown.blocks, widgets, changed)

    def _settle(self) -> None:
        """The text is complete: parse it once as a whole."""
        if self.message.role is not Role.USER:
            changed = self._markdown.finish()
            self._rebuild(self._markdown.blocks, self.blocks, changed)

    def _rebuild(self, blocks: Sequence[Block], widgets: list[TextBlock], changed: int) -> None:
        for index in range(changed, len(blocks)):
            block = blocks[index]
            wanted = CodeBlock if block.code is not None else ProseBlock
            if index < len(widgets) and type(widgets[index]) is wanted:
                widgets[index].set_block(block)  # type: ignore[attr-defined]
                continue
            self._clear(widgets, index)
            widget = wanted(self._host, self, block)
            widget.show()
            if widgets is self.blocks:
                widget.set_origins(self._origins)
            widgets.append(widget)
        self._clear(widgets, len(blocks))

    @staticmethod
    def _clear(widgets: list[TextBlock], start: int = 0) -> None:
        for widget in widgets[start:]:
            widget.hide()
            widget.deleteLater()
        del widgets[start:]

    def _toggle_reasoning(self) -> None:
        self._reasoning_open = not self._reasoning_open
        self.reasoning_toggle.setIcon(
            icons.icon("chevron-down" if self._reasoning_open else "chevron-right")
        )
        for block in self.reasoning_blocks:
            block.setVisible(self._reasoning_open)
        self._host.height_changed(self)

    # --- editing -------------------------------------------------------------------------

    @property
    def editing(self) -> bool:
        return self.editor is not None

    def begin_edit(self, text: str | None = None) -> None:
        """Turn the bubble into an editor, of `text` that was begun before; Enter sends, Esc
        leaves."""
        if self.editor is not None:
            return
        editor = MessageEditor(self)
        editor.setPlainText(self.message.text if text is None else text)
        editor.setAccessibleName("Edit this message")
        editor.moveCursor(editor.textCursor().MoveOperation.End)
        editor.submitted.connect(self._submit_edit)
        editor.cancelled.connect(self.end_edit)
        editor.textChanged.connect(lambda: self._host.height_changed(self))
        send, cancel = QPushButton("Send as new version", self), QPushButton("Cancel", self)
        send.setObjectName("primary")
        send.clicked.connect(self._submit_edit)
        cancel.clicked.connect(self.end_edit)
        self.editor, self._editor_buttons = editor, [send, cancel]
        for widget in (editor, send, cancel):
            widget.show()
        self.blocks[0].hide()
        self.set_message(self.message)

    def focus_editor(self) -> None:
        if self.editor is not None:
            self.editor.setFocus()

    def end_edit(self) -> None:
        if self.editor is None:
            return
        for widget in (self.editor, *self._editor_buttons):
            widget.hide()
            widget.deleteLater()
        self.editor, self._editor_buttons = None, []
        self.blocks[0].show()
        self.set_message(self.message)

    def _submit_edit(self) -> None:
        """Ask for it; the editor goes when the new version takes this one's place."""
        text = self.editor.toPlainText().strip() if self.editor is not None else ""
        if text:
            self.edit_submitted.emit(self.message.id, text)

    def set_busy(self, busy: bool) -> None:
        """While a reply is written in this chat, no other version can be begun or shown."""
        self._busy = busy
        needing = [self.buttons[each.id] for each in self._host.commands if each.needs_idle]
        for button in (*needing, *self._editor_buttons[:1]):
            button.setEnabled(not busy)
        self._enable_versions()

    def _enable_versions(self) -> None:
        version, versions = self.message.version, self.message.versions
        self.previous_button.setEnabled(not self._busy and version > 1)
        self._next.setEnabled(not self._busy and version < versions)

    # --- looks ---------------------------------------------------------------------------

    def refresh_theme(self) -> None:
        for block in (*self.blocks, *self.reasoning_blocks):
            block.refresh()  # type: ignore[attr-defined]
        for button, name in (
            (self.previous_button, "chevron-left"),
            (self._next, "chevron-right"),
            *((self.buttons[each.id], each.icon) for each in self._host.commands),
            (self.reasoning_toggle, "chevron-down" if self._reasoning_open else "chevron-right"),
        ):
            button.setIcon(icons.icon(name))
            button.setFont(theme.text_font(theme.SMALL_SIZE))

    def layout_width(self, width: int) -> int:
        """Place everything for `width`; returns the height."""
        user = self.message.role is Role.USER
        y = self._place_user(width) if user else self._place_reply(width)
        y = self._place_label(self._progress, y, width)
        y = self._place_label(self.status_label, y, width)
        y = self._place_label(self.stats_label, y, width)
        return self._place_actions(y, width)

    def _place_user(self, width: int) -> int:
        y = self._boxes.place(0, width)
        if self.editor is not None:
            lines = min(12, max(2, round(self.editor.document().size().height())))
            height = lines * theme.px(theme.LINE_HEIGHT) + 20
            self.editor.setGeometry(0, y, width, height)
            x = width
            for button in self._editor_buttons:
                hint = button.sizeHint()
                x -= hint.width()
                button.setGeometry(x, y + height + 8, hint.width(), hint.height())
                x -= 8
            return y + height + 8 + self._editor_buttons[0].sizeHint().height() + 4
        bubble = self.blocks[0]
        assert isinstance(bubble, PlainBlock)
        if not self.message.text:
            # a file alone
            bubble.hide()
            return y
        height = bubble.layout_width(int(width * BUBBLE_SHARE))
        bubble.setGeometry(width - bubble.bubble_width, y, bubble.bubble_width, height)
        return y + height + 2

    def _place_reply(self, width: int) -> int:
        y = 0
        if not self.reasoning_toggle.isHidden():
            hint = self.reasoning_toggle.sizeHint()
            self.reasoning_toggle.setGeometry(0, y, hint.width(), hint.height())
            y += hint.height() + 4
            if self._reasoning_open:
                for block in self.reasoning_blocks:
                    height = block.layout_width(width - 20)
                    block.setGeometry(20, y, width - 20, height)
                    y += height + GAP
        y = self._boxes.place(y, width)
        for block in self.blocks:
            if y and isinstance(block, ProseBlock) and block.is_heading:
                y += GAP // 2
            height = block.layout_width(width)
            block.setGeometry(0, y, width, height)
            y += height + GAP
        return max(0, y - GAP + 6) if self.blocks else y

    @staticmethod
    def _place_label(label: QLabel, y: int, width: int) -> int:
        if label.isHidden():
            return y
        height = label.heightForWidth(width) if label.wordWrap() else label.sizeHint().height()
        label.setGeometry(0, y + 2, width, height)
        return y + 2 + height

    def _place_actions(self, y: int, width: int) -> int:
        row: list[QWidget] = [
            widget
            for widget in (
                self.previous_button,
                self.version_label,
                self._next,
                *self.buttons.values(),
            )
            if not widget.isHidden()
        ]
        if not row:
            return y
        hints = [widget.sizeHint() for widget in row]
        total = sum(hint.width() + 2 for hint in hints)
        x = width - total if self.message.role is Role.USER else -4
        height = max(hint.height() for hint in hints)
        for widget, hint in zip(row, hints, strict=True):
            widget.setGeometry(
                x, y + 2 + (height - hint.height()) // 2, hint.width(), hint.height()
            )
            x += hint.width() + 2
        return y + 2 + height

    def _tool(self, icon: str, text: str, name: str = "") -> QToolButton:
        button = QToolButton(self)
        button.setObjectName("small")
        button.setIcon(icons.icon(icon))
        button.setIconSize(QSize(14, 14))
        button.setText(text)
        button.setAccessibleName(name or text)
        button.setToolTip(name)
        if text:
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setFont(theme.text_font(theme.SMALL_SIZE, QFont.Weight.Normal))
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        return button
