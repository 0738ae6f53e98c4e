"""A reply's beginning that a server repeats, told from new text. Pure."""

from __future__ import annotations

from headstart.core.servers import Connection

# these go on without saying again what they were given. Templates may cut blanks off its end, which
# are then the first that they write
_NO_ECHO = ("vllm", "sglang")


def as_sent(connection: Connection, reply: str) -> str:
    """The beginning of a reply as such a server is to get it."""
    return reply.rstrip() or reply if connection.kind in _NO_ECHO else reply


class Echoed:
    """Removes the echo of `sent` from the beginning of a stream."""

    def __init__(self, connection: Connection, sent: str) -> None:
        if connection.kind in _NO_ECHO:
            sent = sent[len(as_sent(connection, sent)) :]
        self._left = sent
        self._said = ""

    def new(self, content: str) -> str:
        """New text only: some servers say again what they were given to go on from, and others
        begin again with the same words."""
        if not self._left:
            return content
        said = self._said + content
        if said.startswith(self._left):
            self._left, new = "", said[len(self._left) :]
            return new
        if self._left.startswith(said):
            self._said = said
            return ""
        # other words: nothing was said again
        self._left = ""
        return said

    def rest(self) -> str:
        """Text that looked repeated when the stream ended inside it."""
        rest, self._left, self._said = self._said if self._left else "", "", ""
        return rest
