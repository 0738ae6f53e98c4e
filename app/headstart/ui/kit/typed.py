"""Tells keys that type text from keys that trigger an action."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

_COMMANDS = (
    Qt.KeyboardModifier.ControlModifier
    | Qt.KeyboardModifier.AltModifier
    | Qt.KeyboardModifier.MetaModifier
)
# AltGr on Windows
_ALT_GR = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier


def is_typed(event: QKeyEvent) -> bool:
    """True for a letter, digit or sign; a space presses buttons and ticks lines."""
    text = event.text()
    if not text or not text.isprintable() or text.isspace():
        return False
    held = event.modifiers() & _COMMANDS
    return not held or held == _ALT_GR
