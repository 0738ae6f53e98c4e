"""Drafts for a server's model: the draft text, and the protocols of its writers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from msgspec import Struct

from headstart.core.chats.parts import Origin
from headstart.core.chats.values import FinishReason, SpeculationStats
from headstart.core.requests import RemoteRequest


class Draft(Struct, frozen=True):
    text: str
    tokens: int
    origin: Origin = Origin.DRAFT


class RemoteDraft(Protocol):
    """A local model that continues a reply. Raises EnvironmentProblem."""

    @property
    def key(self) -> str: ...

    @property
    def prompt(self) -> str | None:
        """The chat rendered by the draft's template, up to the start of the reply; None without
        one."""
        ...

    async def write(self, reply: str, tokens: int) -> Draft:
        """Write at most `tokens` tokens after `reply`; a cancel ends it."""
        ...


# takes a text, its origin and its number of tokens; returns the finish reason if it ended the reply
Take = Callable[[str, Origin, int], FinishReason | None]


class RemoteDrafting(Protocol):
    """The turn's view of the drafts of one reply (`drafting.rounds`)."""

    # true if drafting has ended
    off: bool
    # the server's own count, if reported
    prompt_tokens: int | None

    @property
    def goes_on_as_text(self) -> bool:
        """True if the stream can continue a reply given as text."""
        ...

    @property
    def may_want(self) -> bool:
        """True if `wants` needs to be called at all."""
        ...

    def wants(self, reply: str) -> bool:
        """True if the turn should leave the stream now."""
        ...

    def streamed(self, characters: int) -> None:
        """Note an event with `characters` characters of text."""
        ...

    async def rounds(self, reply: str, take: Take) -> FinishReason | None:
        """Draft and have the drafts checked until the stream is faster; returns the finish reason
        if the reply ended."""
        ...

    async def open_text(self, reply: str, parameters: dict[str, Any]) -> Any: ...

    def final_stats(self, generated: int) -> SpeculationStats | None:
        """The stats of a reply of `generated` tokens; None if nothing was drafted."""
        ...


def drafts_possible(request: RemoteRequest) -> bool:
    """True if the reply can be drafted at all: only greedy, unrestricted text without reasoning can
    be checked."""
    sampling = request.sampling
    return (
        request.speculation.enabled
        and sampling.temperature == 0
        and not sampling.schema
        and not sampling.presence_penalty
        and sampling.repeat_penalty in (0, 1)
        and not request.reply_so_far.reasoning
        and not request.tools.specs
    )
