"""Audiences: who may reuse what was computed for a request. Pure.

All kept chats and folders of the window are one audience, each private chat is one alone, and so is
each key of the server for other programs. Owners (chats, documents, sessions) decide how long state
is kept; the audience decides who finds it. Nothing tells one audience what another has computed:
neither counts of tokens, nor reasons, nor time.
"""

from __future__ import annotations

import hashlib

from msgspec import Struct

from headstart.core.chats.values import Chat

_PRIVATE = "private:"


class Audience(Struct, frozen=True):
    """`name`: those who may reuse what a request computes. `reads`: others whose state it may reuse
    without a trace."""

    name: str
    reads: tuple[str, ...] = ()

    @property
    def sees(self) -> tuple[str, ...]:
        """The audiences whose state it may reuse, its own first."""
        return (self.name, *self.reads)


WINDOW = Audience("window")


def private(chat_id: str) -> Audience:
    """A private chat alone: it may read the window's state, and nobody reads its own."""
    return Audience(_PRIVATE + chat_id, (WINDOW.name,))


def of_chat(chat: Chat) -> Audience:
    """The audience of a chat's requests."""
    return private(chat.id) if chat.private else WINDOW


def of_key(key: str, shares_window: bool = False) -> Audience:
    """The programs that send a key of the server. `shares_window`: the user lets them reuse the
    window's state too."""
    digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return Audience(f"key:{digest}", (WINDOW.name,) if shares_window else ())
