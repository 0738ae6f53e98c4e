"""All that tools need, made together. On the event loop's thread."""

from __future__ import annotations

from msgspec import Struct

from headstart.chat.agent.costs import ToolCosting
from headstart.chat.agent.permissions import Permissions
from headstart.chat.agent.running import RunningCalls
from headstart.chat.agent.shortening import Shortening
from headstart.chat.agent.stream import ToolDesk
from headstart.chat.agent.toolbox import Toolbox
from headstart.chat.answering.local import LocalAnswerer
from headstart.chat.branches import Branches
from headstart.chat.databases import Databases
from headstart.chat.finding import Finding
from headstart.chat.knowledge.tools import FileTools
from headstart.chat.models import Models
from headstart.chat.preferences import Preferences
from headstart.chat.tool_servers.making import ToolServers


class ToolWork(Struct, frozen=True):
    permissions: Permissions
    running: RunningCalls
    desk: ToolDesk
    costs: ToolCosting
    servers: ToolServers


def make_tools(
    databases: Databases,
    searches: tuple[Finding, FileTools],
    preferences: Preferences,
    branches: Branches,
    local: tuple[Models, LocalAnswerer],
    servers: ToolServers,
) -> ToolWork:
    """`searches`: of chats and of files. `local`: the models, and the answers of those on this
    computer, which count tokens."""
    permissions, running = Permissions(preferences), RunningCalls()
    box, shortening = Toolbox(databases, *searches), Shortening(databases)
    desk = ToolDesk(box, servers.lending, permissions, running, shortening)
    return ToolWork(permissions, running, desk, ToolCosting(branches, *local, servers), servers)
