"""Memory that a model takes on this computer, compared with the memory that is free. Pure.

One estimate for everything that asks: choosing a context length, loading, drafts, and files that
were not downloaded yet. It follows how llama.cpp allocates: keys and values for the whole context
at once, recurrent states for each sequence, and one buffer as large as the larger of its two
phases: a layer of a full batch, or the logits of one.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from headstart.core.settings.schema import LEAST_CONTEXT, EngineSettings, KvType

Verdict = Literal["fits", "tight", "no"]

# bytes of one number of keys or values; q8_0 keeps 32 of them in 34 bytes
KV_BYTES: dict[KvType, float] = {"f16": 2.0, "bf16": 2.0, "q8_0": 34 / 32}
# tokens of a forward, and sequences of a context, unless the settings say otherwise
BATCH = 256
SEQUENCES = 4
# models with a recurrent state have no trees: a live sequence and a spare one. Where llama.cpp can
# go back within the last forward, it keeps so many more states of each
RECURRENT_SEQUENCES, UNDO = 2, 4
# contexts that are chosen automatically, the first one that suits; models that were trained for
# less get that
MOST_AUTOMATIC = 32_768
_AUTOMATIC = (MOST_AUTOMATIC, 24_576, 16_384, 12_288, 8_192, 6_144, 4_096, 2_048)
# the context for a conversation, or a model that reasons, where it fits at all
_USEFUL = 8_192
# keys and values of a larger automatic context may take so much of the memory
_KV_SHARE = 1 / 8
# bytes beside unknown weights, for a useful conversation
_UNKNOWN_SHARE = 0.1
# of the memory, what other programs and the system keep at least
_SPARE_SHARE = 0.05
# the usable share, with everything else out of the way
_MOST_SHARE = 0.9
# a token's text and merges in the tokenizer, and what every context takes
_VOCABULARY_BYTES, _FIXED_BYTES = 350, 12 << 20
_STEP = 256
# a cache of the window only needs snapshots where prompts are to go on from: worth this much memory
_WINDOW_PAYS = 512 << 20


class ModelShape(Struct, frozen=True):
    """Facts of a model's file that decide its memory."""

    weights: int  # bytes
    trained: int  # tokens of context; 0 where that is not known
    # the numbers that a token has as keys, and as values, over all layers
    keys: int = 0
    values: int = 0
    # bytes of one recurrent state, and how many of them a context keeps
    state: int = 0
    states: int = RECURRENT_SEQUENCES
    vocabulary: int = 0
    width: int = 0
    # of the widest layer: with experts, of all that a token goes through
    feed_forward: int = 0
    heads: int = 0
    # masks of a batch: one for each kind of attention
    masks: int = 1
    # how many layers, and the bytes of their weights
    layers: int = 0
    layer_weights: int = 0
    # tokens that layers with a sliding window see, and what of keys and values is theirs
    window: int = 0
    window_keys: int = 0
    window_values: int = 0
    # layers of its own that draft: how many, and what a token has there as keys and values
    own_layers: int = 0
    own_keys: int = 0
    own_values: int = 0

    @property
    def as_own_draft(self) -> ModelShape:
        """These layers as a draft: their weights are among the model's."""
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
    """The shape of a file of `size` bytes whose header says nothing: keys, values and buffers in
    proportion to its weights."""
    per_token = _UNKNOWN_SHARE * size / (2 * _USEFUL)
    return ModelShape(size, 0, keys=int(per_token / 2), values=int(per_token / 2))


class Memory(Struct, frozen=True):
    """Bytes that this program may use at all, and that are available now."""

    total: int
    available: int


class Need(Struct, frozen=True):
    """Bytes. Weights are mapped files: pages of them that other programs need can go."""

    weights: int = 0
    kv: int = 0
    buffers: int = 0

    @property
    def beside(self) -> int:
        """Memory that has to be free, whatever else runs."""
        return self.kv + self.buffers

    @property
    def total(self) -> int:
        return self.weights + self.beside

    def __add__(self, other: Need) -> Need:
        return Need(self.weights + other.weights, self.kv + other.kv, self.buffers + other.buffers)


class Pair(Struct, frozen=True):
    """A model and its draft, as they are going to run."""

    target: ModelShape
    draft: ModelShape | None = None

    def need(self, context: int, engine: EngineSettings) -> Need:
        found = need(self.target, context, engine)
        if self.draft is not None:
            found += need(self.draft, min(context, self.draft.trained or context), of_draft(engine))
        return found


def of_draft(engine: EngineSettings) -> EngineSettings:
    """The settings for a draft: what it keeps of windows has to come back without snapshots."""
    return msgspec.structs.replace(engine, window_cache="whole")


class FittingContext(Struct, frozen=True):
    """A context that would fit; 0 tokens: nothing does."""

    context: int
    kv_type: KvType


def windowed(shape: ModelShape, context: int, engine: EngineSettings) -> bool:
    """True if layers with a sliding window keep no more than that: where it pays."""
    run = engine.as_run
    if run.window_cache != "auto":
        return run.window_cache == "window" and shape.window > 0
    saved = (context - _window_cells(shape, engine)) * (shape.window_keys + shape.window_values)
    return saved * KV_BYTES[run.kv_type] >= _WINDOW_PAYS


def need(shape: ModelShape, context: int, engine: EngineSettings) -> Need:
    """Memory of a model with a context of so many tokens."""
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
        # the mask, and without flash attention every score
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
    """Bytes on a graphics card with so many layers there; one more than the model has is all of it
    but the input's table, which llama.cpp keeps beside the processor."""
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
    """Compare a model's needs with the memory free now and with all of it."""
    if wanted.total <= memory.available - _SPARE_SHARE * memory.total:
        return "fits"
    possible = wanted.total <= _MOST_SHARE * memory.total and wanted.beside <= memory.available
    return "tight" if possible else "no"


def automatic_context(pair: Pair, engine: EngineSettings, memory: Memory) -> int:
    """The context for a pair whose context is left to the program.

    What the model was trained for, at most 32,768 tokens, as long as it fits and its keys and
    values take an eighth of the memory at most; 8,192 where they fit at all; else as many as do.
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
    """The most tokens of context that fit, in steps of 1,024 beyond the first; 0: none."""
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
    """A smaller context to use in place of one that does not fit: the same one with keys and values
    of half the size where that is enough, else the largest that fits."""
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
