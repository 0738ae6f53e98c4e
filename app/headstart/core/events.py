"""What goes into a generator and what comes out of it.

A request goes down once; events come up in order, and the last one is `Finished` or `Failed`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from headstart.core.servers import ServerModel
from headstart.core.settings import EngineSettings, Sampling, Speculation, WhenFull
from headstart.core.values import (
    ModelRef,
    Origin,
    PartKind,
    Role,
    SpeculationFigures,
    TurnFigures,
)

# what answers: weights on this computer, or a server
AnyModel = ModelRef | ServerModel


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message as the chat template gets it; `key` names it for context rules."""

    role: Role
    text: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """One turn. `reply_so_far` is text of the same reply to go on from, word for word."""

    model: AnyModel
    messages: tuple[PromptMessage, ...]
    sampling: Sampling
    engine: EngineSettings = field(default_factory=EngineSettings)
    when_full: WhenFull = "stop"
    # None: no chat's, and nothing of it is kept on disk
    chat_id: str | None = None
    reply_so_far: str = ""
    # a draft model is loaded only when `draft` is given and speculation is on
    speculation: Speculation = field(default_factory=Speculation)
    draft: ModelRef | None = None
    # the key that the reply will have among later messages
    reply_key: str = ""
    # whether what was read may be kept on disk, or in memory only
    keep_on_disk: bool = True


@dataclass(frozen=True, slots=True)
class AheadRequest:
    """Read what is sure to come: the history, and the settled part of what is being typed.

    Nothing happens when the model is not the one that is loaded.
    """

    model: ModelRef
    messages: tuple[PromptMessage, ...]
    engine: EngineSettings
    chat_id: str
    typed: str = ""
    draft: ModelRef | None = None
    when_full: WhenFull = "stop"
    keep_on_disk: bool = True


@dataclass(frozen=True, slots=True)
class ReadAhead:
    """`tokens` of the chat are in place, `typed` of them of the message being typed."""

    tokens: int
    typed: int


@dataclass(frozen=True, slots=True)
class Loading:
    """The model (or its draft) is being opened; `fraction` from 0 to 1."""

    model: ModelRef
    fraction: float
    draft: bool = False


@dataclass(frozen=True, slots=True)
class Loaded:
    model: ModelRef
    context_length: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Reading:
    """`done` of `total` prompt tokens are in the KV state; `reused` were there before."""

    done: int
    total: int
    reused: int


@dataclass(frozen=True, slots=True)
class TextPiece:
    kind: PartKind
    text: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class TextAdded:
    pieces: tuple[TextPiece, ...]
    tokens: int  # generated so far in this turn
    seconds: float  # since the first of them


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know that is no error; `kind` lets a window merge repeats."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class ContextUse:
    used: int
    size: int


class DraftStage(StrEnum):
    """What a chosen draft model is doing, and where it stands."""

    CALIBRATING = "calibrating"  # its costs are being measured, while the engine is idle
    LEARNING = "learning"  # too little is known of it yet
    READY = "ready"  # it will draft in the next reply
    DRAFTING = "drafting"
    LOOKUP = "lookup"  # repeated text is drafted from, without the model
    NOT_PAYING = "not paying"  # it is right too rarely for what it costs here
    WAITING = "waiting"  # what it would have to read first may not be spent yet
    OFF = "off"


@dataclass(frozen=True, slots=True)
class DraftActivity:
    """`depth` tokens are drafted a round; `acceptance` is how often the draft is right here, and
    `needed` how often it would have to be; `done` of `total` calibration steps."""

    stage: DraftStage
    depth: int = 0
    acceptance: float = 0.0
    needed: float = 0.0
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Guessing:
    """How guessing ahead goes, a few times a second. `depth` is that of the last round."""

    depth: int
    source: Origin
    tokens: int
    figures: SpeculationFigures
    seconds: float  # spent on the tokens so far
    activity: DraftActivity | None = None

    @property
    def against_plain(self) -> float | None:
        return self.figures.against_plain(self.seconds)


@dataclass(frozen=True, slots=True)
class SpeedCurve:
    """Tokens per second by draft depth as this computer does it; `points` may be partial.

    Depth 0 is plain decoding. `best` is the depth with the highest speed, `done` and `total`
    count the steps of a measurement.
    """

    points: tuple[tuple[int, float], ...]
    best: int
    done: int = 1
    total: int = 1


@dataclass(frozen=True, slots=True)
class Finished:
    figures: TurnFigures


@dataclass(frozen=True, slots=True)
class Failed:
    """The turn ended with an error. `bug` is true when it is ours, not the environment's."""

    message: str
    remedy: str
    bug: bool = False


GenerationEvent = (
    Loading
    | Loaded
    | Reading
    | TextAdded
    | Notice
    | ContextUse
    | Guessing
    | DraftActivity
    | ReadAhead
    | SpeedCurve
    | Finished
    | Failed
)
Emit = Callable[[GenerationEvent], None]


class CancelToken:
    """Set from any thread; whoever blocks in native code hangs its own abort on it."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._hook: Callable[[], None] | None = None

    @property
    def cancelled(self) -> bool:
        return self._event.is_set()

    def cancel(self) -> None:
        with self._lock:
            self._event.set()
            if self._hook is not None:
                self._hook()

    def set_hook(self, hook: Callable[[], None] | None) -> None:
        """Call `hook` on cancel (at once when already cancelled); None takes it away."""
        with self._lock:
            self._hook = hook
            if hook is not None and self._event.is_set():
                hook()
