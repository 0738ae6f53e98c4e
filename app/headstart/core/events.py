"""Events of a request, in order; the last one is `Finished` or `Failed`."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct

from headstart.core.chats.grounds import CallGround
from headstart.core.chats.parts import (
    BlobRef,
    CallEnd,
    FilePart,
    ImagePart,
    Origin,
    PartKind,
)
from headstart.core.chats.values import SpeculationStats, TurnStats
from headstart.core.models.ref import ModelRef
from headstart.core.requests import LoadRequest
from headstart.core.settings.schema import Thinking
from headstart.core.told import Told


class PrefilledAhead(Struct, frozen=True):
    """`tokens` of the chat are in the KV state, `typed` of them from the message being typed."""

    tokens: int
    typed: int


class Waiting(Struct, frozen=True):
    """Other chats' replies are generated first on this computer."""


class Loading(Struct, frozen=True):
    """The model (or its draft) is being opened; `fraction` from 0 to 1."""

    model: ModelRef
    fraction: float
    draft: bool = False


class Loaded(Struct, frozen=True):
    """`thinking`: the model's choices of reasoning."""

    model: ModelRef
    context_length: int
    seconds: float
    thinking: tuple[Thinking, ...] = ("auto",)


class Unloaded(Struct, frozen=True):
    """The memory could not hold this model beside the other one."""

    model: ModelRef
    other: ModelRef


class ResidentModel(Struct, frozen=True):
    """A loaded model, for the request that loaded it; bytes of memory, tokens of context.
    `drafts`: whether its draft is loaded too."""

    load: LoadRequest
    drafts: bool
    size: int
    context: int

    @property
    def model(self) -> ModelRef:
        return self.load.model

    @property
    def draft(self) -> ModelRef | None:
        return self.load.draft if self.drafts else None


class InMemory(Struct, frozen=True):
    """All loaded models; the most recently used one comes last."""

    models: tuple[ResidentModel, ...]


class PromptSize(Struct, frozen=True):
    """Tokens of a chat's next prompt, including the message being typed, and of each attached file;
    a prompt of more than `limit` tokens leaves no room for a reply in a context of `size`.

    `drops`: the chat's rule leaves the oldest turns out. `alone`: tokens without earlier turns,
    counted by that rule, and for a prompt that does not fit.
    """

    tokens: int
    limit: int
    size: int
    attached: tuple[int, ...] = ()
    alone: int = 0
    drops: bool = False


class Counted(Struct, frozen=True):
    """Tokens of the texts, of the sets of tools and of the prompt of a `CountRequest`."""

    texts: tuple[int, ...]
    tools: tuple[int, ...] = ()
    prompt: int = 0


class Embedded(Struct, frozen=True):
    """The vectors of an `EmbedRequest`, each as float32, and the tokens of all texts."""

    vectors: tuple[bytes, ...]
    tokens: int


class Prefilling(Struct, frozen=True):
    """`done` of `total` prompt tokens are in the KV state; `reused` were in it before. `image`:
    an image comes next, whose prefill cannot be interrupted."""

    done: int
    total: int
    reused: int
    image: bool = False


class CallStep(StrEnum):
    """Progress of a tool call in a reply."""

    BEGAN = "began"
    MORE = "more"  # of its arguments
    WHOLE = "whole"
    CUT = "cut"  # the reply ended inside it; its arguments are as far as they were written
    WITHDRAWN = "withdrawn"  # it is no call: its text follows


class TextPiece(Struct, frozen=True):
    """Text of a reply, or a step of a tool call: `name` is then the tool's, `call` its number in
    the reply from 1 on, and `text` its arguments as JSON, those of MORE or all of them."""

    kind: PartKind
    text: str
    origin: Origin
    name: str = ""
    call: int = 0
    step: CallStep = CallStep.WHOLE


class TextAdded(Struct, frozen=True):
    pieces: tuple[TextPiece, ...]
    tokens: int  # generated so far in this turn
    seconds: float  # since the first of them


class ToolAsked(Struct, frozen=True):
    """A call waits for the user's permission; `call` is its number in the reply, `arguments` are
    JSON. `ground`: None for the program's own tools."""

    call: int
    name: str
    arguments: str
    ground: CallGround | None = None


class ToolStarted(Struct, frozen=True):
    """A tool runs."""

    call: int
    name: str


