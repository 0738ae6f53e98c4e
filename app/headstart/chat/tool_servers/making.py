"""All that tool servers need, made together. On the event loop's thread; nothing starts."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from headstart.chat.attaching import Attaching
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ToolServersChanged
from headstart.chat.databases import Databases
from headstart.chat.preferences import Preferences
from headstart.chat.tool_servers.entries import ToolEntries
from headstart.chat.tool_servers.lending import Lending
from headstart.chat.tool_servers.lists import ToolLists
from headstart.chat.tool_servers.results import Receiving
from headstart.chat.tool_servers.running import RunningTools
from headstart.tools.kept import ListsFolder
from headstart.tools.session import ToolSession


class ToolServers(Struct, frozen=True):
    entries: ToolEntries
    lists: ToolLists
    running: RunningTools
    lending: Lending
    # stores their files, as those of messages
    attaching: Attaching


def make_tool_servers(
    preferences: Preferences,
    entries: ToolEntries,
    broadcast: Broadcast,
    databases: Databases,
    folder: Path | None = None,
    session: ToolSession | None = None,
) -> ToolServers:
    """`folder`: where their lists are kept; None: nowhere. `session`: None for a child process of
    its own."""
    attaching = Attaching(databases)
    receiving = Receiving(attaching)
    lists = ToolLists(ListsFolder(folder), entries)
    # another entry or choice changes what chats are offered
    preferences.listen(
        lambda _settings: broadcast.tell(ToolServersChanged("")),
        "tool_servers",
        "tools_from",
        "models",
    )
    running = RunningTools(session or ToolSession(), lists, entries, broadcast)
    lending = Lending(entries, lists, running, preferences, receiving)
    return ToolServers(entries, lists, running, lending, attaching)
