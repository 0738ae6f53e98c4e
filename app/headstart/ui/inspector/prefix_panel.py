"""The inspector's panel on the prompt cache: the reused part of the prompt, the reason for
recomputing the rest, and the sizes on disk of this chat and of all chats."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
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
from headstart.ui.kit.joining import commas
from headstart.ui.kit.wrapped_check import WrappedCheckBox
from headstart.ui.wording import say

_PRIVATE = "inspector.private-nothing-of-chat-written"


_SIZES = (
    "inspector.chat-on-disk",
    "inspector.all-chats",
    "inspector.written-today",
    "inspector.in-memory",
)
_WHOLLY = {"disk": "inspector.from-disk", "memory": "inspector.from-memory"}
_PARTLY = {"disk": "inspector.count-from-disk", "memory": "inspector.count-from-memory"}
_OFF = "inspector.nothing-new-kept-on-disk"


class PrefixPanel(QWidget):
    """Emits `keep_changed` for this chat, and `sizes_requested` for the window of all chats."""

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
        self.meter.setAccessibleName(say("inspector.tokens-reused-in-last-reply"))
        layout.addWidget(self.meter)
        self.told = _quiet_label(self)
        layout.addWidget(self.told)
        self.values: dict[str, QLabel] = {}
        for code in _SIZES:
            row = QHBoxLayout()
            value = QLabel(self)
            value.setObjectName("fieldValue")
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            name = QLabel(say(code), self)
            name.setWordWrap(True)
            row.addWidget(name, 1)
            row.addWidget(value)
            layout.addLayout(row)
            self.values[code] = value
        self.keep = WrappedCheckBox(say("inspector.keep-on-disk-for-chat"), self)
        self.keep.setToolTip(say("inspector.about-keep-on-disk"))
        self.keep.toggled.connect(self.keep_changed)
        layout.addWidget(self.keep)
        self.note = _quiet_label(self)
        layout.addWidget(self.note)
        self.sizes = QPushButton(say("inspector.sizes-and-clearing"), self)
        self.sizes.clicked.connect(self.sizes_requested)
        layout.addWidget(self.sizes)
        layout.addSpacing(12)
        self.set_stats(None)
        self.set_use(None)

    def set_chat(
        self, chat_id: str | None, keep: bool, private: bool, on_disk: bool = True
    ) -> None:
        """Show a chat; `on_disk`: True if the settings keep any prefixes on disk."""
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
            self.told.setText(say("inspector.known-after-first-reply"))
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
                say("inspector.total-of-budget", total=use.total, budget=use.budget),
                size_text(use.written_today),
                say(
                    "inspector.in-memory-of-memory-budget",
                    in_memory=use.in_memory,
                    memory_budget=use.memory_budget,
                ),
            )
        for label, text in zip(self.values.values(), values, strict=True):
            label.setText(text)
        trouble = "" if use is None or use.trouble is None else use.trouble.message
        if not self._on_disk:
            trouble = say(_OFF)
        self.note.setText(say(_PRIVATE) if self._private else trouble)
        self.note.setVisible(bool(self.note.text()))
        off = self._private or not self._on_disk or not self.keep.isChecked()
        self.summary_changed.emit(
            say("inspector.in-memory-only")
            if off
            else say("inspector.values-on-disk", values=values[0])
        )


def reuse_text(stats: TurnStats) -> str:
    """Reused part of a prompt with its sources, and the reason for recomputing the rest."""
    prefix, new = stats.prefix, stats.prompt_tokens - stats.reused_tokens
    sentences = [_reused(stats)]
    if prefix.recomputed and prefix.reason is None:
        sentences.append(say("inspector.recomputed", count=prefix.recomputed))
    elif prefix.recomputed and prefix.reason is not None:
        reason = prefix.reason.text
        sentences.append(say("inspector.recomputed-why", count=prefix.recomputed, reason=reason))
    elif not stats.reused_tokens:
        sentences.append(say("inspector.all-new"))
    else:
        code = "inspector.last-token-always-processed" if new == 1 else "inspector.new-were-new"
        sentences.append(say(code, new=new))
        if prefix.ahead:
            sentences.append(say("inspector.prefilled-ahead", count=prefix.ahead))
    return " ".join(sentences)


def _reused(stats: TurnStats) -> str:
    reused, prompt = stats.reused_tokens, stats.prompt_tokens
    sources = [
        say(_PARTLY[place] if count < reused else _WHOLLY[place], count=count)
        for place, count in (("disk", stats.prefix.from_disk), ("memory", stats.prefix.from_memory))
        if count
    ]
    code = "inspector.reused-from" if sources else "inspector.reused"
    return say(code, reused=reused, prompt=prompt, sources=commas(sources))


def _quiet_label(parent: QWidget) -> QLabel:
    label = QLabel(parent)
    label.setObjectName("quiet")
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    # a quoted word may be wider than the panel
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    return label
