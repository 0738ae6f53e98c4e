"""What goes into a generator and what comes out of it.

A request goes down once; events come up in order, and the last one is `Finished` or `Failed`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from headstart.core.settings import EngineSettings, Sampling, WhenFull
from headstart.core.values import ModelRef, Origin, PartKind, Role, TurnFigures


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message as the chat template gets it; `key` names it for context rules."""

    role: Role
    text: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """One turn. `reply_so_far` is text of the same reply to go on from, word for word."""

    model: ModelRef
    messages: tuple[PromptMessage, ...]
    sampling: Sampling
    engine: EngineSettings = field(default_factory=EngineSettings)
    when_full: WhenFull = "stop"
    chat_id: str = ""
    reply_so_far: str = ""


@dataclass(frozen=True, slots=True)
class Loading:
    """The model is being opened; `fraction` from 0 to 1."""

    model: ModelRef
    fraction: float


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


@dataclass(frozen=True, slots=True)
class Finished:
    figures: TurnFigures


@dataclass(frozen=True, slots=True)
class Failed:
    """The turn ended with an error. `bug` is true when it is ours, not the environment's."""

    message: str
    remedy: str
    bug: bool = False


GenerationEvent = Loading | Loaded | Reading | TextAdded | Notice | ContextUse | Finished | Failed
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
