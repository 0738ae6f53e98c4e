"""Separates the beginning of a reply that a server repeats from new text. Pure."""

from __future__ import annotations

from headstart.core.servers import Connection

# these continue without repeating the given text. Templates may strip blanks from its end, which
# these servers then write first
_NO_ECHO = ("vllm", "sglang")


def as_sent(connection: Connection, reply: str) -> str:
    """The beginning of a reply in the form to send to a server."""
    return reply.rstrip() or reply if connection.kind in _NO_ECHO else reply


class Echoed:
    """Removes the echo of `sent` from the beginning of a stream."""

    def __init__(self, connection: Connection, sent: str) -> None:
        if connection.kind in _NO_ECHO:
            sent = sent[len(as_sent(connection, sent)) :]
        self._left = sent
        self._said = ""

    def new(self, content: str) -> str:
        """Only the new text: some servers repeat the given beginning before they continue, and
        others start again with the same words."""
        if not self._left:
            return content
        said = self._said + content
        if said.startswith(self._left):
            self._left, new = "", said[len(self._left) :]
            return new
        if self._left.startswith(said):
            self._said = said
            return ""
        # different text: nothing was repeated
        self._left = ""
        return said

    def rest(self) -> str:
        """Text held back as a possible repetition when the stream ended."""
        rest, self._left, self._said = self._said if self._left else "", "", ""
        return rest
