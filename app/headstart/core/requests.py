"""Requests to an engine or a server; each is sent once and answered with events."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from headstart.core.audiences import WINDOW, Audience
from headstart.core.chats.values import Role
from headstart.core.models.ref import ModelRef
from headstart.core.retention import Retention, owner_of
from headstart.core.servers import ServerModel
from headstart.core.settings.schema import EngineSettings, Sampling, Speculation, Thinking, WhenFull
from headstart.core.tools import NO_TOOLS, Tools


class PromptImage(Struct, frozen=True):
    """An image for a model with vision; `label` replaces it for other models."""

    label: str
    media_type: str
    data: bytes
    # identifies the bytes
    digest: str = ""

    def __repr__(self) -> str:
        return f"PromptImage({self.label!r}, {self.media_type!r}, {len(self.data)} bytes)"


class ToolRole(StrEnum):
    """The author of a tool's result. Prompts only: a stored result is a part of the reply."""

    TOOL = "tool"


class PromptCall(Struct, frozen=True):
    """A tool call in a prompt; `arguments` is JSON, or the text that the model wrote for it."""

    id: str
    name: str
    arguments: str


class PromptMessage(Struct, frozen=True):
    """One message as the chat template gets it; `key` identifies it for context rules.

    `reasoning` is the model's reasoning before the text; templates keep or drop it. `calls` follow
    the text of a reply; a result (role TOOL) has the call's id and the tool's name.
    """

    role: Role | ToolRole
    text: str
    key: str = ""
    reasoning: str = ""
    # images before the text, for models with vision
    images: tuple[PromptImage, ...] = ()
    calls: tuple[PromptCall, ...] = ()
    call_id: str = ""
    name: str = ""


class WrittenSoFar(Struct, frozen=True):
    """The beginning of a reply that is continued, word for word. `closed`: the reasoning has ended,
    whether or not text follows."""

    reasoning: str = ""
    text: str = ""
    closed: bool = False

    def __bool__(self) -> bool:
        return bool(self.reasoning or self.text)


# the keys of a target and of its draft, "" without one
Pair = tuple[str, str]


class LoadRequest(Struct, frozen=True):
    """Models to load together: a model with these settings, and its draft."""

    model: ModelRef
    engine: EngineSettings = field(default_factory=EngineSettings)
    draft: ModelRef | None = None
    # the file that turns images into embeddings; opened with the first image
    projector: Path | None = None

    @property
    def pair(self) -> Pair:
        return self.model.key, "" if self.draft is None else self.draft.key

    def seeing(self, projector: Path) -> LoadRequest:
        return replace(self, projector=projector)


class SharedText(Struct, frozen=True):
    """A text at the beginning of a prompt that other chats share: the owner of its computed state,
    and its last words."""

    owner: str
    ending: str


class GenerationRequest(Struct, frozen=True):
    """One turn of a model on this computer. `reply_so_far` is the existing beginning of the
    reply."""

    load: LoadRequest
    messages: tuple[PromptMessage, ...]
    sampling: Sampling
    when_full: WhenFull = "stop"
    # None: belongs to no chat
    chat_id: str | None = None
    reply_so_far: WrittenSoFar = WrittenSoFar()
    thinking: Thinking = "auto"
    # the draft of `load` is loaded only when speculation is on
    speculation: Speculation = field(default_factory=Speculation)
    # the key of the reply among later messages
    reply_key: str = ""
    # how long its computed state may be kept, and who may reuse it
    retention: Retention = Retention.DISK
    audience: Audience = WINDOW
    tools: Tools = NO_TOOLS
    # another program's, or a document's: it gives way to the window's, and keeps its state as it
    # is computed
    served: bool = False
    # a text that goes on as it stands, without a chat template
    plain: str = ""
    # whole documents, in their order
    shared: tuple[SharedText, ...] = ()
    # only what stands before the question is kept: the owner is a document, not a chat
    beginning_only: bool = False

    @property
    def owner(self) -> str | None:
        """The chat whose state may be stored on disk."""
        return owner_of(self.chat_id, self.retention)


class RemoteRequest(Struct, frozen=True):
    """One turn of a server's model. `reply_so_far` as above."""

    model: ServerModel
    messages: tuple[PromptMessage, ...]
    sampling: Sampling
    reply_so_far: WrittenSoFar = WrittenSoFar()
    speculation: Speculation = field(default_factory=Speculation)
    tools: Tools = NO_TOOLS


class CountRequest(Struct, frozen=True):
    """Count tokens: of texts inside a prompt, those that sets of tools add to one, and those of a
    whole prompt. Ignored unless the model is loaded."""

    load: LoadRequest
    texts: tuple[str, ...] = ()
    tools: tuple[Tools, ...] = ()
    prompt: GenerationRequest | None = None


class EmbedRequest(Struct, frozen=True):
    """Vectors of texts, by an embedding model. `key` identifies the request if it pauses."""

    model: ModelRef
    texts: tuple[str, ...]
    key: str
    engine: EngineSettings = field(default_factory=EngineSettings)


class AheadRequest(Struct, frozen=True):
    """Prefill the certain part of the next prompt: the history, and the settled part of the typed
    text.

    Ignored unless the model is loaded. `attached` are the texts of files at the beginning of
    `typed`; without `prefills` tokens are only counted. `restores_only`: the stored state is
    restored, and nothing else is prefilled.
    """

    load: LoadRequest
    messages: tuple[PromptMessage, ...]
    chat_id: str
    typed: str = ""
    attached: tuple[str, ...] = ()
    # images of the message being typed
    images: tuple[PromptImage, ...] = ()
    prefills: bool = True
    restores_only: bool = False
    when_full: WhenFull = "stop"
    thinking: Thinking = "auto"
    retention: Retention = Retention.DISK
    audience: Audience = WINDOW
    speculation: Speculation = field(default_factory=Speculation)
    tools: Tools = NO_TOOLS

    @property
    def owner(self) -> str | None:
        """The chat whose state may be stored on disk."""
        return owner_of(self.chat_id, self.retention)
