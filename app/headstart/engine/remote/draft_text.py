"""What is drafted for a server's model: text of a local model, or a copy of text that is there."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from headstart.core.parts import Origin
from headstart.core.requests import RemoteRequest
from headstart.core.servers import Connection

# characters that must be the same for a copy to be drafted from
SAME = 32


class Draft(Struct, frozen=True):
    text: str
    tokens: int
    origin: Origin = Origin.DRAFT


class RemoteDraft(Protocol):
    """A model of this computer that goes on with a reply. Raises EnvironmentProblem."""

    @property
    def key(self) -> str: ...

    @property
    def prompt(self) -> str | None:
        """The chat as text by its template, up to where the reply begins; None without one."""
        ...

    async def write(self, reply: str, tokens: int) -> Draft:
        """At most so many tokens after `reply`; a cancel ends it."""
        ...


def drafts_possible(request: RemoteRequest) -> bool:
    """Whether the reply can be drafted at all: only greedy text without reasoning can be checked,
    and only text that nothing else restricts."""
    sampling = request.sampling
    return (
        request.speculation.enabled
        and sampling.temperature == 0
        and not sampling.schema
        and not sampling.presence_penalty
        and sampling.repeat_penalty in (0, 1)
        and not request.reply_so_far.reasoning
    )


def copy_of(reply: str, texts: Sequence[str], characters: int) -> str:
    """What followed the end of `reply` where it stood before, in the reply or in `texts`, the
    latest place first; "" where it did not."""
    end = reply[-SAME:]
    if len(end) < SAME:
        return ""
    for text in (reply[:-1], *reversed(texts)):
        at = text.rfind(end)
        if at >= 0:
            return text[at + SAME : at + SAME + characters]
    return ""


def is_this_computer(connection: Connection) -> bool:
    """Whether the server shares the processor with the draft."""
    host = connection.host.rpartition(":")[0] if ":" in connection.host else connection.host
    host = host.strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
