"""The state of a tool server, as the window shows it. Pure."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from headstart.core.told import Told
from headstart.core.tool_servers.lists import ServerLists


class ToolServerState(StrEnum):
    OFF = "off"
    STARTING = "starting"
    READY = "ready"
    ENDED = "ended"


class ToolServerView(Struct, frozen=True):
    """`problem`: the reason why it ended. `lists`: those that it gave last; None: never started.
    `log`: the last lines that it wrote for people."""

    state: ToolServerState = ToolServerState.OFF
    problem: Told | None = None
    lists: ServerLists | None = None
    log: tuple[str, ...] = ()
