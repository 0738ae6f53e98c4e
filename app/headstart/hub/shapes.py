"""Facts that decide a model's memory, from the header of its file. Worker and engine thread.

Follows llama.cpp's `llama_hparams`: layers with keys and values, their widths, and the states of
recurrent layers. Missing facts are taken as for a plain transformer.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from headstart.core.models.fit import RECURRENT_SEQUENCES, UNDO, ModelShape
from headstart.core.models.ref import ModelRef
from headstart.core.models.split_files import parts
from headstart.hub import mlx_folder
from headstart.hub.gguf import GgufHeader, as_count, read_header

# every n-th layer attends to the whole context, unless the file says otherwise
_PERIODS = {
    "gemma2": 2,
    "gemma3": 6,
    "gemma3n": 5,
    "gpt-oss": 2,
    "cohere2": 4,
    "exaone4": 4,
    "olmo2": 4,
}
# architectures with a state in most layers and keys in every fourth, unless they say otherwise
_INTERVAL = ("qwen35", "qwen35moe", "qwen3next")
# more than any model has: a damaged count must not allocate all memory
_MOST_LAYERS = 4096
# architectures with a state and keys in every layer
_BOTH = ("falcon-h1",)
# whose states llama.cpp can undo within the last forward (`llm_arch_supports_rs_rollback`)
_UNDO = frozenset(
    (
        "kimi-k3", "qwen35", "qwen35moe", "qwen4exp", "deepseek4", "glm5-next", "nemotron_h",
        "nemotron_h_moe", "lfm2", "lfm2moe", "bailingmoe3",
    )
)  # fmt: skip


class _Wanted:
    """The header's arrays to keep: numbers that differ from layer to layer."""

    _ENDS = (
        ".head_count_kv",
        ".head_count",
        ".feed_forward_length",
        ".sliding_window_pattern",
        ".recurrent_layers",
    )

    def __contains__(self, key: object) -> bool:
        return str(key).endswith(self._ENDS)


WANTED = _Wanted()


def read_shape(model: ModelRef) -> ModelShape:
    """Raises ModelProblem, OSError. Cached until the file changes."""
    status = (model.path / "config.json" if model.format == "mlx" else model.path).stat()
    return _read(model, status.st_size, status.st_mtime_ns)


@functools.lru_cache(maxsize=64)
def _read(model: ModelRef, _size: int, _changed: int) -> ModelShape:
    if model.format == "mlx":
        return of_config(mlx_folder.read_folder(model.path).config, model.size)
    first, *others = parts(model.path)
    header = read_header(first, WANTED)
    headers = [header, *(read_header(part) for part in others)]
    found = of_header(header)
    own = sum(len(one.drafting) for one in headers)
    count = found.own_layers
    return replace(
        found,
        weights=sum(one.weights for one in headers),
        layer_weights=sum(one.layer_weights for one in headers),
        # only those with tensors
        own_layers=own,
        own_keys=found.own_keys * own // count if count else 0,
        own_values=found.own_values * own // count if count else 0,
    )


def of_header(header: GgufHeader) -> ModelShape:
    """Needs only the first bytes of a file, so it works for remote files too."""
    says = _Says(header)
    width, heads = says("embedding_length"), says.most("attention.head_count")
    own_layers = min(says.layers, says("nextn_predict_layers"))
    layers = says.layers - own_layers
    recurrent = _recurrent_layers(header, says, layers)
    size = width // heads if heads else 0
    own = says.each("attention.head_count_kv", layers)
    kv_heads = own if own is not None else [says("attention.head_count_kv") or heads] * layers
    if own is None and recurrent is not None and header.architecture not in _BOTH:
        kv_heads = [0 if state else count for count, state in zip(kv_heads, recurrent, strict=True)]
    # in some models the last layers reuse the keys of earlier ones
    kv_heads = kv_heads[: max(0, layers - says("attention.shared_kv_layers"))]
    key = says("attention.key_length") or size
    value = says("attention.value_length") or size
    if says("attention.key_length_mla"):
        # one compressed row serves as both
        value = 0
    if not heads:
        kv_heads = []
    windows = _window_layers(header, says, len(kv_heads))
    of_windows = sum(count for count, is_one in zip(kv_heads, windows, strict=True) if is_one)
    window_key = says("attention.key_length_swa") or key
    window_value = says("attention.value_length_swa") or value
    others = sum(kv_heads) - of_windows
    return ModelShape(
        weights=header.weights,
        trained=says("context_length"),
        keys=others * key + of_windows * window_key,
        values=others * value + of_windows * window_value,
        state=_state(says, width, sum(recurrent) if recurrent is not None else 0),
        states=RECURRENT_SEQUENCES * (1 + UNDO if header.architecture in _UNDO else 1),
        vocabulary=says("vocab_size") or header.lengths.get("tokenizer.ggml.tokens", 0),
        width=width,
        feed_forward=_feed_forward(says),
        heads=heads,
        layers=layers,
        layer_weights=header.layer_weights,
        masks=2 if says("attention.sliding_window") else 1,
        window=says("attention.sliding_window") if of_windows else 0,
        window_keys=of_windows * window_key,
        window_values=of_windows * window_value,
        own_layers=own_layers,
        own_keys=own_layers * max(kv_heads, default=0) * key,
        own_values=own_layers * max(kv_heads, default=0) * value,
    )


