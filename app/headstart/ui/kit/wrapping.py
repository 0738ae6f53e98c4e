"""Line breaks: between words, but anywhere in runs too long for words.

Qt needs time quadratic in a run's length to find that it has no break between words: 20 seconds
for a line of 300,000 characters, against a tenth of a second with breaks anywhere. In such a run,
glyphs that depend on their neighbours take ten times as long as others.
"""

from __future__ import annotations

import re

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtGui import QFont, QInputMethodEvent, QTextDocument, QTextOption
from PySide6.QtWidgets import QPlainTextEdit

from headstart.core.text.shown import is_blank
from headstart.ui.kit import composing

# characters without white space; a run of this length takes Qt some milliseconds
_LONGEST_WORD = 5_000
_RUN = re.compile(rf"\S{{{_LONGEST_WORD}}}")
_OF_NEIGHBOURS = ("calt", "liga", "clig")


def is_endless(text: str) -> bool:
    """True if a text has a run that must be broken anywhere."""
    return len(text) > _LONGEST_WORD and _RUN.search(text) is not None


def wrap(document: QTextDocument, endless: bool, font: QFont) -> None:
    """Set how a document breaks its lines; each change lays out its content again."""
    option, modes = document.defaultTextOption(), QTextOption.WrapMode
    mode = modes.WrapAnywhere if endless else modes.WrapAtWordBoundaryOrAnywhere
    if option.wrapMode() is not mode:
        option.setWrapMode(mode)
        document.setDefaultTextOption(option)
    if endless:
        font = QFont(font)
        for feature in _OF_NEIGHBOURS:
            font.setFeature(QFont.Tag(feature), 0)
    document.setDefaultFont(font)


class TextEdit(QPlainTextEdit):
    """An editor that stays fast with any pasted text."""

    # the word being composed, not yet part of the text, appeared, changed or went
    composed = Signal()

    _endless = False
    # the placeholder of an empty field
    _hint = ""

    def toPlainText(self) -> str:
        """The text as typed or pasted: Qt's own method changes some spaces and line ends."""
        return self.document().toRawText().replace("\u2029", "\n")

    def setPlaceholderText(self, text: str) -> None:
        self._hint = text
        self._show_hint()

    def placeholderText(self) -> str:
        return self._hint

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        super().inputMethodEvent(event)
        # Qt would draw it under the word being composed
        self._show_hint()
        self.composed.emit()

    def is_blank(self) -> bool:
        """True if no text is written or being composed."""
        return is_blank(self.toPlainText()) and is_blank(composing.word_in(self))

    def height_of_lines(self, most: int) -> tuple[float, bool]:
        """The height of the first lines in pixels, `most` of them at most, and True if there are
        more: lines with signs of another font are higher."""
        height, left = 0.0, most
        block = self.document().begin()
        while block.isValid():
            # this lays the block out
            whole = self.blockBoundingRect(block).height()
            lines = block.layout().lineCount()
            if lines > left:
                shown = [block.layout().lineAt(number).height() for number in range(left)]
                return height + sum(shown), True
            height, left = height + whole, left - lines
            block = block.next()
        return height, False

    def _show_hint(self) -> None:
        shown = "" if composing.word_in(self) else self._hint
        if super().placeholderText() != shown:
            super().setPlaceholderText(shown)

    def setPlainText(self, text: str) -> None:
        endless = is_endless(text)
        if endless:
            self._wrap(True)
        super().setPlainText(text)
        if not endless:
            self._wrap(False)

    def insertFromMimeData(self, source: QMimeData) -> None:
        if is_endless(source.text()):
            self._wrap(True)
        super().insertFromMimeData(source)

    def _wrap(self, endless: bool) -> None:
        if endless is not self._endless:
            self._endless = endless
            wrap(self.document(), endless, self.font())
