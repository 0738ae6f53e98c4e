"""Every setting: its type, default, bounds and one line for the user.

Validated in one place (`validated`), frozen from then on and passed in; there is no global
registry. The settings window takes titles and bounds from
`settings_fields.describe`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar, get_args

import msgspec
from msgspec import Meta, Struct, field

from headstart.core.chats.saved_prompts import PROMPTS
from headstart.core.chats.saved_prompts import SavedPrompt as SavedPrompt
from headstart.core.chats.variables import LONGEST as LONGEST_VALUE
from headstart.core.servers import Connection
from headstart.core.settings.library import LibrarySettings
from headstart.core.settings.prefix import PrefixSettings
from headstart.core.settings.sampling import MOST_BIASES as MOST_BIASES
from headstart.core.settings.sampling import Bias as Bias
from headstart.core.settings.sampling import Sampling as Sampling
from headstart.core.settings.sampling import SamplingChoice as SamplingChoice
from headstart.core.settings.speculation import Speculation as Speculation
from headstart.core.updates import UpdateSettings

WhenFull = Literal["stop", "drop_oldest"]
Theme = Literal["system", "light", "dark"]
KvType = Literal["f16", "bf16", "q8_0"]
Backend = Literal["auto", "llama.cpp", "mlx"]
WindowCache = Literal["auto", "whole", "window"]
FlashAttention = Literal["auto", "on", "off"]
TextFont = Literal["inter", "system"]
ColumnWidth = Literal["narrow", "medium", "wide"]
LineSpacing = Literal["tight", "normal", "loose"]
StatsShown = Literal["speed", "all", "none"]
Thinking = Literal["auto", "off", "on", "low", "medium", "high", "max"]

# in the order of how much a model thinks
THINKING: tuple[Thinking, ...] = get_args(Thinking)

_S = TypeVar("_S", bound=Struct)

# percent, from the smallest text to the largest
TEXT_SIZES = (80, 90, 100, 110, 125, 140, 160)

# smaller contexts hold no conversation, and the smallest ended the process inside llama.cpp
LEAST_CONTEXT = 512


class Overrides(Struct, frozen=True, omit_defaults=True):
    """Decisions of a model or a chat; None follows what it belongs to."""

    system_prompt: str | None = None
    sampling: SamplingChoice | None = None
    when_full: WhenFull | None = None
    thinking: Thinking | None = None
    speculation: Speculation | None = None


class ModelOptions(Overrides, frozen=True, omit_defaults=True, kw_only=True):
    """Options that every chat with one model inherits."""

    # the key of the model
    key: Annotated[str, Meta(min_length=1)]


class ChatOptions(Overrides, frozen=True, omit_defaults=True):
    """Decisions of one chat."""

    # whether what the model has read of this chat may be kept on disk
    keep_on_disk: bool = True
    # what the variables of its system prompt stand for
    values: dict[str, Annotated[str, Meta(max_length=LONGEST_VALUE)]] = {}


class Preset(Overrides, frozen=True, omit_defaults=True, kw_only=True):
    """Options for a chat under a name."""

    name: Annotated[str, Meta(min_length=1, max_length=80)]


class EngineSettings(Struct, frozen=True):
    """Settings of the engine on this computer. Every field belongs to a loaded model: a change
    loads it again."""

    @property
    def as_run(self) -> EngineSettings:
        """With what `exact` asks for: KV types and attention that add up in the same order
        however many rows there are, and cells that lie in the order of the text."""
        if not self.exact:
            return self
        return msgspec.structs.replace(
            self, kv_type="bf16", flash_attention="on", window_cache="whole"
        )

    @property
    def flash(self) -> bool:
        """True if attention is flash attention, as far as no graphics card speaks against it."""
        return self.as_run.flash_attention != "off"

    @property
    def automatic_layers(self) -> bool:
        """True if the program chooses how many layers go to graphics cards."""
        return self.gpu_layers < 0

    backend: Annotated[
        Backend,
        Meta(
            title="Backend",
            description="what runs MLX folders and GGUF files; llama.cpp alone, or MLX for folders",
            extra_json_schema={
                "labels": {"auto": "Automatic", "llama.cpp": "llama.cpp alone", "mlx": "MLX too"}
            },
        ),
    ] = "auto"
    context_length: Annotated[
        int,
        Meta(
            ge=0,
            le=4_194_304,
            title="Context length",
            description=f"tokens, at least {LEAST_CONTEXT}; 0 is automatic",
            extra_json_schema={"least": LEAST_CONTEXT, "special": "automatic"},
        ),
    ] = 0
    threads: Annotated[
        int,
        Meta(
            ge=0,
            le=512,
            title="Threads",
            description="0 is one per physical core",
            extra_json_schema={"special": "automatic"},
        ),
    ] = 0
    kv_type: Annotated[
        KvType,
        Meta(
            title="KV cache type",
            description=(
                "f16 is fastest; bf16: speculation changes no bit on a processor; q8_0 takes half "
                "the memory"
            ),
        ),
    ] = "f16"
    gpu_layers: Annotated[
        int,
        Meta(
            ge=-1,
            le=1000,
            title="GPU layers",
            description="-1 is automatic; 0 uses none",
            extra_json_schema={"special": "automatic"},
        ),
    ] = -1
    exact: Annotated[
        bool,
        Meta(
            title="Exact",
            description=(
                "the same question gives the same text: each model is tested once, and where "
                "drafting or reuse would change a bit, both are limited"
            ),
            extra_json_schema={"label": "draft and reuse only where no bit changes"},
        ),
    ] = False
    flash_attention: Annotated[
        FlashAttention,
        Meta(
            title="Flash attention",
            description="automatic: on, unless a graphics card was measured to be slower with it",
            extra_json_schema={"labels": {"auto": "Automatic", "on": "On", "off": "Off"}},
        ),
    ] = "auto"
    window_cache: Annotated[
        WindowCache,
        Meta(
            title="Sliding-window cache",
            description="what layers with a sliding window keep: their window, or the context",
            extra_json_schema={
                "labels": {"auto": "Automatic", "whole": "Whole context", "window": "Window only"}
            },
        ),
    ] = "auto"
    check_memory: Annotated[
        bool,
        Meta(
            title="Check memory",
            description="refuse models that do not fit into memory, with what would fit",
            extra_json_schema={"label": "refuse models that do not fit"},
        ),
    ] = True
    batch: Annotated[
        int,
        Meta(
            ge=0,
            le=4096,
            title="Batch",
            description="tokens prefilled at once, at least 128; 0 is automatic",
            extra_json_schema={"special": "automatic"},
        ),
    ] = 0


class Settings(Struct, frozen=True):
    theme: Annotated[
        Theme,
        Meta(
            title="Theme",
            description="follows the system by default",
            extra_json_schema={
                "labels": {"system": "Same as system", "light": "Light", "dark": "Dark"}
            },
        ),
    ] = "system"
    text_font: Annotated[
        TextFont,
        Meta(
            title="Text font",
            description="bundled or system's",
            extra_json_schema={"labels": {"inter": "Inter", "system": "System font"}},
        ),
    ] = "inter"
    text_size: Annotated[
        int,
        Meta(
            ge=TEXT_SIZES[0],
            le=TEXT_SIZES[-1],
            title="Text size",
            description="of the whole window, in percent",
            extra_json_schema={"unit": "%"},
        ),
    ] = 100
    column_width: Annotated[
        ColumnWidth,
        Meta(
            title="Column width",
            description="of the messages",
            extra_json_schema={"labels": {"narrow": "Narrow", "medium": "Medium", "wide": "Wide"}},
        ),
    ] = "medium"
    line_spacing: Annotated[
        LineSpacing,
        Meta(
            title="Line spacing",
            description="of the messages",
            extra_json_schema={"labels": {"tight": "Tight", "normal": "Normal", "loose": "Loose"}},
        ),
    ] = "normal"
    system_prompt: Annotated[
        str, Meta(title="System prompt", description="for chats without one of their own")
    ] = ""
    sampling: SamplingChoice = field(default_factory=SamplingChoice)
    when_full: Annotated[
        WhenFull,
        Meta(
            title="When the context is full",
            description="stop, or leave out the oldest turns but keep the system prompt",
            extra_json_schema={
                "labels": {"stop": "Stop", "drop_oldest": "Leave out the oldest turns"}
            },
        ),
    ] = "stop"
    thinking: Annotated[
        Thinking,
        Meta(
            title="Thinking",
            description="before the reply, where a model can be told; automatic is its own choice",
            extra_json_schema={
                "labels": {
                    "auto": "Automatic",
                    "off": "Off",
                    "on": "On",
                    "low": "Low",
                    "medium": "Medium",
                    "high": "High",
                    "max": "Maximum",
                }
            },
        ),
    ] = "auto"
    engine: EngineSettings = field(default_factory=EngineSettings)
    speculation: Speculation = field(default_factory=Speculation)
    prefix: PrefixSettings = field(default_factory=PrefixSettings)
    # at most one for each model
    models: Annotated[
        tuple[ModelOptions, ...], Meta(description="what chats with one model begin from")
    ] = ()
    presets: Annotated[tuple[Preset, ...], Meta(max_length=200)] = ()
    prompts: Annotated[tuple[SavedPrompt, ...], Meta(max_length=1_000)] = PROMPTS
    library: LibrarySettings = field(default_factory=LibrarySettings)
    updates: UpdateSettings = field(default_factory=UpdateSettings)
    # servers that the user named
    connections: tuple[Connection, ...] = ()
    # whether drafted text is highlighted in replies
    show_origins: Annotated[
        bool, Meta(title="Highlight drafted text", description="by where each token came from")
    ] = False
    model: Annotated[str, Meta(description="the model that new chats start with")] = ""
    model_files: Annotated[
        tuple[str, ...], Meta(description="model files that the user opened from elsewhere")
    ] = ()
    trash_days: Annotated[
        int,
        Meta(
            ge=0,
            le=365,
            title="Keep deleted chats",
            description="in the trash, from where they come back; then their text is overwritten",
            extra_json_schema={"unit": "day|days", "special": "not at all"},
        ),
    ] = 30
    mirror_folder: Annotated[
        str, Meta(description="a folder where each chat is kept as a Markdown file, too")
    ] = ""
    stats_shown: Annotated[
        StatsShown,
        Meta(
            title="Figures under a reply",
            description="the rest shows when the pointer is over them",
            extra_json_schema={
                "labels": {"speed": "Speed and gain", "all": "More figures", "none": "None"}
            },
        ),
    ] = "speed"


class SettingsError(ValueError):
    """A value out of its bounds or of the wrong type; the text names the field."""


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
