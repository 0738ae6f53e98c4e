"""Line breaks: between words, but anywhere in runs too long for words.

Qt needs time quadratic in a run's length to find that it has no break between words: 20 seconds
for a line of 300,000 characters, against a tenth of a second with breaks anywhere. In such a run,
glyphs that depend on their neighbours take ten times as long as others.
"""

from __future__ import annotations

import re

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import (
    QFont,
    QInputMethodEvent,
    QKeyEvent,
    QTextBlock,
    QTextCursor,
    QTextDocument,
    QTextOption,
)
from PySide6.QtWidgets import QPlainTextEdit

from headstart.core.text.shown import is_blank
from headstart.core.text.units import from_units, units
from headstart.ui.kit import composing
from headstart.ui.kit.long_lines import MARK, cut, whole

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
    """An editor that stays fast with any text: long lines are pieces, see `long_lines`."""

    # the word being composed, not yet part of the text, appeared, changed or went
    composed = Signal()

    # the placeholder of an empty field
    _hint = ""
    # a revision of the document, and its text
    _known = -1, ""
    # true for a text that has the mark of pieces itself: its lines stay whole
    _uncut = False

    def toPlainText(self) -> str:
        """The text as typed or pasted: Qt's own method changes some spaces and line ends."""
        document = self.document()
        # asked several times at each key
        if self._known[0] != document.revision():
            self._known = document.revision(), self._lines(document.toRawText())
        return self._known[1]

    def text_before_caret(self) -> str:
        raw = self.document().toRawText()
        return self._lines(raw[: from_units(raw, self.textCursor().position())])

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
        self._uncut = MARK in text
        super().setPlainText(cut(text))
        # another text may have the revision of the one before
        self._known = -1, ""

    def insertPlainText(self, text: str) -> None:
        self._insert(text, cut(text))

    def insertFromMimeData(self, source: QMimeData) -> None:
        text = source.text()
        pieces = cut(text)
        if pieces is text and MARK not in text:
            super().insertFromMimeData(source)
        else:
            self._insert(text, pieces)
            self.ensureCursorVisible()

    def _insert(self, text: str, pieces: str) -> None:
        if MARK in text and not self._uncut:
            self._put_together()
        super().insertPlainText(text if self._uncut else pieces)

    def _put_together(self) -> None:
        """Have whole lines from now on."""
        before, text = self.text_before_caret(), self.toPlainText()
        self._uncut = True
        super().setPlainText(text)
        cursor = self.textCursor()
        cursor.setPosition(units(before))
        self.setTextCursor(cursor)

    def createMimeDataFromSelection(self) -> QMimeData:
        selected = self.textCursor().selectedText()
        if MARK not in selected or self._uncut:
            return super().createMimeDataFromSelection()
        copied = QMimeData()
        copied.setText(self._lines(selected))
        return copied

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Backspace, Qt.Key.Key_Delete):
            self._join(event.key() == Qt.Key.Key_Backspace)
        super().keyPressEvent(event)

    def _lines(self, raw: str) -> str:
        text = raw.replace("\u2029", "\n")
        return text if self._uncut else whole(text)

    def _join(self, back: bool) -> None:
        """Put two pieces together if the key removes what stands at their joint."""
        cursor = self.textCursor()
        if cursor.hasSelection() or self._uncut:
            return
        block = cursor.block() if not back else cursor.block().previous()
        at_joint = cursor.atBlockStart() if back else cursor.position() >= _end_of(block)
        if not at_joint or not block.text().endswith(MARK):
            return
        cursor.beginEditBlock()
        cursor.setPosition(_end_of(block))
        cursor.setPosition(_end_of(block) + len(MARK) + 1, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        cursor.endEditBlock()
        self.setTextCursor(cursor)


def _end_of(block: QTextBlock) -> int:
    """The position behind a piece's text, before its mark."""
    return block.position() + block.length() - 1 - len(MARK)
