"""The inspector's panel on what models have read: how much was reused and why not all of it,
what is kept on disk of this chat and of all."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from headstart.core.chats.values import TurnStats
from headstart.core.prefixes import PrefixUse
from headstart.core.text.shown import size_text

_PRIVATE = (
    "Private: nothing of this chat is written to disk, neither its text nor what was computed."
)


_OFF = "Nothing new is kept on disk: switched off in the settings. Clearing removes the rest."


class PrefixPanel(QWidget):
    """Emits `keep_changed` when the user decides about this chat, `sizes_requested` for all."""

    keep_changed = Signal(bool)
    sizes_requested = Signal()
    summary_changed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chat_id: str | None = None
        self._use: PrefixUse | None = None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        self.meter = QProgressBar(self)
        self.meter.setTextVisible(False)
        self.meter.setAccessibleName("Tokens reused in the last reply")
        layout.addWidget(self.meter)
        self.told = _quiet_label(self)
        layout.addWidget(self.told)
        self.values: dict[str, QLabel] = {}
        for name in ("This chat on disk", "All chats", "Written today", "In memory"):
            row = QHBoxLayout()
            value = QLabel(self)
            value.setObjectName("fieldValue")
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            row.addWidget(QLabel(name, self), 1)
            row.addWidget(value)
            layout.addLayout(row)
            self.values[name] = value
        self.keep = QCheckBox("Keep on disk for this chat", self)
        self.keep.setToolTip(
            "what the model has computed of it, so that a restart does not do it again; off "
            "also removes what is there"
        )
        self.keep.toggled.connect(self.keep_changed)
        layout.addWidget(self.keep)
        self.note = _quiet_label(self)
        layout.addWidget(self.note)
        self.sizes = QPushButton("Sizes and clearing…", self)
        self.sizes.clicked.connect(self.sizes_requested)
        layout.addWidget(self.sizes)
        layout.addSpacing(12)
        self.set_stats(None)
        self.set_use(None)

    def set_chat(
        self, chat_id: str | None, keep: bool, private: bool, on_disk: bool = True
    ) -> None:
        """`on_disk`: whether anything is kept there at all, by the settings."""
        self._chat_id = chat_id
        self._on_disk = on_disk
        with QSignalBlocker(self):
            self.keep.setChecked(keep and not private and on_disk)
            self.keep.setEnabled(not private and on_disk)
        self._private = private
        self._show()

    _private = False
    _on_disk = True

    def set_stats(self, stats: TurnStats | None) -> None:
        """Show the reused part of the last reply's prompt."""
        if stats is None or not stats.prompt_tokens:
            self.meter.setMaximum(1)
            self.meter.setValue(0)
            self.told.setText("known after the first reply")
            self.meter.setAccessibleDescription(self.told.text())
            return
        self.meter.setMaximum(stats.prompt_tokens)
        self.meter.setValue(stats.reused_tokens)
        self.told.setText(reuse_text(stats))
        self.meter.setAccessibleDescription(self.told.text())

    def set_use(self, use: PrefixUse | None) -> None:
        self._use = use
        self._show()

    def _show(self) -> None:
        use = self._use
        values = ("–", "–", "–", "–")
        if use is not None:
            values = (
                size_text(use.by_chat.get(self._chat_id or "", 0)),
                f"{size_text(use.total)} of {size_text(use.budget)}",
                size_text(use.written_today),
                f"{size_text(use.in_memory)} of {size_text(use.memory_budget)}",
            )
        for label, text in zip(self.values.values(), values, strict=True):
            label.setText(text)
        trouble = "" if use is None or use.trouble is None else use.trouble.message
        if not self._on_disk:
            trouble = _OFF
        self.note.setText(_PRIVATE if self._private else trouble)
        self.note.setVisible(bool(self.note.text()))
        off = self._private or not self._on_disk or not self.keep.isChecked()
        self.summary_changed.emit("in memory only" if off else f"{values[0]} on disk")


def reuse_text(stats: TurnStats) -> str:
    """Reused part of a prompt with its sources, and the reason for recomputing the rest."""
    prefix = stats.prefix
    sources = [
        f"{count:,} from {name}" if count < stats.reused_tokens else f"from {name}"
        for name, count in (("disk", prefix.from_disk), ("memory", prefix.from_memory))
        if count
    ]
    where = f" ({', '.join(sources)})" if sources else ""
    text = f"{stats.reused_tokens:,} of {stats.prompt_tokens:,} tokens reused{where}. "
    if prefix.recomputed:
        again = "token was" if prefix.recomputed == 1 else "tokens were"
        why = f": {prefix.reason.text}" if prefix.reason is not None else ""
        return f"{text}{prefix.recomputed:,} {again} recomputed{why}."
    if not stats.reused_tokens:
        return f"{text}All of it was new."
    new = stats.prompt_tokens - stats.reused_tokens
    text += "The last token is always processed." if new == 1 else f"{new:,} were new."
    return f"{text} {prefix.ahead:,} were prefilled before you asked." if prefix.ahead else text


def _quiet_label(parent: QWidget) -> QLabel:
    label = QLabel(parent)
    label.setObjectName("quiet")
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    # a quoted word may be longer than the panel is wide
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    return label
