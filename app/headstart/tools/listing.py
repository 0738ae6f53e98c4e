"""The lists of a tool server, page by page, within one bound for all of them. In the child."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

import mcp_types as types
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from headstart.core.told import Told, told
from headstart.core.tool_servers.lists import ServerLists, ToolDefinition
from headstart.tools import converted

# entries of each list, pages, and characters of all definitions
_MOST_ENTRIES, _MOST_PAGES, _MOST_CHARACTERS = 5_000, 100, 16_000_000
# reasons that are kept
_MOST_REASONS = 100
D = TypeVar("D")


class Listing:
    """One look at all lists. `tell` takes what is left out, with the reason."""

    def __init__(self, say: Callable[[str], None]) -> None:
        """`say` writes to the server's log."""
        self._say = say
        self._reasons: list[Told] = []
        self._left_out = 0
        self._characters = 0

    def tell(self, reason: Told) -> None:
        self._left_out += 1
        if len(self._reasons) < _MOST_REASONS and reason not in self._reasons:
            self._reasons.append(reason)
            self._say(f"[{reason.message}]")

    async def lists(self, client: Client) -> ServerLists:
        """All that a server offers. Raises MCPError where its tools cannot be listed."""
        caps = client.server_capabilities
        tools = await self._all(client.list_tools, "tools", self._tool_of) if caps.tools else []
        prompts = resources = templates = list[Any]()
        if caps.prompts:
            prompts = await self._beside(client.list_prompts, "prompts", converted.prompt_of)
        if caps.resources:
            of = converted.resource_of
            resources = await self._beside(client.list_resources, "resources", of)
            templates = await self._beside(client.list_resource_templates, "resource_templates", of)
        info = client.server_info
        return ServerLists(
            tuple({one.name: one for one in tools}.values()),
            tuple(prompts),
            (*resources, *templates),
            ((info.title or info.name) if info is not None else "")[:200],
            (info.version if info is not None else "")[:100],
            self._left_out,
            tuple(self._reasons),
        )

    async def _beside(
        self, fetch: Callable[..., Awaitable[Any]], name: str, convert: Callable[[Any], D | None]
    ) -> list[D]:
        """A list without which the server is still of use."""
        try:
            return await self._all(fetch, name, convert)
        except (MCPError, ValidationError) as error:
            if isinstance(error, MCPError) and error.error.code == types.CONNECTION_CLOSED:
                raise
            self.tell(told("tool-list-unreadable", list=name))
            return []

    async def _all(
        self, fetch: Callable[..., Awaitable[Any]], name: str, convert: Callable[[Any], D | None]
    ) -> list[D]:
        """Every page of a list, converted as it comes."""
        found: list[D] = []
        cursor: str | None = None
        over = 0
        for _page in range(_MOST_PAGES):
            try:
                page = await fetch(cursor=cursor)
            except MCPError as error:
                if error.error.code == types.METHOD_NOT_FOUND:
                    break
                raise
            for entry in getattr(page, name):
                if len(found) >= _MOST_ENTRIES or self._characters > _MOST_CHARACTERS:
                    over += 1
                elif (one := convert(entry)) is not None:
                    self._characters += sum(map(len, _texts(one)))
                    found.append(one)
            before, cursor = cursor, page.next_cursor
            if not cursor or cursor == before or over:
                break
        if over:
            self._left_out += over - 1
            self.tell(told("tool-list-too-long", list=name, count=over))
        return found

    def _tool_of(self, tool: types.Tool) -> ToolDefinition | None:
        found = converted.definition_of(tool)
        if found is None:
            field = "inputSchema" if 0 < len(tool.name) <= converted.LONGEST_NAME else "name"
            name = tool.name[: converted.LONGEST_NAME]
            self.tell(told("tool-entry-odd", name=name, list="tools", field=field))
        return found


def _texts(value: Any) -> Iterable[str]:
    """All texts of a definition."""
    for name in value.__struct_fields__:
        one = getattr(value, name)
        if isinstance(one, str):
            yield one
        elif isinstance(one, tuple):
            for inner in one:
                yield from _texts(inner)
