"""Lines of the list of requests: figures, no texts. Pure."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from headstart.core.told import Told


class LineState(StrEnum):
    WAITING = "waiting"
    LOADING = "loading"
    PROCESSING = "processing"
    WRITING = "writing"
    # the window's reply comes first
    PAUSED = "paused"
    DONE = "done"
    # by the user
    STOPPED = "stopped"
    # the program hung up
    GONE = "gone"
    FAILED = "failed"


UNDER_WAY = frozenset(
    (
        LineState.WAITING,
        LineState.LOADING,
        LineState.PROCESSING,
        LineState.WRITING,
        LineState.PAUSED,
    )
)


class ServedLine(Struct, frozen=True):
    """One request. `at` in milliseconds since 1970; `done` of `prompt` tokens are processed, of
    which `reused` were before; `verified` and `accepted` count draft tokens. `why`: a reason for
    which tokens were processed again, or the request failed."""

    number: int
    at: int
    program: str
    model: str
    state: LineState = LineState.WAITING
    prompt: int = 0
    done: int = 0
    reused: int = 0
    from_memory: int = 0
    from_disk: int = 0
    recomputed: int = 0
    written: int = 0
    prefill_seconds: float = 0.0
    first_seconds: float | None = None
    speed: float | None = None
    verified: int = 0
    accepted: int = 0
    why: Told | None = None

    @property
    def processed(self) -> int:
        return max(0, self.prompt - self.reused)

    @property
    def under_way(self) -> bool:
        return self.state in UNDER_WAY


class Totals(Struct, frozen=True):
    """Sums since the program began. `seconds_saved`: what the reused tokens would have taken at
    the measured speed."""

    requests: int = 0
    prompt: int = 0
    reused: int = 0
    seconds_saved: float = 0.0
