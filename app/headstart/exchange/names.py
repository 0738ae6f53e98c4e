"""Names of files for chats, that every system takes."""

from __future__ import annotations

import re
import unicodedata

# of Windows, whatever follows the dot
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)
_LONGEST = 80
# bytes: systems count those, and an ending and a number come on top
_LONGEST_BYTES = 160
_CHAT = "chat"
_SIGNS = frozenset(" -_.,()'&+")
# joiners, which keep letters and emoji together or apart
_JOINERS = "\u200c\u200d\ufe0f"


def file_name(title: str) -> str:
    """A title as a file's name without an ending; never empty, and no more than 80 characters."""
    text = unicodedata.normalize("NFC", title)
    kept = "".join(one if _is_kept(one) else " " for one in text)
    name = " ".join(kept.split())[:_LONGEST]
    # joiners at an end join nothing
    name = name.encode()[:_LONGEST_BYTES].decode("utf-8", "ignore").strip(f" .{_JOINERS}")
    return f"{_CHAT} {name}".strip() if not name or _RESERVED.match(name) else name


def _is_kept(one: str) -> bool:
    """Letters with their marks, digits, emoji, and signs that every system takes in a name."""
    if one.isalnum() or one in _SIGNS or one in _JOINERS:
        return True
    return unicodedata.category(one) in ("Mn", "Mc", "Me", "So", "Sk") and not one.isascii()


class Names:
    """Gives each chat a name of its own; systems that do not tell letters' cases apart agree."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, title: str, suffix: str) -> str:
        name = file_name(title)
        number, found = 1, f"{name}{suffix}"
        while found.casefold() in self._taken:
            number += 1
            found = f"{name} ({number}){suffix}"
        self._taken.add(found.casefold())
        return found
