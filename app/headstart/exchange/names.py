"""File names for chats that are valid on every system."""

from __future__ import annotations

import re
import unicodedata

# names reserved by Windows, with any extension, and blanks before it
_RESERVED = re.compile(
    r"(?:con|prn|aux|nul|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])\s*(?:\.|$)",
    re.IGNORECASE,
)
_LONGEST = 80
# bytes, which file systems count; an extension and a number are added
_LONGEST_BYTES = 160
_CHAT = "chat"
_SIGNS = frozenset(" -_.,()'&+")
# joiners, which join or separate letters and emoji
_JOINERS = "\u200c\u200d\ufe0f"


def file_name(title: str) -> str:
    """A title as a file name without an extension; never empty, and at most 80 characters."""
    text = unicodedata.normalize("NFC", title)
    kept = "".join(one if _is_kept(one) else " " for one in text)
    name = " ".join(kept.split())[:_LONGEST]
    # a joiner at an end has no effect
    name = name.encode()[:_LONGEST_BYTES].decode("utf-8", "ignore").strip(f" .{_JOINERS}")
    return f"{_CHAT} {name}".strip() if not name or _RESERVED.match(name) else name


def _is_kept(one: str) -> bool:
    """True for letters with their marks, digits, emoji, and signs valid on every system."""
    if one.isalnum() or one in _SIGNS or one in _JOINERS:
        return True
    return unicodedata.category(one) in ("Mn", "Mc", "Me", "So", "Sk") and not one.isascii()


class Names:
    """Gives each chat a unique name, also on systems that ignore case."""

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
