"""Keys as they stand on a keyboard. Main thread."""

from __future__ import annotations

import re
import sys

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QKeySequence

from headstart.core.text.shown import from_left

# Qt writes no key that is held alone; its “Ctrl” is a Mac's Command. In the order of a Mac's menus
_HELD_ON_MAC = {"Meta": "⌃", "Alt": "⌥", "Shift": "⇧", "Ctrl": "⌘"}
_SIGNS_ON_MAC = {"Up": "↑", "Down": "↓", "Enter": "↩", "plus": "+", "minus": "−"}
# what a Mac's own windows and fields do with these keys, it does in every program; in their place
TAKEN_ON_MAC = {
    "Ctrl+M": "Ctrl+Shift+M",
    "Ctrl+Up": "Ctrl+Alt+Up",
    "Ctrl+Down": "Ctrl+Alt+Down",
}
_NAMED = re.compile(r"\b(?:Ctrl|Shift|Alt)\b(?:\+(?:[A-Za-z0-9]+|[,/=]))*")


def key_text(keys: str, platform: str = sys.platform) -> str:
    """Keys in the portable form of Qt, or one that is held, for display."""
    if keys not in _HELD_ON_MAC:
        if platform == "darwin":
            # “Enter” is Qt's name of the number pad's key, which has a sign of its own there
            keys = keys.replace("Enter", "Return")
        text = QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)
    elif platform == "darwin":
        text = _HELD_ON_MAC[keys]
    else:
        text = QCoreApplication.translate("QShortcut", keys)
    return from_left(text)


def usual_keys(keys: str, platform: str = sys.platform) -> str:
    """The keys of a command in the portable form, which the user has not changed."""
    return TAKEN_ON_MAC.get(keys, keys) if platform == "darwin" else keys


def in_mac_keys(text: str) -> str:
    """A page of the guide, which names the keys of other keyboards, for a Mac."""
    return _NAMED.sub(lambda match: _mac_signs(match[0]), text)


def _mac_signs(keys: str) -> str:
    *held, key = TAKEN_ON_MAC.get(keys, keys).split("+")
    if key in _HELD_ON_MAC:
        held, key = [*held, key], ""
    signs = "".join(sign for name, sign in _HELD_ON_MAC.items() if name in held)
    return signs + _SIGNS_ON_MAC.get(key, key)


def with_keys(title: str, keys: str) -> str:
    """The text of a menu's row, for an action that has `keys` ("" for none)."""
    return f"{title}\t{key_text(keys)}" if keys else title
