"""The composer: where the user writes. Enter sends, Shift+Enter starts a new line."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from headstart.core.events import PromptSize
from headstart.ui import icons, theme
from headstart.ui.attachment import Attachment
from headstart.ui.composer.attachments import AttachmentRow
from headstart.ui.composer.edit import GrowingEdit
from headstart.ui.composer.slash_menu import SlashMenu
from headstart.ui.elided import ElidedLabel
from headstart.ui.tool import dress, small_tool

# what is typed is told this often, so that it can be read while it is typed
TELL_MS = 150
# pixels below which the buttons have no words
_NARROW = 480
HINT = "Enter sends, Shift+Enter starts a new line"
WRITING_HINT = "A reply is being written: stop it first, or wait for its end"


class Composer(QFrame):
    """Emits `submitted` with the text, `text_changed` with each change by the user;
    `typing_began` once per empty field that gets text, and `typed` a few times a second."""

    submitted = Signal(str)
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
        self.edit.setPlaceholderText("Message…")
        self.edit.setAccessibleName("Message")
        self.edit.submitted.connect(self._submit)
        self.edit.textChanged.connect(self._on_text)
        self.edit.installEventFilter(self)
        self._hint = ElidedLabel(HINT, self)
        self._hint.setObjectName("hint")
        self.button = QPushButton("Send", self)
        self.button.setObjectName("primary")
        self.button.setIconSize(QSize(14, 14))
        self.button.clicked.connect(self._on_button)
        self.attachments = AttachmentRow(self)
        self.attach = small_tool(self, "paperclip", "Attach", "Attach files to the message")
        self.attach.clicked.connect(self.attach_requested)
        self.prompts = small_tool(self, "slash", "Prompts", "Your prompts; or type / in a message")
        self.prompts.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.prompts_menu = QMenu(self.prompts)
        self.prompts.setMenu(self.prompts_menu)
        self.slash = SlashMenu(self.edit)
        self.tokens = QLabel(self)
        self.tokens.setObjectName("quiet")
        self.tokens.hide()
        row = QHBoxLayout()
        self.ahead = ElidedLabel("", self, name="ahead")
        row.addWidget(self.attach)
        row.addWidget(self.prompts)
        row.addWidget(self.tokens)
        row.addWidget(self._hint, 1)
        row.addWidget(self.ahead)
        row.addWidget(self.button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 12, 14, 10)
        layout.setSpacing(8)
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

    def set_writing(self, writing: bool) -> None:
        """While a reply is written the button stops it, and Enter does not send."""
        ended, self._writing = self._writing and not writing, writing
        if ended:
            self._told_to_wait = False
            self.set_hint("")
        self.button.setText("Stop" if writing else "Send")
        self.button.setAccessibleName("Stop writing" if writing else "Send the message")
        colour = theme.current().on_accent
        enabled = writing or self._sendable
        name = "stop" if writing else "arrow-up"
        self.button.setIcon(icons.icon(name, colour if enabled else theme.current().quiet))
        self.button.setEnabled(enabled)
        if writing:
            self.ahead.hide()

    @property
    def _sendable(self) -> bool:
        """Whether there is something to send, and all of it is read."""
        row = self.attachments
        return row.ready and (bool(row.chips) or bool(self.edit.toPlainText().strip()))

    def set_sending(self, sending: bool) -> None:
        """What stands here is being stored: it stays as it was sent."""
        self.edit.setReadOnly(sending)
        self.attachments.setEnabled(not sending)

    def set_attachments(self, attachments: Sequence[Attachment]) -> None:
        self.attachments.show_attachments(attachments)
        self.set_writing(self._writing)

    def set_size(self, size: PromptSize | None) -> None:
        """How much of the context the next message takes; None: nobody knows."""
        self.tokens.setVisible(size is not None)
        if self.hint in ("", HINT):
            self.set_hint("")
        if size is None:
            return
        words = f"{size.tokens:,} of {size.size:,} tokens"
        over = size.tokens > size.limit
        self.tokens.setText(f"{words}: too many" if over else words)
        self.tokens.setToolTip(
            "What the model gets with this message, and what it can hold"
            if not over
            else f"{size.limit:,} tokens leave room for a reply"
        )
        self.tokens.setObjectName("warning" if over else "quiet")
        self.tokens.style().unpolish(self.tokens)
        self.tokens.style().polish(self.tokens)

    def set_ahead(self, tokens: int) -> None:
        """So much of what stands here has been read already."""
        plural = "token" if tokens == 1 else "tokens"
        self.ahead.set_full_text(f"● {tokens:,} {plural} already processed" if tokens else "")
        self.ahead.setAccessibleName(self.ahead.full_text.removeprefix("● "))
        self.ahead.setVisible(tokens > 0 and not self._writing)

    def set_prefills_ahead(self, on: bool) -> None:
        self._prefills_ahead = on
        self._show_placeholder()
        if not on:
            self.set_ahead(0)

    def set_host(self, host: str) -> None:
        """Who gets what is written here, other than this computer; "" for nobody."""
        self._host = host
        self._show_placeholder()

    def _show_placeholder(self) -> None:
        if self._host:
            words = f"Message… goes to {self._host} when you send it"
        else:
            words = (
                "Message… it is processed while you type" if self._prefills_ahead else "Message…"
            )
        self.edit.setPlaceholderText(words)

    _host = ""
    _prefills_ahead = True

    def set_hint(self, text: str) -> None:
        """What the pointer is over; "" for nothing."""
        self._show_hint(text or self._waiting_hint)

    def _show_hint(self, text: str) -> None:
        self._hint.set_full_text(text)
        self._hint.setToolTip(text)

    @property
    def _waiting_hint(self) -> str:
        waits = self._told_to_wait and self._writing
        # how much of the context is used matters more
        return WRITING_HINT if waits else HINT if self.tokens.isHidden() else ""

    _told_to_wait = False

    @property
    def hint(self) -> str:
        """What stands below the text."""
        return self._hint.full_text

    def text(self) -> str:
        return self.edit.toPlainText()

    def set_text(self, text: str) -> None:
        """Put a text here; that is not typing."""
        self._placing = True
        self.edit.setPlainText(text)
        self._placing = False
        self._had_text = bool(text.strip())
        self._telling.stop()
        self.set_ahead(0)
        self.edit.moveCursor(self.edit.textCursor().MoveOperation.End)

    _placing = False

    def refresh_theme(self) -> None:
        self.set_writing(self._writing)
        self.attachments.refresh_theme()
        dress(self.attach, "paperclip")
        dress(self.prompts, "slash")
        self.edit.fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # where there is little room, what the context holds matters more than words on buttons
        styles = Qt.ToolButtonStyle
        narrow = event.size().width() < _NARROW
        style = styles.ToolButtonIconOnly if narrow else styles.ToolButtonTextBesideIcon
        for button in (self.attach, self.prompts):
            button.setToolButtonStyle(style)

    def _on_button(self) -> None:
        if self._writing:
            self.stop_requested.emit()
        else:
            self._submit()

    def _submit(self) -> None:
        text = self.edit.toPlainText().strip()
        if self._sendable and self._writing:
            self._told_to_wait = True
            self._show_hint(WRITING_HINT)
        elif self._sendable:
            self._telling.stop()
            self.submitted.emit(text)

    def _on_text(self) -> None:
        has_text = bool(self.edit.toPlainText().strip())
        if not self._placing:
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
