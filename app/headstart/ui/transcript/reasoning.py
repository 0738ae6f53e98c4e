"""Reasoning before a reply: a line that folds and unfolds the text below it. Main thread."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from headstart.core.chats.values import TurnStats
from headstart.ui.kit import icons
from headstart.ui.kit.accessible import be_fold
from headstart.ui.kit.mirrored import across, forward_icon
from headstart.ui.kit.tool import small_tool
from headstart.ui.transcript.block_stack import GAP, BlockStack, Span
from headstart.ui.transcript.blocks import BlockHost
from headstart.ui.transcript.streaming import StreamingMarkdown
from headstart.ui.transcript.words import reasoning_text
from headstart.ui.wording import say

# px to the left of the reasoning text
_INDENT = 20


class Reasoning:
    """Its widgets are children of `parent`; `resized` is called when its height changes."""

    def __init__(self, host: BlockHost, parent: QWidget, resized: Callable[[], object]) -> None:
        self.stack = BlockStack(host, parent)
        self._markdown = StreamingMarkdown()
        self._resized = resized
        self._shown = ""
        self.open = False
        self.toggle = small_tool(
            parent,
            forward_icon(),
            say("transcript.thought"),
            say("transcript.show-or-hide-reasoning"),
            tab=False,
        )
        self.toggle.setCheckable(True)
        be_fold(self.toggle)
        self.toggle.clicked.connect(self._on_toggle)
        self.toggle.hide()

    @property
    def text(self) -> str:
        return self._shown

    def show(self, text: str, stats: TurnStats | None, writing: bool) -> None:
        """Show the reasoning so far; `writing`: more will follow."""
        if text != self._shown:
            grow(self._markdown, self.stack, self._shown, text)
            self._shown = text
        self.toggle.setVisible(bool(text))
        if text:
            said = reasoning_text(text, stats, writing)
            if said != self.toggle.text():
                self.toggle.setText(said)

    def place(self, y: int, width: int, near: Span) -> int:
        if self.toggle.isHidden():
            return y
        hint = self.toggle.sizeHint()
        wide = min(width, hint.width())
        self.toggle.setGeometry(across(-4, wide, width), y, wide, hint.height())
        y += hint.height() + 4
        if self.open:
            return self.stack.lay_out(width - _INDENT, _INDENT, y, near) + GAP
        self.stack.hide()
        return y

    @property
    def _icon(self) -> str:
        return "chevron-down" if self.open else forward_icon()

    def refresh(self) -> None:
        self.stack.refresh()

    def _on_toggle(self) -> None:
        self.open = not self.open
        self.toggle.setIcon(icons.icon(self._icon))
        self._resized()


def grow(markdown: StreamingMarkdown, stack: BlockStack, old: str, new: str) -> None:
    """Show the text `new` in a stack; parse only the new part if `old` is its beginning."""
    if new.startswith(old):
        changed = markdown.append(new[len(old) :])
    else:
        markdown.reset(new)
        changed = 0
    stack.set_blocks(markdown.blocks, changed)
