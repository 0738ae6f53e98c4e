"""Changes, with the ids of their subjects: what shows it reads that, and nothing else, again.

Widgets never poke each other: they listen to the broadcast.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from headstart.core.events import (
    DraftActivity,
    GenerationEvent,
    PromptSize,
    ResidentModel,
    SpeedCurve,
)
from headstart.core.hub.downloads import Download
from headstart.core.models.ref import ModelRef
from headstart.core.requests import Pair
from headstart.core.settings.schema import KvType
from headstart.core.told import Told


class What(StrEnum):
    """The changed side of a chat."""

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


class ChatChanged(Struct, frozen=True):
    """A chat's own row: not its messages."""

    chat_id: str
    what: What


class ChatsChanged(Struct, frozen=True):
    """Many chats at once: whoever shows the list asks for all of it."""


class FoldersChanged(Struct, frozen=True):
    """Folders are others than they were, or say something else."""


class BranchChanged(Struct, frozen=True):
    """The active messages of a chat: added, or another version shown."""

    chat_id: str


class ReplyEvent(Struct, frozen=True):
    """An event of the reply that is being written."""

    chat_id: str
    message_id: str
    event: GenerationEvent


class ModelState(Struct, frozen=True):
    """The model is loading (fraction), loaded (1.0) or failed (text)."""

    name: str
    fraction: float
    problem: str | None = None


class SmallerContext(Struct, frozen=True):
    """A model does not fit into memory as it was asked for (`told`); with these it would."""

    model: ModelRef
    context: int
    kv_type: KvType
    told: Told


class ModelUnloaded(Struct, frozen=True):
    """There was not enough memory for a model beside the one that is loaded now."""

    name: str
    other: str


class ModelsLoaded(Struct, frozen=True):
    """Everything that is loaded now."""

    models: tuple[ResidentModel, ...]


class DraftState(Struct, frozen=True):
    """Which draft is really loaded; an empty name when one could not be."""

    name: str
    loaded: bool


class DraftProgress(Struct, frozen=True):
    """Progress of learning about the loaded draft while the engine is idle."""

    pair: Pair
    activity: DraftActivity


class Calibrated(Struct, frozen=True):
    """Speeds by depth, from a reply or from “Calibrate”; `problem` when that failed."""

    pair: Pair
    curve: SpeedCurve | None
    running: bool = False
    problem: str | None = None


class AheadState(Struct, frozen=True):
    """Tokens of a chat's next prompt processed ahead, `typed` of them while it is typed."""

    chat_id: str
    tokens: int
    typed: int


class NextPromptSize(Struct, frozen=True):
    """Size of a chat's next prompt, as far as it is written."""

    chat_id: str
    size: PromptSize


class PrefixesChanged(Struct, frozen=True):
    """Stored prefixes were cleared."""


class IndexChanged(Struct, frozen=True):
    """Words are found that were not in the index when somebody looked for some."""


class ModelsChanged(Struct, frozen=True):
    """Models came, went, or are called otherwise."""


class DownloadsChanged(Struct, frozen=True):
    """Progress of all downloads."""

    downloads: tuple[Download, ...]


class DownloadEnded(Struct, frozen=True):
    """A download is done, or stopped until the user says otherwise."""

    download: Download


class ReplyEnded(Struct, frozen=True):
    """The reply is stored; nothing writes in this chat any more."""

    chat_id: str
    message_id: str


class Trouble(Struct, frozen=True):
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
