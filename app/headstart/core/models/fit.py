"""Memory that a model takes on this computer, compared with the free memory. Pure.

One estimate for every use: choosing a context length, loading, drafts, and files that are not
downloaded yet. It follows how llama.cpp allocates: keys and values for the whole context at once,
recurrent states for each sequence, and one buffer as large as the larger of its two phases: a layer
of a full batch, or the logits of one.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from headstart.core.settings.schema import LEAST_CONTEXT, EngineSettings, KvType

Verdict = Literal["fits", "tight", "no"]

# bytes of one number of keys or values; q8_0 stores 32 of them in 34 bytes
KV_BYTES: dict[KvType, float] = {"f16": 2.0, "bf16": 2.0, "q8_0": 34 / 32}
# tokens of a forward, and sequences of a context, unless the settings say otherwise
BATCH = 256
SEQUENCES = 4
# models with a recurrent state have no trees: a live sequence and a spare one. If llama.cpp can
# undo part of the last forward, it keeps `UNDO` more states of each
RECURRENT_SEQUENCES, UNDO = 2, 4
# candidates for an automatic context, the first fitting one wins; a model that was trained for
# less gets its trained length
MOST_AUTOMATIC = 32_768
_AUTOMATIC = (MOST_AUTOMATIC, 24_576, 16_384, 12_288, 8_192, 6_144, 4_096, 2_048)
# enough context for a conversation or a reasoning model; used whenever it fits
_USEFUL = 8_192
# largest share of memory for the keys and values of a larger automatic context
_KV_SHARE = 1 / 8
# bytes of KV for a useful conversation, relative to weights of unknown shape
_UNKNOWN_SHARE = 0.1
# least share of memory left to the system and other programs
_SPARE_SHARE = 0.05
# usable share of memory once other programs are closed
_MOST_SHARE = 0.9
# bytes of a token's text and merges in the tokenizer, and bytes that every context takes
_VOCABULARY_BYTES, _FIXED_BYTES = 350, 12 << 20
_STEP = 256
# a window-sized cache needs snapshots wherever prompts continue: worth it from this saving on
_WINDOW_PAYS = 512 << 20


class ModelShape(Struct, frozen=True):
    """Facts of a model's file that decide its memory."""

    weights: int  # bytes
    trained: int  # tokens of context; 0 if unknown
    # numbers per token as keys, and as values, over all layers
    keys: int = 0
    values: int = 0
    # bytes of one recurrent state, and the number of states in a context
    state: int = 0
    states: int = RECURRENT_SEQUENCES
    vocabulary: int = 0
    width: int = 0
    # of the widest layer: with experts, the sum of those active for a token
    feed_forward: int = 0
    heads: int = 0
    # masks of a batch: one for each kind of attention
    masks: int = 1
    # number of layers, and the bytes of their weights
    layers: int = 0
    layer_weights: int = 0
    # tokens visible to sliding-window layers, and these layers' share of keys and values
    window: int = 0
    window_keys: int = 0
    window_values: int = 0
    # the model's own layers that draft: their number, and their keys and values per token
    own_layers: int = 0
    own_keys: int = 0
    own_values: int = 0

    @property
    def as_own_draft(self) -> ModelShape:
        """These layers as a draft: their weights are already among the model's."""
        return ModelShape(
            weights=0,
            trained=self.trained,
            keys=self.own_keys,
            values=self.own_values,
            vocabulary=self.vocabulary,
            width=self.width,
            feed_forward=self.feed_forward,
            heads=self.heads,
        )


def unknown_shape(size: int) -> ModelShape:
    """The shape for a file of `size` bytes with an unreadable header: keys and values, which stand
    for the buffers too, in proportion to its weights."""
    per_token = _UNKNOWN_SHARE * size / (2 * _USEFUL)
    return ModelShape(size, 0, keys=int(per_token / 2), values=int(per_token / 2))


class Memory(Struct, frozen=True):
    """Bytes that this program may use in total, and bytes available now."""

    total: int
    available: int


class Need(Struct, frozen=True):
    """Bytes. Weights are mapped files: the system can drop their pages for other programs."""

    weights: int = 0
    kv: int = 0
    buffers: int = 0

    @property
    def beside(self) -> int:
        """Memory that must be free, whatever else runs."""
        return self.kv + self.buffers

    @property
    def total(self) -> int:
        return self.weights + self.beside

    def __add__(self, other: Need) -> Need:
        return Need(self.weights + other.weights, self.kv + other.kv, self.buffers + other.buffers)


class Pair(Struct, frozen=True):
    """A model and its draft, as they will run."""

    target: ModelShape
    draft: ModelShape | None = None

    def need(self, context: int, engine: EngineSettings) -> Need:
        found = need(self.target, context, engine)
        if self.draft is not None:
            found += need(self.draft, min(context, self.draft.trained or context), of_draft(engine))
        return found


def of_draft(engine: EngineSettings) -> EngineSettings:
    """The settings for a draft: it must restore its windows without snapshots."""
    return msgspec.structs.replace(engine, window_cache="whole")


class FittingContext(Struct, frozen=True):
    """A context that would fit; 0 tokens if none does."""

    context: int
    kv_type: KvType


