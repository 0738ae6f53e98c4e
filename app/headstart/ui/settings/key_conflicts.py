"""Keys that a command cannot have, and why. Main thread."""

from __future__ import annotations

import sys
from collections.abc import Container, Mapping

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QKeySequence

_Held = Qt.KeyboardModifier
# not on a Mac, where Ctrl stands for Command
_ALT_GR = _Held.ControlModifier | _Held.AltModifier
# fields of text need them
EDITING = (
    "Ctrl+X", "Ctrl+V", "Ctrl+Z", "Ctrl+Shift+Z", "Ctrl+Y", "Ctrl+Left", "Ctrl+Right", "Ctrl+Home",
    "Ctrl+End", "Ctrl+Backspace", "Ctrl+Del", "Shift+Ins", "Ctrl+Ins", "Shift+Del",
)  # fmt: skip


def conflict(
    keys: str,
    command: str,
    taken: Mapping[str, str],
    fixed: Container[str],
    platform: str = sys.platform,
) -> tuple[str, str]:
    """The code of the sentence that says why `command` cannot have these keys, "" if it can, and
    the command that has them. `taken`: keys by command; `fixed`: keys of places in the window."""
    if not keys:
        return "", ""
    pressed = _first(QKeySequence(keys))
    held = pressed.keyboardModifiers()
    if keys in EDITING:
        return "shortcuts.keys-of-fields", ""
    if keys in fixed:
        return "shortcuts.keys-have-a-place", ""
    if not held & (_Held.ControlModifier | _Held.AltModifier | _Held.MetaModifier):
        if not Qt.Key.Key_F1 <= pressed.key() <= Qt.Key.Key_F35:
            return "shortcuts.keys-type-text", ""
    elif platform != "darwin" and held & _ALT_GR == _ALT_GR and pressed.key() < 0x1000000:
        return "shortcuts.keys-with-alt-gr", ""
    other = next((one for one, by in taken.items() if by == keys and one != command), "")
    return ("shortcuts.keys-taken" if other else ""), other


def _first(keys: QKeySequence) -> QKeyCombination:
    # the stubs do not know that a sequence can be indexed
    found: QKeyCombination = keys[0]  # type: ignore[index]
    return found
