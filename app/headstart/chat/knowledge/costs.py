"""Cost of reading a text with a chat's model: seconds and bytes. On the event loop's thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec import Struct

from headstart.chat.branches import Branches
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ReplyEnded
from headstart.chat.models import Models
from headstart.chat.preferences import Preferences
from headstart.core.chats.values import Chat
from headstart.core.errors import ModelProblem
from headstart.core.models.fit import need
from headstart.core.models.ref import AnyModel, ModelRef
from headstart.hub.shapes import read_shape

# tokens that were processed in one piece, from which on their seconds tell a speed
_TELLING = 64


class PinCost(Struct, frozen=True):
    """Cost of reading a document once. `seconds`: 0 if the model's speed is not known yet; `size`:
    bytes of its state; `context`: tokens of the model's context, 0 if unknown."""

    seconds: float = 0.0
    size: int = 0
    context: int = 0


class PromptCosts:
    """`contexts`: tokens of context of each loaded model, by key."""

    def __init__(
        self,
        models: Models,
        branches: Branches,
        parts: tuple[Preferences, Broadcast],
        contexts: Callable[[], dict[str, int]],
    ) -> None:
        self._models = models
        self._branches = branches
        self._preferences, broadcast = parts
        self._contexts = contexts
        # seconds for a token of a prompt, by the model's key
        self._seconds: dict[str, float] = {}
        broadcast.on(ReplyEnded, self._on_ended)
        self._learning: set[asyncio.Task[None]] = set()

    async def model(self, chat: Chat) -> AnyModel | None:
        """The chat's model; None without one."""
        try:
            return await self._models.of_chat(chat)
        except ModelProblem:
            return None

    async def cost(self, chat: Chat, tokens: int) -> PinCost:
        """The cost of about `tokens` of a chat's model; nothing is known of a server's."""
        model = await self.model(chat)
        if not isinstance(model, ModelRef):
            return PinCost()
        try:
            shape = await asyncio.to_thread(read_shape, model)
        except (ModelProblem, OSError):
            return PinCost(context=self._contexts().get(model.key, 0))
        size = need(shape, tokens, self._preferences.current.engine).kv
        seconds = tokens * self._seconds.get(model.key, 0.0)
        return PinCost(seconds, size, self._contexts().get(model.key, 0))

    def _on_ended(self, change: ReplyEnded) -> None:
        task = asyncio.get_running_loop().create_task(self._learn(change))
        self._learning.add(task)
        task.add_done_callback(self._learning.discard)

    async def _learn(self, change: ReplyEnded) -> None:
        """Take the speed of a prompt from a reply's stats."""
        message = await self._branches.message(change.chat_id, change.message_id)
        stats = None if message is None else message.stats
        if message is None or stats is None or message.model_key is None:
            return
        new = stats.prompt_tokens - stats.reused_tokens
        if new >= _TELLING and stats.prefill_seconds > 0:
            self._seconds[message.model_key] = stats.prefill_seconds / new