def windowed(shape: ModelShape, context: int, engine: EngineSettings) -> bool:
    """True if sliding-window layers keep no more than their window, because that pays."""
    run = engine.as_run
    if run.window_cache != "auto":
        return run.window_cache == "window" and shape.window > 0
    saved = (context - _window_cells(shape, engine)) * (shape.window_keys + shape.window_values)
    return saved * KV_BYTES[run.kv_type] >= _WINDOW_PAYS


def need(shape: ModelShape, context: int, engine: EngineSettings) -> Need:
    """Memory of a model with a context of `context` tokens."""
    run = engine.as_run
    cells = -(-context // _STEP) * _STEP
    batch = _batch(engine)
    key_bytes = KV_BYTES[run.kv_type]
    # quantized values exist with flash attention only
    value_bytes = key_bytes if run.flash else KV_BYTES["f16"]
    kv = int(cells * (shape.keys * key_bytes + shape.values * value_bytes))
    masked = shape.masks * cells
    if windowed(shape, context, engine):
        unused = max(0, cells - _window_cells(shape, engine))
        kv -= int(unused * (shape.window_keys * key_bytes + shape.window_values * value_bytes))
        masked -= unused
    kv += shape.states * shape.state
    layer = 4 * batch * (3 * shape.feed_forward + 4 * shape.width)
    if shape.keys:
        # the mask, and every score without flash attention
        layer += masked * batch * (2 if run.flash else 4)
        layer += 0 if run.flash else 4 * shape.heads * cells * batch
    logits = 4 * batch * (shape.vocabulary + shape.width)
    rest = shape.vocabulary * _VOCABULARY_BYTES + _FIXED_BYTES
    return Need(shape.weights, kv, max(layer, logits) + rest)


def _batch(engine: EngineSettings) -> int:
    return max(128, engine.batch) if engine.batch else BATCH


def _window_cells(shape: ModelShape, engine: EngineSettings) -> int:
    """Cells that llama.cpp allocates: the window for each sequence, and a batch."""
    return -(-(SEQUENCES * shape.window + _batch(engine)) // _STEP) * _STEP


def on_card(shape: ModelShape, layers: int, context: int, engine: EngineSettings) -> int:
    """Bytes on a graphics card that holds `layers` layers; one more than the model has means
    everything but the input embeddings, which llama.cpp keeps in main memory."""
    if layers <= 0 or not shape.layers:
        return 0
    whole = need(shape, context, engine)
    share = min(layers - 1, shape.layers) / shape.layers
    moved = share * (shape.layer_weights + whole.kv)
    return int(moved) + shape.weights - shape.layer_weights + whole.buffers


def card_layers(shape: ModelShape, context: int, engine: EngineSettings, free: int) -> int:
    """The most layers that fit into `free` bytes of a graphics card's memory."""
    counts = range(shape.layers + 1, 0, -1)
    return next((n for n in counts if on_card(shape, n, context, engine) <= free), 0)


def judge(wanted: Need, memory: Memory) -> Verdict:
    """Compare a model's needs with the memory free now and with the total."""
    if wanted.total <= memory.available - _SPARE_SHARE * memory.total:
        return "fits"
    possible = wanted.total <= _MOST_SHARE * memory.total and wanted.beside <= memory.available
    return "tight" if possible else "no"


def automatic_context(pair: Pair, engine: EngineSettings, memory: Memory) -> int:
    """The context for a pair whose context the program chooses.

    The model's trained length, at most 32,768 tokens, as long as it fits and its keys and values
    take an eighth of the memory at most; 8,192 if they fit at all; else as many as fit.
    """
    trained = pair.target.trained or _USEFUL
    sizes = [trained] if trained < _AUTOMATIC[0] else []
    sizes += [size for size in _AUTOMATIC if size <= trained]
    least = min(sizes)
    for size in sizes:
        wanted = pair.need(size, engine)
        affordable = size <= _USEFUL or wanted.kv <= _KV_SHARE * memory.total
        if affordable and judge(wanted, memory) == "fits":
            return size
    possible = (size for size in sizes if size <= _USEFUL)
    tight = (size for size in possible if judge(pair.need(size, engine), memory) == "tight")
    return next(tight, least)


def largest_context(pair: Pair, engine: EngineSettings, memory: Memory) -> int:
    """The most tokens of context that fit, in steps of 1,024; 0: none."""
    low, high = 0, (pair.target.trained or _AUTOMATIC[0]) // 1024

    def fits(thousands: int) -> bool:
        return judge(pair.need(1024 * thousands, engine), memory) != "no"

    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    if low:
        return 1024 * low
    return LEAST_CONTEXT if judge(pair.need(LEAST_CONTEXT, engine), memory) != "no" else 0


def offer(pair: Pair, context: int, engine: EngineSettings, memory: Memory) -> FittingContext:
    """A smaller context in place of one that does not fit: the same length with keys and values of
    half the size if that is enough, else the largest that fits."""
    run = engine.as_run
    smaller = _with_kv(engine, "q8_0")
    if run.kv_type != "q8_0" and not engine.exact and run.flash:
        if judge(pair.need(context, smaller), memory) != "no":
            return FittingContext(context, "q8_0")
        if not largest_context(pair, engine, memory):
            return FittingContext(largest_context(pair, smaller, memory), "q8_0")
    return FittingContext(largest_context(pair, engine, memory), engine.kv_type)


def _with_kv(engine: EngineSettings, kv_type: KvType) -> EngineSettings:
    return msgspec.structs.replace(engine, kv_type=kv_type)
