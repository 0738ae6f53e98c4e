"""Changes, with the ids of their subjects: widgets that show a subject reload it and nothing else.

Widgets never call each other: they listen to the broadcast.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from headstart.core.chats.unsent import Unsent
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
from headstart.core.tool_servers.questions import ServerQuestion


class What(StrEnum):
    """The changed aspect of a chat."""

    ADDED = "added"
    TITLE = "title"
    PINNED = "pinned"
    MODEL = "model"
    OPTIONS = "options"
    DELETED = "deleted"
    RESTORED = "restored"
    # deleted for good
    PURGED = "purged"
    FOLDER = "folder"
    TAGS = "tags"
    ARCHIVED = "archived"
    UNSEEN = "unseen"


class ChatChanged(Struct, frozen=True):
    """A chat's row changed, not its messages."""

    chat_id: str
    what: What


class ChatsChanged(Struct, frozen=True):
    """Many chats changed at once: chat lists reload completely."""


class FoldersChanged(Struct, frozen=True):
    """Folders were added, removed or changed."""


class BranchChanged(Struct, frozen=True):
    """The active messages of a chat changed: one was added, or another version is shown."""

    chat_id: str


class ReplyEvent(Struct, frozen=True):
    """An event of the reply being written."""

    chat_id: str
    message_id: str
    event: GenerationEvent


class ModelState(Struct, frozen=True):
    """The model is loading (fraction), loaded (1.0) or failed (text)."""

    name: str
    fraction: float
    problem: str | None = None


class SmallerContext(Struct, frozen=True):
    """A model does not fit into memory as requested (`told`); it would with these values."""

    model: ModelRef
    context: int
    kv_type: KvType
    told: Told


class ModelUnloaded(Struct, frozen=True):
    """A model was unloaded because memory was too small for it and the newly loaded one."""

    name: str
    other: str


class ModelsLoaded(Struct, frozen=True):
    """All models loaded now."""

    models: tuple[ResidentModel, ...]


class DraftState(Struct, frozen=True):
    """The draft that is really loaded; an empty name if none is."""

    name: str
    loaded: bool


class DraftProgress(Struct, frozen=True):
    """Progress of measuring the loaded draft while the engine is idle."""

    pair: Pair
    activity: DraftActivity


class Calibrated(Struct, frozen=True):
    """Speeds by depth, from a reply or from “Calibrate”; `problem` if calibration failed."""

    pair: Pair
    curve: SpeedCurve | None
    running: bool = False
    problem: str | None = None


class AheadState(Struct, frozen=True):
    """Tokens of a chat's next prompt processed ahead, `typed` of them from the typed text."""

    chat_id: str
    tokens: int
    typed: int


class AheadProgress(Struct, frozen=True):
    """Tokens of a chat's next prompt processed ahead, out of all that are known."""

    chat_id: str
    done: int
    total: int


class NextPromptSize(Struct, frozen=True):
    """Size of a chat's next prompt, with what was typed then (`unsent`); None: without it."""

    chat_id: str
    size: PromptSize
    unsent: Unsent | None = None


class PrefixesChanged(Struct, frozen=True):
    """Cached prefixes were removed."""


class IndexChanged(Struct, frozen=True):
    """The search index has caught up: repeating a search may find more."""


class ModelsChanged(Struct, frozen=True):
    """Models were added, removed or renamed."""


class DownloadsChanged(Struct, frozen=True):
    """Progress of all downloads."""

    downloads: tuple[Download, ...]


class DownloadEnded(Struct, frozen=True):
    """A download is finished, or stopped until the user resumes it."""

    download: Download


class ReplyEnded(Struct, frozen=True):
    """The reply is stored, and no reply is being written in this chat any more."""

    chat_id: str
    message_id: str


class Trouble(Struct, frozen=True):
    """A problem of the environment that no caller waits for."""

    told: Told


class ServerChanged(Struct, frozen=True):
    """The server for other programs opened, closed or failed."""


class ServedEnded(Struct, frozen=True):
    """Another program's request ended."""


class ToolServersChanged(Struct, frozen=True):
    """A tool server started, ended, changed its lists or wrote to its log; "": the settings of
    servers changed."""

    server_id: str


class KnowledgeChanged(Struct, frozen=True):
    """The index of a folder or file changed, or its progress; "": the list of them."""

    source: str


class OutboxChanged(Struct, frozen=True):
    """Other writes wait for the disk now: their number, and why."""

    count: int
    problem: Told | None = None


class HeldChanged(Struct, frozen=True):
    """Something that begins by itself is held back, or not any more."""


class ToolQuestion(Struct, frozen=True):
    """A tool server asks the user a question."""

    question: ServerQuestion


class ToolQuestionGone(Struct, frozen=True):
    """The question with this number needs no answer any more."""

    number: int


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
    | AheadProgress
    | NextPromptSize
    | PrefixesChanged
    | ModelsChanged
    | DownloadsChanged
    | DownloadEnded
    | ReplyEnded
    | Trouble
    | ServerChanged
    | ServedEnded
    | ToolServersChanged
    | KnowledgeChanged
    | HeldChanged
    | OutboxChanged
    | ToolQuestion
    | ToolQuestionGone
)
