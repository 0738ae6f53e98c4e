"""Progress of the next prompt while nobody waits for it, below the message. Main thread."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from headstart.ui.kit.elided import ElidedLabel
from headstart.ui.wording import say

# tokens of a prompt whose processing is shown
LONG_PROMPT = 1_000


class AheadLabel(ElidedLabel):
    """Hidden while a reply is written."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("", parent, name="ahead")
        self._writing = False

    def set_writing(self, writing: bool) -> None:
        self._writing = writing
        if writing:
            self.hide()

    def show_tokens(self, tokens: int) -> None:
        """Show the number of the message's tokens that are processed; 0: none."""
        self.set_full_text(say("composer.tokens-processed", tokens=tokens) if tokens else "")
        self.setToolTip(say("composer.processed-while-you-typed"))
        self.setVisible(tokens > 0 and not self._writing)

    def show_progress(self, done: int, total: int) -> None:
        """Show how much of the next prompt is processed, if that takes a while."""
        if total >= LONG_PROMPT and done < total and not self._writing:
            self.set_full_text(say("composer.prompt-progress", share=done / total))
            self.setToolTip(say("composer.prompt-read-once"))
            self.show()
