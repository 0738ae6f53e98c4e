"""Copies of earlier text, which draft repeated text. Pure."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from headstart.core.servers import Connection

# number of matching characters required for a copy
SAME = 32


def copy_of(reply: str, texts: Sequence[str], characters: int) -> str:
    """The text that followed an earlier occurrence of the end of `reply`, in the reply or in
    `texts`, the latest one first; "" if there was none."""
    end = reply[-SAME:]
    if len(end) < SAME:
        return ""
    for text in (reply[:-1], *reversed(texts)):
        at = text.rfind(end)
        if at >= 0:
            return text[at + SAME : at + SAME + characters]
    return ""


def is_this_computer(connection: Connection) -> bool:
    """True if the server shares the processor with the draft."""
    host = connection.host.rpartition(":")[0] if ":" in connection.host else connection.host
    host = host.strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
