"""Sessions of other programs: runs of requests that continue each other. Pure."""

from __future__ import annotations

import hashlib

from msgspec import Struct

from headstart.core.chats.values import Role
from headstart.core.knowledge.survey import is_document
from headstart.core.serving.request import ServedRequest

# tells the ids of sessions from those of chats
PREFIX = "server:"
# milliseconds that an unused session is kept on disk
KEPT_MS = 30 * 24 * 3600 * 1000
# characters of a beginning that tell sessions apart
_BEGINNING = 20_000


class ServedSession(Struct, frozen=True):
    """One session on disk; `used_at` in milliseconds since 1970."""

    id: str
    program: str
    used_at: int


def is_session(owner: str) -> bool:
    """True for the id of a session, in place of a chat's."""
    return owner.startswith(PREFIX)


def is_beside(owner: str) -> bool:
    """True for an id that is no chat's: a session's or a document's."""
    return is_session(owner) or is_document(owner)


def session_id(program: str, request: ServedRequest, part: str = "", audience: str = "") -> str:
    """The id of a request's session: of the program's own key, else of its beginning, which all
    requests of a session share. `part`: an agent within it; `audience`: the programs that share a
    key of the server: those of another one have sessions of their own."""
    found = hashlib.blake2b(digest_size=12)

    def add(text: str) -> None:
        found.update(text.encode("utf-8", "surrogatepass") + b"\0")

    add(audience)
    add(program)
    add(part)
    if request.session:
        add(request.session)
    else:
        add("beginning")
        add(request.plain[:_BEGINNING])
        for message in request.messages:
            add(message.text[:_BEGINNING])
            if message.role is not Role.SYSTEM:
                break
    return PREFIX + found.hexdigest()
