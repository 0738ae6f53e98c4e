"""Keys that a command cannot have, and why. Main thread."""

from __future__ import annotations

import sys
from collections.abc import Container, Mapping

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QKeySequence

from headstart.ui.kit.keys import TAKEN_ON_MAC

# hides the program, which the system does
_OF_MACS = ("Ctrl+H", "Ctrl+Alt+H")
# held with a letter, these two begin no text
SECOND_HELD = "Meta" if sys.platform == "darwin" else "Alt"
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
    mac = platform == "darwin"
    if keys in EDITING or (mac and keys in (*TAKEN_ON_MAC, *_OF_MACS)):
        return "shortcuts.keys-of-fields", ""
    if keys in fixed:
        return "shortcuts.keys-have-a-place", ""
    # Option types signs on a Mac
    commanding = _Held.ControlModifier | _Held.MetaModifier
    if not mac:
        commanding |= _Held.AltModifier
    if not held & commanding:
        if not Qt.Key.Key_F1 <= pressed.key() <= Qt.Key.Key_F35:
            return "shortcuts.keys-type-text", ""
    elif not mac and held & _ALT_GR == _ALT_GR and pressed.key() < 0x1000000:
        return "shortcuts.keys-with-alt-gr", ""
    other = next((one for one, by in taken.items() if by == keys and one != command), "")
    return ("shortcuts.keys-taken" if other else ""), other


def _first(keys: QKeySequence) -> QKeyCombination:
    # the stubs do not know that a sequence can be indexed
    found: QKeyCombination = keys[0]  # type: ignore[index]
    return found
