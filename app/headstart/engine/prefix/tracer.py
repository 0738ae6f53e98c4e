"""Remembers the composition of each chat's last prompt, to explain later recomputes.

Engine thread. Digests go to the database; tokens stay in memory, as does everything of a private
chat.
"""

from __future__ import annotations

import functools
import logging
from collections import OrderedDict
from collections.abc import Sequence
from typing import TypeVar

import msgspec
from msgspec import Struct

from headstart.core.chats.values import Role
from headstart.core.prefixes import Traces
from headstart.core.requests import GenerationRequest, PromptMessage
from headstart.core.told import Told, told
from headstart.engine.prefix.explain import Now, Trace, explain, traced
from headstart.engine.prefix.reply_tokens import ReplyTokens
from headstart.engine.prompt import PromptEncoder, common_prefix

log = logging.getLogger(__name__)
_T = TypeVar("_T")

# chats whose last tokens are remembered
_CHATS = 64


class LastPrompt(Struct, frozen=True):
    """The tokens of a chat's last prompt and reply, for models of one namespace; `audience`: who
    may learn of them."""

    namespace: str
    tokens: list[int]
    audience: str


class TraceMemory:
    """Traces and tokens of chats' last prompts, for all models."""

    def __init__(self, traces: Traces | None) -> None:
        self.traces = traces
        self.known: OrderedDict[str, Trace] = OrderedDict()
        self.tokens: OrderedDict[str, LastPrompt] = OrderedDict()

    def forget(self, chat_id: str) -> None:
        self.known.pop(chat_id, None)
        self.tokens.pop(chat_id, None)


class TracedModel(Struct, frozen=True):
    """Facts of a loaded model that decide which tokens are recomputed."""

    namespace: bytes
    name: str
    cannot_cut: bool
    reads_clock: bool


class Tracer:
    """The tracer of one loaded model; all share one `TraceMemory`."""

    def __init__(self, memory: TraceMemory, model: TracedModel, encoder: PromptEncoder) -> None:
        self._memory = memory
        self._facts = model
        self._namespace = model.namespace.hex()
        self._encoder = encoder
        self.reply_tokens = ReplyTokens(memory.traces, model.namespace, encoder)

    def explain(
        self,
        request: GenerationRequest,
        messages: Sequence[PromptMessage],
        rendered: str,
        prompt: Sequence[int],
        reused: int,
    ) -> tuple[int, Told | None]:
        """Number of recomputed tokens of the prompt, and the reason; call before `remember`."""
        before = self._before(request.chat_id)
        if before is None and request.served:
            shared = max((common_prefix(one, prompt) for one in self.others(request)), default=0)
            return 0, told("new-session-shares", tokens=shared) if shared else None
        if before is None or request.chat_id is None:
            return 0, None
        last = self._memory.tokens.get(request.chat_id)
        known = last is not None and last.namespace == self._namespace
        now = Now(
            trace=Trace(self._namespace, self._facts.name, traced(messages), len(prompt)),
            texts=tuple(message.text for message in messages),
            reused=reused,
            end_of=self._ends(messages, rendered),
            same_tokens=common_prefix(last.tokens, prompt) if last and known else None,
            kept_on_disk=request.owner is not None,
            cannot_cut=self._facts.cannot_cut,
            reads_clock=self._facts.reads_clock,
            dropped=len(messages) < len(request.messages),
        )
        return explain(before, now)

    def kept_from(self, chat_id: str) -> str | None:
        """The key of the oldest user message in the chat's last prompt for this model."""
        before = self._before(chat_id)
        if before is None or before.namespace != self._namespace:
            return None
        users = (item.key for item in before.messages if item.role == Role.USER.value)
        return next(users, None)

    def others(self, request: GenerationRequest) -> list[Sequence[int]]:
        """The last tokens of other chats with this model that the request may know of, the latest
        first."""
        sees = request.audience.sees
        return [
            last.tokens
            for key, last in reversed(self._memory.tokens.items())
            if key != request.chat_id
            and last.namespace == self._namespace
            and last.audience in sees
        ]

    def remember(
        self,
        request: GenerationRequest,
        messages: Sequence[PromptMessage],
        reply: str,
        tokens: Sequence[int],
    ) -> None:
        """Record the chat's prompt and reply. `reply` is the reply's text alone."""
        chat_id = request.chat_id
        if chat_id is None:
            return
        said = PromptMessage(Role.ASSISTANT, reply, request.reply_key)
        trace = Trace(self._namespace, self._facts.name, traced([*messages, said]), len(tokens))
        _put(self._memory.known, chat_id, trace)
        last = LastPrompt(self._namespace, list(tokens), request.audience.name)
        _put(self._memory.tokens, chat_id, last)
        if self._memory.traces is not None and request.owner is not None:
            self._memory.traces.save(request.owner, msgspec.json.encode(trace))

    def _before(self, chat_id: str | None) -> Trace | None:
        if chat_id is None:
            return None
        known = self._memory.known.get(chat_id)
        if known is None and self._memory.traces is not None:
            data = self._memory.traces.load(chat_id)
            try:
                known = None if data is None else msgspec.json.decode(data, type=Trace)
            except msgspec.MsgspecError as error:
                log.warning("a prompt's trace cannot be read: %s", error)
        return known

    def _ends(self, messages: Sequence[PromptMessage], rendered: str) -> _Ends:
        return _Ends(self._encoder, messages, rendered)


class _Ends:
    """End of each message in a rendered prompt, in tokens; computed on demand."""

    def __init__(
        self, encoder: PromptEncoder, messages: Sequence[PromptMessage], rendered: str
    ) -> None:
        self._encoder = encoder
        self._rendered = rendered
        self._messages = messages
        self._counted: dict[int, int] = {}

    @functools.cached_property
    def _positions(self) -> list[int]:
        """The end of each message in characters; a text changed by the template gets the previous
        end."""
        at, positions = 0, []
        for message in self._messages:
            text = self._encoder.guard(message.text).strip()
            found = self._rendered.find(text, at)
            if found >= 0:
                at = found + len(text)
            positions.append(at)
        return positions

    def __call__(self, index: int) -> int:
        if index < 0:
            return 0
        known = self._counted.get(index)
        if known is None:
            text = self._rendered[: self._positions[index]]
            known = self._counted[index] = len(self._encoder.encode(text))
        return known


def _put(known: OrderedDict[str, _T], key: str, value: _T) -> None:
    known[key] = value
    known.move_to_end(key)
    while len(known) > _CHATS:
        known.popitem(last=False)
