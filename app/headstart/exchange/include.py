"""Optional parts of a conversation in an exported file."""

from __future__ import annotations

from msgspec import Struct


class Include(Struct, frozen=True):
    """Parts beyond the text of the shown branch."""

    reasoning: bool = True
    stats: bool = False
    # the other versions of messages too, if a format can show them
    branches: bool = False


WORDS = Include()
