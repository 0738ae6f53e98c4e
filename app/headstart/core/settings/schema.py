"""Every setting: its type, default and bounds; its texts are in `core.wording.settings`.

Validated in one place (`validated`), then frozen and passed in; there is no global registry. The
settings window gets bounds and texts from `fields.describe`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar, get_args

import msgspec
from msgspec import Meta, Struct, field

from headstart.core.chats.saved_prompts import PROMPTS
from headstart.core.chats.saved_prompts import SavedPrompt as SavedPrompt
from headstart.core.chats.variables import LONGEST as LONGEST_VALUE
from headstart.core.knowledge.pinned import PinnedDocument
from headstart.core.servers import Connection
from headstart.core.settings.knowledge import KnowledgeSettings as KnowledgeSettings
from headstart.core.settings.library import LibrarySettings
from headstart.core.settings.prefix import PrefixSettings
from headstart.core.settings.sampling import MOST_BIASES as MOST_BIASES
from headstart.core.settings.sampling import Bias as Bias
from headstart.core.settings.sampling import Sampling as Sampling
from headstart.core.settings.sampling import SamplingChoice as SamplingChoice
from headstart.core.settings.server import ServerSettings as ServerSettings
from headstart.core.settings.speculation import Speculation as Speculation
from headstart.core.tool_servers.entry import ToolApproval as ToolApproval
from headstart.core.tool_servers.entry import ToolServer as ToolServer
from headstart.core.updates import UpdateSettings

WhenFull = Literal["stop", "drop_oldest"]
Theme = Literal["system", "light", "dark"]
KvType = Literal["f16", "bf16", "q8_0"]
Backend = Literal["auto", "llama.cpp", "mlx"]
WindowCache = Literal["auto", "whole", "window"]
FlashAttention = Literal["auto", "on", "off"]
# “auto”: Inter, where it has the letters of the window's language
TextFont = Literal["auto", "inter", "system"]
ColumnWidth = Literal["narrow", "medium", "wide"]
LineSpacing = Literal["tight", "normal", "loose"]
StatsShown = Literal["speed", "all", "none"]
Doubtful = Literal["ask", "give", "leave_out"]
Thinking = Literal["auto", "off", "on", "low", "medium", "high", "max"]

# from least to most reasoning
THINKING: tuple[Thinking, ...] = get_args(Thinking)

_S = TypeVar("_S", bound=Struct)
ToolsFrom = Annotated[str, Meta(min_length=1, max_length=280)]
# the path of a folder or a file that questions are answered from
FilesFrom = Annotated[str, Meta(min_length=1, max_length=4096)]

# percent, from the smallest text to the largest
TEXT_SIZES = (80, 90, 100, 110, 125, 140, 160, 180, 200)

# smaller contexts hold no conversation, and tiny ones crashed the process inside llama.cpp
LEAST_CONTEXT = 512


class Overrides(Struct, frozen=True, omit_defaults=True):
    """Options of a model or a chat; None inherits from the level above."""

    system_prompt: str | None = None
    sampling: SamplingChoice | None = None
    when_full: WhenFull | None = None
    thinking: Thinking | None = None
    speculation: Speculation | None = None
    # ids of tool servers, or "id/tool" for single tools
    tools_from: tuple[ToolsFrom, ...] | None = None
    # folders and files that are searched for each question
    files_from: tuple[FilesFrom, ...] | None = None


class ModelOptions(Overrides, frozen=True, omit_defaults=True, kw_only=True):
    """Options that every chat with one model inherits."""

    # the key of the model
    key: Annotated[str, Meta(min_length=1)]


class ChatOptions(Overrides, frozen=True, omit_defaults=True):
    """Options of one chat."""

    # whether the computed state of this chat may be stored on disk
    keep_on_disk: bool = True
    # names of the program's own tools that this chat's model may call
    tools: tuple[Annotated[str, Meta(max_length=64)], ...] = ()
    # whole documents that stand first in its prompts
    pinned: Annotated[tuple[PinnedDocument, ...], Meta(max_length=100)] = ()
    # what becomes of passages that only resemble a question: the user is asked, until they chose
    doubtful: Doubtful = "ask"
    # values of the variables of its system prompt
    values: dict[str, Annotated[str, Meta(max_length=LONGEST_VALUE)]] = {}


class Preset(Overrides, frozen=True, omit_defaults=True, kw_only=True):
    """Options for a chat under a name."""

    name: Annotated[str, Meta(min_length=1, max_length=80)]


class EngineSettings(Struct, frozen=True):
    """Settings of the engine on this computer. Every field belongs to a loaded model: a change
    reloads it."""

    @property
    def as_run(self) -> EngineSettings:
        """The settings with those that `exact` requires: KV types and attention whose order of
        summation does not depend on the number of rows, and cells in text order."""
        if not self.exact:
            return self
        return msgspec.structs.replace(
            self, kv_type="bf16", flash_attention="on", window_cache="whole"
        )

    @property
    def flash(self) -> bool:
        """True for flash attention, unless a graphics card rules it out."""
        return self.as_run.flash_attention != "off"

    @property
    def automatic_layers(self) -> bool:
        """True if the program chooses the number of layers on graphics cards."""
        return self.gpu_layers < 0

    backend: Backend = "auto"
    context_length: Annotated[
        int, Meta(ge=0, le=4_194_304, extra_json_schema={"least": LEAST_CONTEXT})
    ] = 0
    threads: Annotated[int, Meta(ge=0, le=512)] = 0
    kv_type: KvType = "f16"
    gpu_layers: Annotated[int, Meta(ge=-1, le=1000)] = -1
    exact: bool = False
    flash_attention: FlashAttention = "auto"
    window_cache: WindowCache = "auto"
    check_memory: bool = True
    batch: Annotated[int, Meta(ge=0, le=4096)] = 0


class Settings(Struct, frozen=True):
    # the code of the window's language, "" for the system's
    language: Annotated[str, Meta(max_length=16)] = ""
    theme: Theme = "system"
    text_font: TextFont = "auto"
    text_size: Annotated[int, Meta(ge=TEXT_SIZES[0], le=TEXT_SIZES[-1])] = 100
    column_width: ColumnWidth = "medium"
    line_spacing: LineSpacing = "normal"
    system_prompt: str = ""
    sampling: SamplingChoice = field(default_factory=SamplingChoice)
    when_full: WhenFull = "stop"
    thinking: Thinking = "auto"
    engine: EngineSettings = field(default_factory=EngineSettings)
    speculation: Speculation = field(default_factory=Speculation)
    prefix: PrefixSettings = field(default_factory=PrefixSettings)
    # options for chats with one model, at most one entry for each
    models: tuple[ModelOptions, ...] = ()
    presets: Annotated[tuple[Preset, ...], Meta(max_length=200)] = ()
    prompts: Annotated[tuple[SavedPrompt, ...], Meta(max_length=1_000)] = PROMPTS
    library: LibrarySettings = field(default_factory=LibrarySettings)
    updates: UpdateSettings = field(default_factory=UpdateSettings)
    # the server for other programs
    server: ServerSettings = field(default_factory=ServerSettings)
    # servers that the user added
    connections: tuple[Connection, ...] = ()
    # whether drafted text is highlighted in replies
    show_origins: bool = False
    # the model that new chats start with
    model: str = ""
    # model files opened from outside the folders
    model_files: tuple[str, ...] = ()
    trash_days: Annotated[int, Meta(ge=0, le=365)] = 30
    # a folder with a Markdown copy of each chat
    mirror_folder: str = ""
    stats_shown: StatsShown = "speed"
    # whether a screen reader gets replies while they are written
    announce_replies: bool = True
    # characters of a pasted text from which on it is attached; 0: never
    long_paste: Annotated[int, Meta(ge=0, le=1_000_000)] = 4_000
    # tools that models may call without asking
    allowed_tools: tuple[Annotated[str, Meta(max_length=64)], ...] = ()
    # programs that lend tools to models, and tools of theirs that may be called without asking
    tool_servers: Annotated[tuple[ToolServer, ...], Meta(max_length=200)] = ()
    tool_approvals: Annotated[tuple[ToolApproval, ...], Meta(max_length=10_000)] = ()
    # the tool servers of chats that choose none
    tools_from: tuple[ToolsFrom, ...] = ()
    # the user's own keys by command, "" for none, in the portable form of Qt
    shortcuts: dict[Annotated[str, Meta(max_length=64)], Annotated[str, Meta(max_length=64)]] = {}
    # folders and files that questions are answered from, and those of chats that choose none
    knowledge: KnowledgeSettings = field(default_factory=KnowledgeSettings)
    files_from: tuple[FilesFrom, ...] = ()


class SettingsError(ValueError):
    """A value out of its bounds or of the wrong type; the message names the field."""


def validated(kind: type[_S], values: object) -> _S:
    """`values` (a struct, or plain JSON data) as a checked `kind`; raises SettingsError."""
    try:
        checked = msgspec.convert(msgspec.to_builtins(values), kind)
    except msgspec.ValidationError as error:
        raise SettingsError(str(error)) from error
    engine = checked.engine if isinstance(checked, Settings) else checked
    if isinstance(engine, EngineSettings) and 0 < engine.context_length < LEAST_CONTEXT:
        raise SettingsError(f"context_length: 0, or at least {LEAST_CONTEXT}")
    return checked


def changed(settings: _S, **changes: Any) -> _S:
    """A checked copy of `settings` with some fields replaced; raises SettingsError."""
    return validated(type(settings), msgspec.structs.replace(settings, **changes))
