"""Keys as they stand on a keyboard. Main thread."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence

from headstart.core.text.shown import from_left


def key_text(keys: str) -> str:
    """Keys in the portable form of Qt, for display."""
    return from_left(QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText))
