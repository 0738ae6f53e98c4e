"""Lines of one height, whatever fonts their signs come from.

A line with Chinese or Hindi words is higher than its neighbours, and a least height moves its
baseline. A fixed one does not, but cuts off signs that stand over and under each other, and Qt
lifts a line by the gap that some fonts want under it: `level` puts it back.
"""

from __future__ import annotations

import re

from PySide6.QtCore import QPointF, QSizeF
from PySide6.QtGui import QTextBlockFormat, QTextDocument

from headstart.ui.kit import theme

# a table's line: as high as one of Chinese
_TABLE = 1.45
# an object in the line; Urdu's own letters, whose fonts slope; scripts that stack their signs:
# Syriac, Bengali to Burmese with Thai and Tibetan, Ethiopic, Khmer and the islands'
_HIGH = (
    "[\ufffc\u0679\u0688\u0691\u06ba\u06be\u06c1-\u06c3\u06d2\u06d3\u0700-\u086f\u0980-\u109f"
    "\u1200-\u139f\u1700-\u1cff\ua800-\uaaff\U00011000-\U00011fff]"
)

# the part of a fixed height that Qt keeps over the baseline
_OVER = 0.8


def is_high(text: str) -> bool:
    """True if the text needs more room than a line of usual height."""
    # compiled when the first message is shown: that takes a millisecond
    return re.search(_HIGH, text) is not None


def set_line_height(form: QTextBlockFormat, high: bool, in_table: bool = False) -> None:
    """Set the height of the lines of a paragraph or of a table's cell, with `high` signs or
    without. Cells with formulas keep their own heights: those would sink below the words."""
    if high and in_table:
        return
    kinds = QTextBlockFormat.LineHeightTypes
    kind = kinds.MinimumHeight if high else kinds.FixedHeight
    height = round(theme.px(theme.READING_SIZE) * _TABLE) if in_table else theme.line_height()
    form.setLineHeight(height, kind.value)


def level(document: QTextDocument) -> None:
    """Put the baselines of lines of fixed height at equal distances, after each layout."""
    fixed = QTextBlockFormat.LineHeightTypes.FixedHeight.value
    block = document.begin()
    while block.isValid():
        form = block.blockFormat()
        if form.lineHeightType() == fixed:
            layout, height = block.layout(), form.lineHeight()
            for number in range(layout.lineCount()):
                line = layout.lineAt(number)
                if line.leading() > 0:
                    top = height * (number + _OVER) - line.ascent()
                    line.setPosition(QPointF(line.x(), top))
        block = block.next()


class LevelLines:
    """The lines of a document that is laid out again and again, levelled after each time."""

    def __init__(self, document: QTextDocument) -> None:
        self._document = document
        # width and revision of the last layout that was levelled
        self._done = (-1.0, -1)

    def size(self) -> QSizeF:
        """Size of the document, laid out if it was not."""
        size = self._document.size()
        layout = (self._document.textWidth(), self._document.revision())
        if layout != self._done:
            self._done = layout
            level(self._document)
        return size
