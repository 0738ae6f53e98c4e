"""Lines of one height, whatever fonts their signs come from. Pure.

A line with Chinese or Hindi words is higher than its neighbours, and a least height moves its
baseline. A fixed one does not, but cuts off signs that stand over and under each other.
"""

from __future__ import annotations

import re

from PySide6.QtGui import QTextBlockFormat

from headstart.ui.kit import theme

# a table's line: as high as one of Chinese
_TABLE = 1.45
# an object in the line; Urdu's own letters, whose fonts slope; scripts that stack their signs:
# Syriac, Bengali to Burmese with Thai and Tibetan, Ethiopic, Khmer and the islands'
_HIGH = (
    "[\ufffc\u0679\u0688\u0691\u06ba\u06be\u06c1-\u06c3\u06d2\u06d3\u0700-\u086f\u0980-\u109f"
    "\u1200-\u139f\u1700-\u1cff\ua800-\uaaff\U00011000-\U00011fff]"
)


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