def of_config(config: Mapping[str, Any], weights: int) -> ModelShape:
    """Shape from a folder's `config.json`."""

    def whole(*names: str) -> int:
        found = (as_count(config.get(name)) for name in names)
        return next((value for value in found if value), 0)

    heads, layers = whole("num_attention_heads"), whole("num_hidden_layers")
    size = whole("head_dim") or whole("hidden_size") // max(1, heads)
    numbers = layers * whole("num_key_value_heads", "num_attention_heads") * size
    experts = whole("num_experts_per_tok") * whole("moe_intermediate_size", "intermediate_size")
    return ModelShape(
        weights=weights,
        trained=whole("max_position_embeddings"),
        keys=numbers,
        values=numbers,
        vocabulary=whole("vocab_size"),
        width=whole("hidden_size"),
        feed_forward=max(whole("intermediate_size"), experts),
        heads=heads,
    )


class _Says:
    """A header's numbers for its architecture; 0 where missing."""

    def __init__(self, header: GgufHeader) -> None:
        self._header = header

    def __call__(self, name: str) -> int:
        return as_count(self._header.metadata.get(f"{self._header.architecture}.{name}", 0))

    def each(self, name: str, layers: int) -> list[int] | None:
        """Numbers by layer, where they differ; 0 for layers without one."""
        found = self._header.arrays.get(f"{self._header.architecture}.{name}")
        if found is None:
            return None
        return [as_count(value) for value in found[:layers]] + [0] * (layers - len(found))

    @property
    def layers(self) -> int:
        return min(self("block_count"), _MOST_LAYERS)

    def most(self, name: str) -> int:
        return max(self.each(name, self.layers) or [self(name)])


def _recurrent_layers(header: GgufHeader, says: _Says, layers: int) -> list[bool] | None:
    """Flags of layers with a state; None if no layer has one."""
    stateful = any(says(name) for name in ("ssm.inner_size", "wkv.head_size", "shortconv.l_cache"))
    if not stateful:
        return None
    named = says.each("attention.recurrent_layers", layers)
    if named is not None:
        return [bool(value) for value in named]
    architecture = header.architecture
    by_layer = says.each("attention.head_count_kv", layers)
    if architecture in _INTERVAL:
        interval = says("full_attention_interval") or 4
        return [(layer + 1) % interval != 0 for layer in range(layers)]
    if by_layer is None or architecture in _BOTH:
        return [True] * layers
    forward = says.each("feed_forward_length", layers)
    if architecture == "nemotron_h" and forward is not None:
        return [not kv and not ff for kv, ff in zip(by_layer, forward, strict=True)]
    return [not kv for kv in by_layer]


def _window_layers(header: GgufHeader, says: _Says, layers: int) -> list[bool]:
    """Flags of sliding-window layers; all False if unknown."""
    own = says.each("attention.sliding_window_pattern", layers)
    if own is not None:
        return [bool(value) for value in own] + [False] * (layers - len(own))
    period = says("attention.sliding_window_pattern") or _PERIODS.get(header.architecture, 0)
    if not period or not says("attention.sliding_window"):
        return [False] * layers
    return [layer % period < period - 1 for layer in range(layers)]


def _state(says: _Says, width: int, layers: int) -> int:
    """Bytes of all recurrent layers, for one sequence."""
    head, convolution = says("wkv.head_size"), says("shortconv.l_cache")
    if head:
        numbers = (says("token_shift_count") or 2) * width + width * head
    elif convolution:
        numbers = width * (convolution - 1)
    else:
        inner, state = says("ssm.inner_size"), says("ssm.state_size")
        shifted = max(0, says("ssm.conv_kernel") - 1)
        numbers = shifted * (inner + 2 * says("ssm.group_count") * state) + state * inner
    return 4 * layers * numbers


def _feed_forward(says: _Says) -> int:
    """Width of the widest layer, for one token."""
    experts = says("expert_used_count") * says("expert_feed_forward_length")
    shared = says("expert_shared_feed_forward_length")
    return max(says.most("feed_forward_length"), experts + shared, 2 * says("ssm.inner_size"))
