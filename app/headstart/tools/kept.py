"""Lists of tools as servers last gave them, on disk: a chat's prompt has its tools before any
server was started, in the same order as before. A file for each server. Any thread.

Beside a list lie the definitions that the user last agreed to, so that a change can be shown.
"""

from __future__ import annotations

import contextlib
import logging
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from headstart.core import patient
from headstart.core.files import PARTIAL
from headstart.core.tool_servers.lists import ServerLists, ToolDefinition, merged

log = logging.getLogger(__name__)

_SUFFIX = ".json"
# bytes of a file that is still read
_MOST = 64 << 20


class KeptLists(Struct, frozen=True):
    """`binding`: that of the entry they belong to. `handshake`: the server speaks the older age of
    the protocol; None: not known. `agreed`: definitions that the user agreed to, by tool;
    `agreed_with`: what was started or asked then, by tool, without values of secrets."""

    binding: str
    lists: ServerLists = ServerLists()
    handshake: bool | None = None
    agreed: dict[str, ToolDefinition] = {}
    agreed_with: dict[str, str] = {}

    def with_lists(self, lists: ServerLists, handshake: bool) -> KeptLists:
        """The same with new lists, their tools in the old order."""
        return replace(self, lists=merged(lists, self.lists), handshake=handshake)

    def with_agreed(self, tool: ToolDefinition, surroundings: str) -> KeptLists:
        return replace(
            self,
            agreed={**self.agreed, tool.name: tool},
            agreed_with={**self.agreed_with, tool.name: surroundings},
        )

    def of_binding(self, binding: str) -> KeptLists:
        """The same for this command or address: of another one only what was agreed to is kept,
        to show the difference."""
        if self.binding == binding:
            return self
        return KeptLists(binding, agreed_with=self.agreed_with)


class ListsFolder:
    def __init__(self, folder: Path | None) -> None:
        """`folder` None: nothing is kept."""
        self._folder = folder

    def load(self, server: str, binding: str) -> KeptLists:
        """All that is kept of a server; no lists of another command or address."""
        path = self._path(server)
        if path is not None:
            try:
                if path.stat().st_size <= _MOST:
                    found = msgspec.json.decode(path.read_bytes(), type=KeptLists)
                    return found.of_binding(binding)
            except FileNotFoundError:
                pass
            except (OSError, msgspec.MsgspecError) as error:
                log.warning("a list of tools is not used: %s", type(error).__name__)
        return KeptLists(binding)

    def save(self, server: str, kept: KeptLists) -> None:
        path = self._path(server)
        if path is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_suffix(PARTIAL)
            partial.write_bytes(msgspec.json.encode(kept))
            patient.replace(partial, path)
        except OSError as error:
            log.warning("a list of tools is not kept: %s", error.strerror)

    def forget(self, server: str) -> None:
        path = self._path(server)
        if path is not None:
            with contextlib.suppress(OSError):
                patient.remove(path)

    def _path(self, server: str) -> Path | None:
        if self._folder is None or not server.isalnum():
            return None
        return self._folder / f"{server}{_SUFFIX}"
