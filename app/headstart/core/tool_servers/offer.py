"""The tools of servers that a chat's model is offered, under names that models can write. Pure.

A chat chooses servers by id, or single tools as "id/tool". A server may be offered briefly: three
tools that search, describe and call, for servers whose list would fill the context.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from headstart.core.schema_bounds import excess_in
from headstart.core.tool_servers.entry import ToolServer
from headstart.core.tool_servers.lists import ServerLists, ToolDefinition
from headstart.core.tools import LONGEST_NAME, ToolSpec

_SEPARATOR = "__"
# marks of direction: a name must not turn the sentence around it
_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# tools in the result of a search
_MOST_FOUND = 12


class OfferKind(StrEnum):
    TOOL = "tool"
    SEARCH = "search"
    DESCRIBE = "describe"
    CALL = "call"


class OfferedTool(Struct, frozen=True):
    """A tool as a model sees it, and the server's own; `tool` is "" for the tools of a brief
    offer."""

    spec: ToolSpec
    server: str
    tool: str = ""
    kind: OfferKind = OfferKind.TOOL


Offer = tuple[OfferedTool, ...]


def name_of_tool(prefix: str, tool: str) -> str:
    """A name of at most 64 letters, digits, _ and -, which is all that servers and models take."""
    whole = f"{prefix}{_SEPARATOR}{tool}"
    name = re.sub(r"[^A-Za-z0-9_-]", "_", whole)
    if name == whole and len(name) <= LONGEST_NAME:
        return name
    digest = hashlib.blake2b(tool.encode("utf-8", "replace"), digest_size=3).hexdigest()
    return f"{name[: LONGEST_NAME - len(digest) - 1]}_{digest}"


def plain_name(name: str) -> str:
    """A name without characters that change how the text around it is read."""
    return "".join(one for one in name if one.isprintable() and one not in _TURNING)


def split_name(name: str) -> tuple[str, str]:
    """The prefix of a server and the rest of a tool's name; the prefix is "" without one."""
    prefix, found, tool = name.partition(_SEPARATOR)
    return (prefix, tool) if found and prefix and tool else ("", name)


def chosen_servers(choice: Sequence[str]) -> list[str]:
    """The ids of the servers in a choice, each once."""
    return list(dict.fromkeys(one.partition("/")[0] for one in choice))


def chosen_tools(
    server: ToolServer, tools: Sequence[ToolDefinition], choice: Sequence[str]
) -> list[ToolDefinition]:
    """The tools of a server that a choice switches on, without those that are off everywhere, and
    those whose schema is too large."""
    on = [tool for tool in tools if tool.name not in server.off and excess_in(tool.schema) is None]
    if server.id in choice:
        return on
    names = {one.partition("/")[2] for one in choice if one.partition("/")[0] == server.id}
    return [tool for tool in on if tool.name in names]


def offer_of(
    server: ToolServer, lists: ServerLists, choice: Sequence[str]
) -> tuple[OfferedTool, ...]:
    """The tools of a server that a choice switches on, each name once."""
    tools = chosen_tools(server, lists.tools, choice)
    if server.brief and tools:
        return tuple(brief_offer(server))
    found: dict[str, OfferedTool] = {}
    for tool in tools:
        name = name_of_tool(server.prefix, tool.name)
        spec = ToolSpec(name, tool.description or tool.title, tool.schema)
        found.setdefault(name, OfferedTool(spec, server.id, tool.name))
    return tuple(found.values())


class Offers:
    """The last offer of each server: 2,000 tools are named once, not at each key that is typed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[ToolServer, ServerLists, tuple[str, ...], Offer]] = {}

    def of(self, server: ToolServer, lists: ServerLists, choice: Sequence[str]) -> Offer:
        """`offer_of`, remembered."""
        mine = tuple(one for one in choice if one.partition("/")[0] == server.id)
        known = self._known.get(server.id)
        if known is None or known[1] is not lists or (known[0], known[2]) != (server, mine):
            known = server, lists, mine, offer_of(server, lists, mine)
            self._known[server.id] = known
        return known[3]

    def all(
        self, servers: Sequence[ToolServer], lists: Mapping[str, ServerLists], choice: Sequence[str]
    ) -> Offer:
        """The tools of chosen servers, in the order of the choice. A server whose list is not known
        offers nothing yet."""
        by_id = {server.id: server for server in servers}
        found: dict[str, OfferedTool] = {}
        for server_id in chosen_servers(choice):
            server, known = by_id.get(server_id), lists.get(server_id)
            if server is not None and known is not None:
                for one in self.of(server, known, choice):
                    found.setdefault(one.spec.name, one)
        return tuple(found.values())


def brief_offer(server: ToolServer) -> list[OfferedTool]:
    """Three tools in place of all those of a server."""
    text = {"type": "string"}
    name = {"type": "string", "description": "Exactly as search_tools writes it"}

    def one(kind: OfferKind, tool: str, about: str, **properties: object) -> OfferedTool:
        schema = {"type": "object", "properties": properties, "required": list(properties)}
        spec = ToolSpec(name_of_tool(server.prefix, tool), about, json.dumps(schema))
        return OfferedTool(spec, server.id, "", kind)

    return [
        one(
            OfferKind.SEARCH,
            "search_tools",
            f"Find tools of the server {server.prefix} by words; all tools without words.",
            words=text,
        ),
        one(
            OfferKind.DESCRIBE,
            "describe_tool",
            f"A tool of the server {server.prefix}: its work and its arguments.",
            name=name,
        ),
        one(
            OfferKind.CALL,
            "call_tool",
            f"Call a tool of the server {server.prefix} with its arguments.",
            name=name,
            arguments={"type": "object"},
        ),
    ]


def search_tools(tools: Sequence[ToolDefinition], words: str) -> str:
    """The answer to a search among tools: those with most of the words first."""
    wanted = words.casefold().split()
    scored = []
    for number, tool in enumerate(tools):
        text = f"{tool.name} {tool.title} {tool.description}".casefold()
        hits = sum(word in text for word in wanted)
        if hits or not wanted:
            scored.append((-hits, number, tool))
    scored.sort(key=lambda it: it[:2])
    if not scored:
        return "No tool has one of these words."
    lines = []
    for _hits, _number, tool in scored[:_MOST_FOUND]:
        first = " ".join((tool.description or tool.title).split())
        lines.append(f"{tool.name}: {first[:160]}")
    if len(scored) > _MOST_FOUND:
        lines.append(f"{len(scored) - _MOST_FOUND} more tools; use more words.")
    return "\n".join(lines)


def describe_tool(tool: ToolDefinition) -> str:
    return f"{tool.name}: {tool.description or tool.title}\nArguments: {tool.schema}"
