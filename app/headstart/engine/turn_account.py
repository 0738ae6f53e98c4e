"""The account of one turn, for the stats under its reply; and a turn that has given way. Engine
thread."""

from __future__ import annotations

import time
from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from headstart.core.chats.values import FinishReason, PrefixStats, SpeculationStats, TurnStats
from headstart.core.told import Told
from headstart.engine.generator import GaveWay
from headstart.engine.prefill import Resident
from headstart.engine.prefix.restoring import Restored
from headstart.engine.reply_emitter import ReplyEmitter


class TurnAccount(Struct):
    """Tokens and seconds of a turn, also of its runs before it gave way."""

    prompt_tokens: int = 0
    reused: int = 0
    prefill_seconds: float = 0.0
    # tokens that were recomputed, and the reason
    recomputed: tuple[int, Told | None] = (0, None)
    came: Restored = field(default_factory=Restored)
    ahead: int = 0
    # of the runs before this one
    first_token_seconds: float | None = None
    reasoning_seconds: float | None = None
    generate_seconds: float = 0.0
    speculation: SpeculationStats | None = None

    def rendered(self, tokens: int) -> None:
        """Note the length of the prompt."""
        self.prompt_tokens = tokens

    def restored(self, reused: int, resident: Resident) -> None:
        """Note the tokens that need no processing, and their sources."""
        self.reused = reused
        self.take_sources(resident)

    def explained(self, recomputed: tuple[int, Told | None]) -> None:
        """Note the tokens that were recomputed, and why."""
        self.recomputed = recomputed

    def take_sources(self, resident: Resident) -> None:
        """Note the sources of the tokens reused since the last reply."""
        self.came, self.ahead = resident.restored, resident.ahead
        resident.restored, resident.ahead = Restored(), 0

    def stats(
        self,
        finish: FinishReason,
        reply: ReplyEmitter,
        speculation: SpeculationStats | None,
        seed: int | None,
    ) -> TurnStats:
        """The stats at the end of this run, with those of the runs before it."""
        first = self.first_token_seconds
        return TurnStats(
            finish=finish,
            prompt_tokens=self.prompt_tokens,
            reused_tokens=self.reused,
            prefill_seconds=self.prefill_seconds,
            first_token_seconds=reply.first_token_seconds if first is None else first,
            reasoning_seconds=_sum(self.reasoning_seconds, reply.reasoning_seconds),
            generated_tokens=reply.tokens,
            generate_seconds=self.generate_seconds + reply.seconds,
            seed=seed,
            speculation=added(self.speculation, speculation),
            prefix=self._prefix,
        )

    @property
    def _prefix(self) -> PrefixStats:
        came, reused = self.came, self.reused
        from_disk = min(came.from_disk, reused)
        return PrefixStats(
            from_memory=min(came.from_memory, reused - from_disk),
            from_disk=from_disk,
            ahead=min(self.ahead, reused - from_disk),
            recomputed=self.recomputed[0],
            reason=self.recomputed[1],
        )

    def paused(self, reply: ReplyEmitter, speculation: SpeculationStats | None) -> TurnAccount:
        """The account at the beginning of the next run."""
        first = self.first_token_seconds
        return replace(
            self,
            first_token_seconds=reply.first_token_seconds if first is None else first,
            reasoning_seconds=_sum(self.reasoning_seconds, reply.reasoning_seconds),
            generate_seconds=self.generate_seconds + reply.seconds,
            speculation=added(self.speculation, speculation),
        )


class PausedTurn(Struct, frozen=True):
    """A turn that gave way to a more urgent one: all that decides its next token.

    `prompt` is None where it was not rendered yet, else its text and tokens; `start` is as in
    `Fitting`. The same seed, positions and tokens give the same text, however often it pauses.
    """

    seed: int
    account: TurnAccount
    prompt: tuple[str, list[int]] | None = None
    start: tuple[str, str] = ("", "")
    generated: Sequence[int] = ()
    # when the request came, as `time.perf_counter`
    began: float = field(default_factory=time.perf_counter)


class TurnPaused(GaveWay):
    """Another run of the turn goes on from `paused`."""

    def __init__(self, paused: PausedTurn) -> None:
        super().__init__()
        self.paused = paused


def _sum(first: float | None, second: float | None) -> float | None:
    return second if first is None else first if second is None else first + second


def added(
    first: SpeculationStats | None, second: SpeculationStats | None
) -> SpeculationStats | None:
    """The sum of two runs."""
    if first is None or second is None:
        return first or second
    names = SpeculationStats.__struct_fields__
    return SpeculationStats(
        **{name: getattr(first, name) + getattr(second, name) for name in names}
    )
