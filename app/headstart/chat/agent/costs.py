"""Tokens that the program's own tools add to every prompt of a chat. On the event loop's thread."""

from __future__ import annotations

import json
from collections.abc import Sequence

from msgspec import Struct

from headstart.chat.answering.local import LocalAnswerer
from headstart.chat.branches import Branches
from headstart.chat.models import Models
from headstart.core.chats.values import Chat
from headstart.core.errors import EnvironmentProblem
from headstart.core.models.ref import AnyModel, ModelRef
from headstart.core.own_tools import OWN_TOOLS, own_specs
from headstart.core.tools import Tools, ToolSpec

# characters of a token where nobody can count them
_CHARACTERS = 4


class ToolCosts(Struct, frozen=True):
    """Tokens of each tool alone, by its name, and of those that are `on` together; `counted` by the
    model that answers, else estimated from their length."""

    each: dict[str, int]
    on: tuple[str, ...]
    together: int
    counted: bool


class ToolCosting:
    def __init__(self, branches: Branches, models: Models, local: LocalAnswerer) -> None:
        self._branches = branches
        self._models = models
        self._local = local
        # the engine is asked once for a model and its tools
        self._known: dict[tuple[str, tuple[ToolSpec, ...]], Sequence[int]] = {}

    async def of(self, chat_id: str, counting: bool) -> ToolCosts | None:
        """The costs in a chat; None where it has gone. Without `counting` by a model that is busy
        or not loaded, unknown ones are estimated."""
        chat = await self._branches.chat(chat_id)
        if chat is None:
            return None
        on = own_specs(chat.options.tools)
        names = tuple(tool.name for tool in on)
        model = await self._model_of(chat)
        if isinstance(model, ModelRef):
            counted = self._known.get((model.key, on))
            if counted is None and counting:
                counted = await self._counted(model, on)
            if counted is not None:
                each = {tool.name: n for tool, n in zip(OWN_TOOLS, counted, strict=False)}
                return ToolCosts(each, names, counted[-1], True)
        each = {tool.name: _estimate([tool]) for tool in OWN_TOOLS}
        return ToolCosts(each, names, _estimate(on), False)

    async def _counted(self, model: ModelRef, on: tuple[ToolSpec, ...]) -> Sequence[int] | None:
        """The tokens of each tool, and of those that are on; None before the model is loaded."""
        sets = [*((tool,) for tool in OWN_TOOLS), on]
        counted = await self._local.tool_tokens(model, [Tools(one) for one in sets])
        if counted is not None:
            self._known[model.key, on] = counted
        return counted

    async def _model_of(self, chat: Chat) -> AnyModel | None:
        try:
            return await self._models.of_chat(chat)
        except EnvironmentProblem:
            return None


def _estimate(tools: Sequence[ToolSpec]) -> int:
    shown = [
        json.dumps(
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        )
        for tool in tools
    ]
    return sum(len(one) for one in shown) // _CHARACTERS
