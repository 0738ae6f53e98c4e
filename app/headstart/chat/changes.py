"""What changed, with the ids of what did: what shows it reads that, and nothing else, again.

Widgets never poke each other: they listen to the broadcast.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from headstart.core.downloads import Download
from headstart.core.events import (
    DraftActivity,
    GenerationEvent,
    PromptSize,
    ResidentModel,
    SpeedCurve,
)
from headstart.core.model_ref import ModelRef
from headstart.core.requests import Pair
from headstart.core.settings import KvType
from headstart.core.told import Told


class What(StrEnum):
    """What of a chat changed."""

    ADDED = "added"
    TITLE = "title"
    PINNED = "pinned"
    MODEL = "model"
    OPTIONS = "options"
    DELETED = "deleted"
    RESTORED = "restored"
    # nothing is left of it
    PURGED = "purged"
    FOLDER = "folder"
    TAGS = "tags"
    ARCHIVED = "archived"
    UNSEEN = "unseen"


@dataclass(frozen=True, slots=True)
class ChatChanged:
    """A chat's own row: not its messages."""

    chat_id: str
    what: What


@dataclass(frozen=True, slots=True)
class ChatsChanged:
    """Many chats at once: whoever shows the list asks for all of it."""


@dataclass(frozen=True, slots=True)
class FoldersChanged:
    """Folders are others than they were, or say something else."""


@dataclass(frozen=True, slots=True)
class BranchChanged:
    """The active messages of a chat: added, or another version shown."""

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
class SmallerContext:
    """A model does not fit into memory as it was asked for (`told`); with these it would."""

    model: ModelRef
    context: int
    kv_type: KvType
    told: Told


@dataclass(frozen=True, slots=True)
class ModelUnloaded:
    """There was not enough memory for a model beside the one that is loaded now."""

    name: str
    other: str


@dataclass(frozen=True, slots=True)
class ModelsLoaded:
    """Everything that is loaded now."""

    models: tuple[ResidentModel, ...]


@dataclass(frozen=True, slots=True)
class DraftState:
    """Which draft is really loaded; an empty name when one could not be."""

    name: str
    loaded: bool


@dataclass(frozen=True, slots=True)
class DraftProgress:
    """What the idle engine is learning of the loaded draft, or has learned."""

    pair: Pair
    activity: DraftActivity


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Speeds by depth, from a reply or from “Calibrate”; `problem` when that failed."""

    pair: Pair
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
class NextPromptSize:
    """How large a chat's next prompt is, as far as it is written."""

    chat_id: str
    size: PromptSize


@dataclass(frozen=True, slots=True)
class PrefixesChanged:
    """What is kept of what models have read was cleared."""


@dataclass(frozen=True, slots=True)
class IndexChanged:
    """Words are found that were not in the index when somebody looked for some."""


@dataclass(frozen=True, slots=True)
class ModelsChanged:
    """Models came, went, or are called otherwise."""


@dataclass(frozen=True, slots=True)
class DownloadsChanged:
    """How far all downloads are."""

    downloads: tuple[Download, ...]


@dataclass(frozen=True, slots=True)
class DownloadEnded:
    """A download is done, or stopped until the user says otherwise."""

    download: Download


@dataclass(frozen=True, slots=True)
class ReplyEnded:
    """The reply is stored; nothing writes in this chat any more."""

    chat_id: str
    message_id: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something of the environment's that no caller is waiting to hear."""

    told: Told


Change = (
    ChatChanged
    | IndexChanged
    | ChatsChanged
    | FoldersChanged
    | BranchChanged
    | ReplyEvent
    | ModelState
    | SmallerContext
    | ModelUnloaded
    | ModelsLoaded
    | DraftState
    | DraftProgress
    | Calibrated
    | AheadState
    | NextPromptSize
    | PrefixesChanged
    | ModelsChanged
    | DownloadsChanged
    | DownloadEnded
    | ReplyEnded
    | Trouble
)
