"""Drafts for a server's model, as values: the text that is checked there, and who writes it."""

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
    """A model of this computer that goes on with a reply. Raises EnvironmentProblem."""

    @property
    def key(self) -> str: ...

    @property
    def prompt(self) -> str | None:
        """The chat as text by its template, up to where the reply begins; None without one."""
        ...

    async def write(self, reply: str, tokens: int) -> Draft:
        """At most so many tokens after `reply`; a cancel ends it."""
        ...


# text, where it is from, and how many tokens: whether the reply has ended with it
Take = Callable[[str, Origin, int], FinishReason | None]


class RemoteDrafting(Protocol):
    """Drafts of one reply, as its turn sees them (`drafting.rounds`)."""

    # nothing more is drafted
    off: bool
    # as the server counts them, where it has said so
    prompt_tokens: int | None

    @property
    def goes_on_as_text(self) -> bool:
        """True if the stream can go on from text of the reply."""
        ...

    @property
    def may_want(self) -> bool:
        """True if `wants` has to be asked at all."""
        ...

    def wants(self, reply: str) -> bool:
        """True if the stream is to be left now."""
        ...

    def streamed(self, characters: int) -> None:
        """An event with so many characters came."""
        ...

    async def rounds(self, reply: str, take: Take) -> FinishReason | None:
        """Draft and have it checked until the stream is faster; whether the reply has ended."""
        ...

    async def open_text(self, reply: str, parameters: dict[str, Any]) -> Any: ...

    def final_stats(self, generated: int) -> SpeculationStats | None:
        """The figures for a reply of so many tokens; None where nothing was drafted."""
        ...


def drafts_possible(request: RemoteRequest) -> bool:
    """True if the reply can be drafted at all: only greedy text without reasoning can be checked,
    and only text that nothing else restricts."""
    sampling = request.sampling
    return (
        request.speculation.enabled
        and sampling.temperature == 0
        and not sampling.schema
        and not sampling.presence_penalty
        and sampling.repeat_penalty in (0, 1)
        and not request.reply_so_far.reasoning
    )
