"""The system prompt of the open chat, and the cost of changing it. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from headstart.core.chats.values import TurnStats
from headstart.ui.inspector.own import back_button
from headstart.ui.kit.measures import keep_height
from headstart.ui.kit.own_title import OwnTitle
from headstart.ui.kit.wrapping import TextEdit
from headstart.ui.wording import say

# pause after which typed text is taken over
TYPING_PAUSE_MS = 600
# fewest tokens for which the cost of a change is shown, and for which a prefill gives a speed
_MANY, _TELLING = 200, 64


class SystemPromptSection(QWidget):
    """Emits `edited` with the text, and `reset`."""

    edited = Signal(str)
    reset = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        # the prefilled system prompt, the chat's prefilled tokens, and tokens per second
        self._read: str | None = None
        self._used = 0
        self._speed = 0.0
        self.title = OwnTitle(say("inspector.system-prompt"), self, section=True)
        self._back = back_button(say("inspector.system-prompt"), self)
        self._back.clicked.connect(self._on_back)
        self.edit = TextEdit(self)
        self.edit.setAccessibleName(say("inspector.system-prompt"))
        self.edit.setPlaceholderText(say("inspector.instructions"))
        self.edit.setTabChangesFocus(True)
        keep_height(self.edit, 96)
        self.edit.textChanged.connect(self._on_typing)
        self.cost = QLabel(self)
        self.cost.setObjectName("quiet")
        self.cost.setWordWrap(True)
        self.cost.hide()
        top = QHBoxLayout()
        top.addWidget(self.title, 1)
        top.addWidget(self._back)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addLayout(top)
        layout.addWidget(self.edit)
        layout.addWidget(self.cost)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(TYPING_PAUSE_MS)
        self._pause.timeout.connect(self.take)

    def show_text(self, text: str, own: bool) -> None:
        with QSignalBlocker(self.edit):
            if text != self.edit.toPlainText():
                self.edit.setPlainText(text)
        self.set_own(own)
        self._show_cost()

    def set_own(self, own: bool) -> None:
        self.title.set_own(own)
        self._back.setEnabled(own)

    def begin(self, text: str) -> None:
        """Begin with another chat: `text` is its prefilled system prompt."""
        self._read, self._used = text, 0
        self._show_cost()

    def set_used(self, tokens: int) -> None:
        """Set the number of the chat's prefilled tokens."""
        self._used = tokens
        self._show_cost()

    def set_stats(self, stats: TurnStats | None) -> None:
        """Note the stats of a reply: the prompt in the field has been prefilled."""
        if stats is None:
            return
        self._read = self.edit.toPlainText()
        new = stats.prompt_tokens - stats.reused_tokens
        if new >= _TELLING and stats.prefill_seconds > 0:
            self._speed = new / stats.prefill_seconds
        self._show_cost()

    def flush(self) -> None:
        """Take over typed text, without waiting for the pause."""
        if self._pause.isActive():
            self.take()

    def forget_typing(self) -> None:
        self._pause.stop()

    def take(self) -> None:
        self._pause.stop()
        self.edited.emit(self.edit.toPlainText())

    def _on_back(self) -> None:
        self._pause.stop()
        self.reset.emit()

    def _on_typing(self) -> None:
        self._pause.start()
        self._show_cost()

    def _show_cost(self) -> None:
        changed = self._read is not None and self.edit.toPlainText().strip() != self._read.strip()
        shown = changed and self._used >= _MANY
        if shown:
            seconds = round(self._used / self._speed) if self._speed else 0
            code = "inspector.prompt-costs-time" if seconds >= 1 else "inspector.prompt-costs"
            self.cost.setText(say(code, used=self._used, seconds=seconds))
        self.cost.setVisible(shown)