class ToolProgressed(Struct, frozen=True):
    """A tool tells how far it is; `total`: 0 if unknown."""

    call: int
    done: float
    total: float = 0.0
    message: str = ""


class ToolsStarting(Struct, frozen=True):
    """The reply waits for tool servers to start for the first time."""

    names: tuple[str, ...]


class DocumentsRead(Struct, frozen=True):
    """`done` of `total` documents are read for a question; the one with this `name` is being read,
    `fraction` of it from 0 to 1."""

    done: int
    total: int
    name: str = ""
    fraction: float = 0.0


class ToolDone(Struct, frozen=True):
    """A call has its result; `failed`: it is an error, or the user denied the call. `seconds` is
    how long the tool ran, `whole` the result before it was shortened. `source` and `more`: the
    tool server that wrote it, and the files and images of the result."""

    call: int
    name: str
    text: str
    failed: bool = False
    end: CallEnd = CallEnd.RETURNED
    seconds: float = 0.0
    whole: BlobRef | None = None
    source: str = ""
    more: tuple[FilePart | ImagePart, ...] = ()


class NoticeKind(StrEnum):
    """Subjects of notices: a new one replaces an older one of its kind."""

    CONTEXT_DROPPED = "context-dropped"
    CONTEXT_NEARLY_FULL = "context-nearly-full"
    DRAFT = "draft"
    EXACT = "exact"
    FILES = "files"
    GPU = "gpu"
    IMAGES = "images"
    MEMORY = "memory"
    MODEL = "model"
    SERVER = "server"
    TOOLS = "tools"
    TEMPLATE = "template"
    # from the window itself
    NEWS = "news"
    PROBLEM = "problem"
    START = "start"


class Notice(Struct, frozen=True):
    """News for the user, other than errors."""

    kind: NoticeKind
    told: Told


class ContextUse(Struct, frozen=True):
    used: int
    size: int


class DraftStage(StrEnum):
    """Activity of a chosen draft model."""

    CALIBRATING = "calibrating"  # its costs are being measured, while the engine is idle
    LEARNING = "learning"  # too little is known about it yet
    READY = "ready"  # it will draft in the next reply
    DRAFTING = "drafting"
    LOOKUP = "lookup"  # existing text is drafted from, without the model
    NOT_PAYING = "not paying"  # it is right too rarely here for its cost
    WAITING = "waiting"  # the prefill that it needs first is not affordable yet
    OFF = "off"


class DraftActivity(Struct, frozen=True):
    """`depth` tokens are drafted per round; `acceptance` is the share of correct drafts here, and
    `needed` the share at which drafting pays; `done` of `total` calibration steps."""

    stage: DraftStage
    depth: int = 0
    acceptance: float = 0.0
    needed: float = 0.0
    done: int = 0
    total: int = 0
    # the draft, or the origin of the text
    source: Origin = Origin.TARGET


class Speculating(Struct, frozen=True):
    """Statistics of speculation, sent a few times a second. `depth` is that of the last round."""

    depth: int
    source: Origin
    tokens: int
    stats: SpeculationStats
    seconds: float  # spent on the tokens so far
    activity: DraftActivity | None = None

    @property
    def against_plain(self) -> float | None:
        return self.stats.against_plain(self.seconds)


class SpeedCurve(Struct, frozen=True):
    """Measured tokens per second by draft depth on this computer; `points` may be partial.

    Depth 0 is plain decoding. `best` is the depth with the highest speed, `done` and `total`
    count the steps of a measurement.
    """

    points: tuple[tuple[int, float], ...]
    best: int
    done: int = 1
    total: int = 1


class Finished(Struct, frozen=True):
    """`stop`: the stop string that ended the reply, "" for none."""

    stats: TurnStats
    stop: str = ""


class Failed(Struct, frozen=True):
    """The turn ended with an error. `bug` is true for our own errors, not the environment's."""

    told: Told
    bug: bool = False


GenerationEvent = (
    Waiting
    | Loading
    | Loaded
    | Unloaded
    | InMemory
    | Prefilling
    | TextAdded
    | ToolAsked
    | ToolStarted
    | ToolProgressed
    | ToolsStarting
    | DocumentsRead
    | ToolDone
    | Notice
    | ContextUse
    | Speculating
    | DraftActivity
    | PrefilledAhead
    | PromptSize
    | Counted
    | Embedded
    | SpeedCurve
    | Finished
    | Failed
)
Emit = Callable[[GenerationEvent], None]
