"""Parts of a conversation that go into a file."""

from __future__ import annotations

from msgspec import Struct


class Include(Struct, frozen=True):
    """Beside the words of the branch on show."""

    reasoning: bool = True
    stats: bool = False
    # the other versions of messages too, where a format can show them
    branches: bool = False


WORDS = Include()
