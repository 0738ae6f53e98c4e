"""The composer: the input for messages. Enter sends, Shift+Enter starts a new line."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from headstart.chat.agent.costs import ToolCosts
from headstart.core.text.shown import is_blank
from headstart.ui.attachment import Attachment
from headstart.ui.composer.ahead import AheadLabel
from headstart.ui.composer.attachments import AttachmentRow
from headstart.ui.composer.buttons import ComposerButtons
from headstart.ui.composer.edit import GrowingEdit
from headstart.ui.composer.ring import ContextRing
from headstart.ui.composer.slash_menu import SlashMenu
from headstart.ui.composer.source_chips import SourceChips
from headstart.ui.composer.source_menu import SourceMenu
from headstart.ui.composer.tool_chips import ToolChips
from headstart.ui.kit import icons, theme
from headstart.ui.kit.composing import commit_focused, word_in
from headstart.ui.kit.elided import ElidedLabel
from headstart.ui.kit.tips import plain_tip
from headstart.ui.wording import say

# interval at which typed text is reported, so that it can be prefilled meanwhile
TELL_MS = 150
# width in pixels below which the buttons show only icons
_NARROW = 480
# width in px at 100 % of what stands beside them: the context in use, the button that sends
_BESIDE = 110
# width and height of the button in px at 100 %
_SEND = 32
HINT = "composer.enter-sends-shift-enter-starts"
WRITING_HINT = "composer.enter-sends-after-reply"


class Composer(QFrame):
    """Emits `submitted` with the text, `text_changed` with each change by the user;
    `typing_began` once per empty field that gets text, and `typed` a few times a second."""

    submitted = Signal(str)
    interrupted = Signal(str)  # text to send although a reply is being written
    stop_requested = Signal()
    typing_began = Signal()
    typed = Signal(str)
    text_changed = Signal(str)
    attach_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self._writing = False
        self.edit = GrowingEdit(self)
        self.edit.setAccessibleName(say("composer.message"))
        self.edit.submitted.connect(self._submit)
        self.edit.pressed_on.connect(self._interrupt)
        self.edit.textChanged.connect(self._on_text)
        self.edit.composed.connect(lambda: self.set_writing(self._writing))
        self.edit.installEventFilter(self)
        self._hint = ElidedLabel(say(HINT), self, name="hint")
        self._hint.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.button = QPushButton(self)
        self.button.setObjectName("send")
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.button.clicked.connect(self._on_button)
        self.attachments = AttachmentRow(self)
        self.tool_chips = ToolChips(self)
        self.source_chips = SourceChips(self)
        self.below = ComposerButtons(self)
        self.attach, self.prompts, self.tools = self.below.all
        self.attach.clicked.connect(self.attach_requested)
        self.slash = SlashMenu(self.edit)
        self.source_menu = SourceMenu(self.edit)
        self.context = ContextRing(self)
        self.ahead = AheadLabel(self)
        row = QHBoxLayout()
        row.setSpacing(4)
        for tool in (self.attach, self.prompts, self.tools):
            row.addWidget(tool)
        row.addSpacing(6)
        row.addWidget(self._hint, 1)
        row.addSpacing(6)
        row.addWidget(self.ahead)
        row.addWidget(self.context)
        row.addSpacing(8)
        row.addWidget(self.button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 12, 10, 10)
        layout.setSpacing(8)
        layout.addWidget(self.source_chips)
        layout.addWidget(self.tool_chips)
        layout.addWidget(self.attachments)
        layout.addWidget(self.edit)
        layout.addLayout(row)
        self._had_text = False
        self._telling = QTimer(self)
        self._telling.setSingleShot(True)
        self._telling.setInterval(TELL_MS)
        self._telling.timeout.connect(lambda: self.typed.emit(self.text()))
        self.set_ahead(0)
        self.set_writing(False)
        theme.follow(self._measure)

    def tab_order(self) -> list[QWidget]:
        return [self.edit, self.attach, self.prompts, self.tools, self.button]

    def set_tools(self, costs: ToolCosts) -> None:
        """Show the tools that are on, and the tokens that they take."""
        self.tool_chips.show_costs(costs)
        self.below.show_costs(costs)

    def set_writing(self, writing: bool) -> None:
        """While a reply is being written, let the button stop it and Enter queue the message."""
        self._writing = writing
        self.button.setAccessibleName(
            say("composer.stop-writing") if writing else say("composer.send-message")
        )
        self.button.setToolTip(
            say("composer.stop-writing-esc") if writing else say("composer.send-enter")
        )
        enabled = writing or self._sendable
        name = "stop" if writing else "arrow-up"
        self.button.setIcon(icons.icon(name, "on_accent" if enabled else "quiet"))
        self.button.setEnabled(enabled)
        self._show_hint(self._waiting_hint)
        self.ahead.set_writing(writing)

    @property
    def _sendable(self) -> bool:
        """True if there is text or a file to send, and every file has been read."""
        row = self.attachments
        return row.ready and (bool(row.chips) or not self.edit.is_blank())

    def set_sending(self, sending: bool) -> None:
        """Lock the text and attachments while the message is being stored."""
        self.edit.setReadOnly(sending)
        self.attachments.setEnabled(not sending)

    def set_attachments(self, attachments: Sequence[Attachment]) -> None:
        self.attachments.show_attachments(attachments)
        self.set_writing(self._writing)

    def set_context(self, used: int, size: int, limit: int = 0) -> None:
        """Show the context tokens that the chat uses with this message; 0 of 0: unknown."""
        self.context.show_use(used, size, limit)
        self._show_hint(self._waiting_hint)

    def set_ahead(self, tokens: int) -> None:
        """Show the number of the message's tokens that are already prefilled."""
        self.ahead.show_tokens(tokens)

    def set_prefills_ahead(self, on: bool) -> None:
        if not on:
            self.set_ahead(0)

    def set_host(self, host: str, empty: bool) -> None:
        """Name the host that gets the message ("" for this computer); `empty`: the chat has none
        yet."""
        words = say("composer.ask-anything") if empty else say("composer.message")
        self.edit.setPlaceholderText(
            say("composer.words-goes-to-host-when", words=words, host=host) if host else words
        )

    def set_hint(self, text: str) -> None:
        """Show the target of the link under the pointer; "" for none."""
        self._show_hint(text or self._waiting_hint)

    def _show_hint(self, text: str) -> None:
        self._hint.set_full_text(text)
        self._hint.setToolTip(plain_tip(text))

    @property
    def _waiting_hint(self) -> str:
        if self._writing:
            return say(WRITING_HINT) if self._sendable else ""
        # the context in use matters more
        return say(HINT) if self.context.isHidden() else ""

    @property
    def hint(self) -> str:
        """Text below the composer."""
        return self._hint.full_text

    def text(self) -> str:
        return self.edit.toPlainText()

    def set_text(self, text: str) -> None:
        """Set the text without reporting it as typed."""
        with QSignalBlocker(self):
            self.edit.setPlainText(text)
        self._had_text = not is_blank(text)
        self._telling.stop()
        self.set_ahead(0)
        self.edit.moveCursor(self.edit.textCursor().MoveOperation.End)

    def _measure(self) -> None:
        self.button.setFixedSize(theme.icon_px(_SEND), theme.icon_px(_SEND))
        self.context.updateGeometry()
        self.edit.fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # in a narrow window the context in use matters more than text on buttons
        wanted = self.below.words_width() + theme.px(_BESIDE)
        self.below.set_narrow(event.size().width() < max(_NARROW, wanted))

    def _on_button(self) -> None:
        if self._writing:
            self.stop_requested.emit()
        else:
            self._submit()

    def _submit(self) -> None:
        commit_focused()
        if self._sendable and not word_in(self.edit):
            self._telling.stop()
            self.submitted.emit(self.text())

    def _interrupt(self) -> None:
        """Send at once on Ctrl+Enter, even while a reply is being written."""
        if self._writing:
            commit_focused()
            if self._sendable or self.edit.is_blank():
                self._telling.stop()
                self.interrupted.emit(self.text())
        else:
            self._submit()

    def _on_text(self) -> None:
        has_text = not is_blank(self.text())
        if not self.signalsBlocked():
            self.text_changed.emit(self.text())
            if has_text and not self._had_text:
                self.typing_began.emit()
            self._had_text = has_text
            if not has_text:
                self.set_ahead(0)
            if not self._telling.isActive():
                self._telling.start()
        self.set_writing(self._writing)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.setProperty("focused", event.type() == QEvent.Type.FocusIn)
            self.style().unpolish(self)
            self.style().polish(self)
        return super().eventFilter(watched, event)
