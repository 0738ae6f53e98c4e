"""What changed, as one broadcast; whoever shows it reads the rest again.

Widgets never poke each other: they listen to the service and to nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

from headstart.core.events import DraftActivity, GenerationEvent, SpeedCurve


@dataclass(frozen=True, slots=True)
class ChatsChanged:
    """The list of chats, or a title, pin or date in it."""


@dataclass(frozen=True, slots=True)
class BranchChanged:
    """The active messages of a chat: added, ended, or another version shown."""

    chat_id: str


@dataclass(frozen=True, slots=True)
class ReplyEvent:
    """An event of the reply that is being written."""

    chat_id: str
    message_id: str
    event: GenerationEvent


@dataclass(frozen=True, slots=True)
class ModelState:
    """The model is loading (fraction), loaded (1.0) or failed (text)."""

    name: str
    fraction: float
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class DraftState:
    """Which draft is really loaded; an empty name when one could not be."""

    name: str
    loaded: bool


@dataclass(frozen=True, slots=True)
class DraftProgress:
    """What the idle engine is learning of the loaded draft, or has learned."""

    activity: DraftActivity


@dataclass(frozen=True, slots=True)
class Measured:
    """Speeds by depth, from a reply or from "Measure"; `problem` when that failed."""

    curve: SpeedCurve | None
    running: bool = False
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class AheadState:
    """So much of a chat's next prompt has been read, `typed` tokens of it while it is typed."""

    chat_id: str
    tokens: int
    typed: int


@dataclass(frozen=True, slots=True)
class PrefixesChanged:
    """What is kept of what models have read was cleared."""


@dataclass(frozen=True, slots=True)
class ReplyEnded:
    """The reply is stored; nothing writes in this chat any more."""

    chat_id: str
    message_id: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something of the environment's that no caller is waiting to hear."""

    message: str
    remedy: str


Change = (
    ChatsChanged
    | BranchChanged
    | ReplyEvent
    | ModelState
    | DraftState
    | DraftProgress
    | Measured
    | AheadState
    | PrefixesChanged
    | ReplyEnded
    | Trouble
)
