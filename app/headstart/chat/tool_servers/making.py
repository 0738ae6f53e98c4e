"""All that tool servers need, made together. On the event loop's thread; nothing starts."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from headstart.chat.attaching import Attaching
from headstart.chat.broadcast import Broadcast
from headstart.chat.preferences import Preferences
from headstart.chat.tool_servers.entries import ToolEntries
from headstart.chat.tool_servers.lending import Lending
from headstart.chat.tool_servers.results import Receiving
from headstart.chat.tool_servers.running import RunningTools
from headstart.storage.adapters.keychain import Keychain
from headstart.tools.kept import ListsFolder
from headstart.tools.session import ToolSession


class ToolServers(Struct, frozen=True):
    entries: ToolEntries
    running: RunningTools
    lending: Lending
    receiving: Receiving


def make_tool_servers(
    preferences: Preferences,
    keychain: Keychain,
    broadcast: Broadcast,
    attaching: Attaching,
    folder: Path | None = None,
) -> ToolServers:
    """`folder`: where their lists are kept; None: nowhere."""
    entries, receiving = ToolEntries(preferences, keychain), Receiving(attaching)
    running = RunningTools(ToolSession(), ListsFolder(folder), entries, broadcast)
    lending = Lending(entries, running, preferences, receiving)
    return ToolServers(entries, running, lending, receiving)
