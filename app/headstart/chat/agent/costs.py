"""Tokens that tools add to every prompt of a chat. On the event loop's thread."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from headstart.chat.answering.local import LocalAnswerer
from headstart.chat.branches import Branches
from headstart.chat.models import Models
from headstart.chat.tool_servers.making import ToolServers
from headstart.core.chats.values import Chat
from headstart.core.errors import EnvironmentProblem
from headstart.core.models.ref import AnyModel, ModelRef
from headstart.core.own_tools import OWN_TOOLS, own_specs
from headstart.core.tool_servers.offer import Offers, chosen_servers, chosen_tools
from headstart.core.tools import Tools, ToolSpec

# characters of a token where nobody can count them
_CHARACTERS = 4
# characters around the texts of a tool in a prompt
_FRAME = 50


class ServerCost(Struct, frozen=True):
    """A tool server in a chat: its tools that are on, and their tokens. `known`: it has given a
    list of its tools; `chosen`: the chat has some of them switched on; `all_tools`: all."""

    server: str
    name: str
    tools: int = 0
    tokens: int = 0
    known: bool = False
    chosen: bool = False
    all_tools: bool = True


class ToolCosts(Struct, frozen=True):
    """Tokens of each of the program's tools, by its name, and of those that are `on` together;
    `counted` by the model that answers, else estimated from their length. `servers`: all tool
    servers, in the user's order."""

    each: dict[str, int]
    on: tuple[str, ...]
    together: int
    counted: bool
    servers: tuple[ServerCost, ...] = ()


class ToolCosting:
    def __init__(
        self, branches: Branches, models: Models, local: LocalAnswerer, servers: ToolServers
    ) -> None:
        self._branches = branches
        self._models = models
        self._local = local
        self._servers = servers
        # the engine is asked once for a model and its tools
        self._offers = Offers()
        self._known: dict[tuple[str, tuple[ToolSpec, ...]], Sequence[int]] = {}

    async def of(self, chat_id: str, counting: bool) -> ToolCosts | None:
        """The costs in a chat; None where it has gone. Without `counting` by a model that is busy
        or not loaded, unknown ones are estimated."""
        chat = await self._branches.chat(chat_id)
        if chat is None:
            return None
        model = await self._model_of(chat)
        key = "" if model is None else model.key
        offers = await self._servers.lending.offers(chat, key)
        groups: dict[str, list[ToolSpec]] = {}
        for offer in offers:
            groups.setdefault(offer.server, []).append(offer.spec)
        own, on = own_specs(chat.options.tools), tuple(one.spec for one in offers)
        on = (*own, *on)
        sets = [*([tool] for tool in OWN_TOOLS), *groups.values(), on]
        found = [estimate(one) for one in sets]
        counted = None
        if isinstance(model, ModelRef):
            counted = self._known.get((model.key, on))
            if counted is None and counting:
                counted = await self._local.tool_tokens(model, [Tools(tuple(one)) for one in sets])
                if counted is not None:
                    self._known[model.key, on] = counted
        found = found if counted is None else list(counted)
        each = {tool.name: n for tool, n in zip(OWN_TOOLS, found, strict=False)}
        tokens = dict(zip(groups, found[len(OWN_TOOLS) : -1], strict=True))
        servers = await self._of_servers(chat, key, tokens)
        names = tuple(tool.name for tool in on)
        return ToolCosts(each, names, found[-1] if on else 0, counted is not None, servers)

    async def _of_servers(
        self, chat: Chat, model_key: str, tokens: dict[str, int]
    ) -> tuple[ServerCost, ...]:
        """Every server; those that the chat has not chosen with the tokens they would take."""
        entries = self._servers.entries
        await self._servers.lists.load(one.id for one in entries.all)
        choice, lists = self._servers.lending.choice(chat, model_key), self._servers.lists.known()
        chosen, found = chosen_servers(choice), []
        for server in entries.all:
            on = server.id in chosen
            known, mine = lists.get(server.id), choice if on else (server.id,)
            count = cost = 0
            if known is not None:
                count = len(chosen_tools(server, known.tools, mine))
                cost = tokens.get(server.id) or estimate(
                    [one.spec for one in self._offers.of(server, known, mine)]
                )
            found.append(
                ServerCost(
                    server.id, server.name, count, cost, known is not None, on,
                    not on or server.id in choice,
                )
            )  # fmt: skip
        return tuple(found)

    async def _model_of(self, chat: Chat) -> AnyModel | None:
        try:
            return await self._models.of_chat(chat)
        except EnvironmentProblem:
            return None


def estimate(tools: Sequence[ToolSpec]) -> int:
    """Tokens of tools, by the length of their text."""
    sizes = (len(one.name) + len(one.description) + len(one.schema) + _FRAME for one in tools)
    return sum(sizes) // _CHARACTERS
