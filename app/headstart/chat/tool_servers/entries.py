"""The user's entries for tool servers: added, changed, imported, removed. On the event loop's
thread; keychain calls block other threads."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from urllib.parse import urlsplit

from msgspec.structs import replace

from headstart.chat.beginnings import Beginnings
from headstart.chat.preferences import Preferences
from headstart.core.beginnings import BegunKind
from headstart.core.chats.values import new_id
from headstart.core.errors import EnvironmentProblem
from headstart.core.settings.schema import Settings, changed
from headstart.core.told import Told
from headstart.core.tool_servers.entry import ToolServer, Variable, check_entry, prefix_for
from headstart.storage.adapters.keychain import Keychain

# entries, as the settings take them
_MOST = 200


class ToolEntries:
    """`beginnings`: notes of the servers that are being started."""

    def __init__(
        self, preferences: Preferences, keychain: Keychain, beginnings: Beginnings | None = None
    ) -> None:
        self._preferences = preferences
        self._keychain = keychain
        self.beginnings = beginnings or Beginnings()

    @property
    def all(self) -> tuple[ToolServer, ...]:
        return self._preferences.current.tool_servers

    def get(self, server_id: str) -> ToolServer | None:
        return next((one for one in self.all if one.id == server_id), None)

    async def save(self, draft: ToolServer, secrets: Mapping[str, str]) -> tuple[str, Told | None]:
        """Add or change an entry; returns its id and a notice, if any. `secrets`: new values by
        name; those that are missing keep theirs while program and host stay the same. Raises
        EnvironmentProblem."""
        check_entry(draft)
        before = self.get(draft.id)
        name = draft.name.strip() or draft.command or draft.host or draft.url
        taken = [one.prefix for one in self.all if one.id != draft.id]
        prefix = before.prefix if before is not None else prefix_for(name, taken)
        server = replace(draft, id=draft.id or new_id(), name=name[:100], prefix=prefix)
        server = replace(server, **_hidden(server))
        check_entry(server)
        if before is None and len(self.all) >= _MOST:
            raise EnvironmentProblem("tool-servers-too-many", most=_MOST)
        # the user's change of an argument keeps them; another program or host gets none
        same = before is not None and _program(before) == _program(server)
        kept = await self.secrets(before) if before is not None and same else {}
        wanted = {one.name for one in server.variables if one.secret}
        values = {name: one for name, one in {**kept, **secrets}.items() if name in wanted}
        if before is not None and same:
            server = _counted(server, before, kept, values)
        notice = None
        if values:
            text = json.dumps(values, ensure_ascii=False)
            notice = await asyncio.to_thread(self._keychain.set, server.account, text)
        elif kept:
            await asyncio.to_thread(self._keychain.forget, server.account)
        if before is not None and before.account != server.account and _has_secrets(before):
            await asyncio.to_thread(self._keychain.forget, before.account)
        self._store(server)
        return server.id, notice

    async def secrets(self, server: ToolServer) -> dict[str, str]:
        """The values of an entry's secrets, by name. Raises EnvironmentProblem."""
        if not _has_secrets(server):
            return {}
        text = await asyncio.to_thread(self._keychain.get, server.account)
        try:
            found = json.loads(text) if text else {}
        except ValueError:
            found = {}
        return (
            {str(name): str(one) for name, one in found.items()} if isinstance(found, dict) else {}
        )

    async def values(self, server: ToolServer) -> dict[str, str]:
        """All variables of an entry with their values. Raises EnvironmentProblem where a secret is
        missing."""
        secrets = await self.secrets(server)
        found = {}
        for one in server.variables:
            value = secrets.get(one.name) if one.secret else one.value
            if value is None:
                raise EnvironmentProblem("tool-server-secret", server=server.name, name=one.name)
            found[one.name] = value
        return found

    async def remove(self, server_id: str) -> None:
        """Remove an entry with its secrets and approvals; chats no longer choose it."""
        gone = self.get(server_id)
        self.beginnings.ask_for(BegunKind.TOOL_SERVER, server_id)
        settings = self._preferences.current
        self._preferences.update(
            tool_servers=tuple(one for one in settings.tool_servers if one.id != server_id),
            tool_approvals=tuple(one for one in settings.tool_approvals if one.server != server_id),
            tools_from=tuple(
                one for one in settings.tools_from if one.partition("/")[0] != server_id
            ),
        )
        if gone is not None and _has_secrets(gone):
            await asyncio.to_thread(self._keychain.forget, gone.account)

    def switch_tool(self, server_id: str, tool: str, on: bool) -> None:
        """Switch a tool on or off for all chats."""
        server = self.get(server_id)
        if server is not None:
            off = tuple(one for one in server.off if one != tool)
            self._store(changed(server, off=off if on else (*off, tool)))

    def set_brief(self, server_id: str, brief: bool) -> None:
        """Offer three tools in place of all tools of a server."""
        server = self.get(server_id)
        if server is not None:
            self._store(changed(server, brief=brief))

    def _store(self, server: ToolServer) -> None:
        entries = list(self.all)
        places = [one.id for one in entries]
        if server.id in places:
            entries[places.index(server.id)] = server
        else:
            entries.append(server)
        before = self.get(server.id)
        changes: dict[str, object] = {"tool_servers": tuple(entries)}
        if before is not None and before.surroundings != server.surroundings:
            # another command or environment: nothing that was allowed holds for it
            settings: Settings = self._preferences.current
            changes["tool_approvals"] = tuple(
                one for one in settings.tool_approvals if one.server != server.id
            )
        self._preferences.update(**changes)


def _counted(
    server: ToolServer, before: ToolServer, kept: Mapping[str, str], values: Mapping[str, str]
) -> ToolServer:
    """The entry with the changes of its secrets counted: their values are nowhere in it."""
    known = {one.name: one.changes for one in before.variables if one.secret}

    def counted(one: Variable) -> Variable:
        if not one.secret or one.name not in known:
            return one
        other = kept.get(one.name) != values.get(one.name)
        return replace(one, changes=known[one.name] + other)

    found = tuple(map(counted, server.variables))
    return replace(server, headers=found) if server.url else replace(server, environment=found)


def _program(server: ToolServer) -> str:
    """The program that is started, or the host that is asked."""
    if not server.url:
        return server.command
    parts = urlsplit(server.url)
    return f"{parts.scheme}://{parts.netloc}"


def _has_secrets(server: ToolServer) -> bool:
    return any(one.secret for one in server.variables)


def _hidden(server: ToolServer) -> dict[str, object]:
    """The variables without the values of secrets, as they are kept in the settings."""
    return {
        name: tuple(replace(one, value="") if one.secret else one for one in getattr(server, name))
        for name in ("environment", "headers")
    }
