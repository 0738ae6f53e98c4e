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
from headstart.chat.models import Models
from headstart.chat.preferences import Preferences


class ToolWork(Struct, frozen=True):
    permissions: Permissions
    running: RunningCalls
    desk: ToolDesk
    costs: ToolCosting


def make_tools(
    databases: Databases,
    finding: Finding,
    preferences: Preferences,
    branches: Branches,
    local: tuple[Models, LocalAnswerer],
) -> ToolWork:
    """`local`: the models, and the answers of those on this computer, which count tokens."""
    permissions, running = Permissions(preferences), RunningCalls()
    desk = ToolDesk(Toolbox(databases, finding), permissions, running, Shortening(databases))
    return ToolWork(permissions, running, desk, ToolCosting(branches, *local))
