"""Times a loaded model with several batches and both kinds of attention; for graphics cards.

Runs in the child process of `probe`, so that crashes are harmless.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import llama_cpp as lib
import msgspec

from headstart.core.models.tuning import BATCHES, Timing
from headstart.core.settings.schema import EngineSettings
from headstart.engine.backends.llama_cpp.batch import LlamaBatch
from headstart.engine.backends.llama_cpp.context import LlamaContext

# tokens to prefill, and to decode after them
_READ, _WRITTEN = 1024, 16
_CONTEXT = 1280
# the first forward may take this many times longer: it compiles the GPU kernels
_COMPILING = 25


def timings(llama: LlamaContext, engine: EngineSettings, longest: float) -> Iterator[Timing]:
    """Yield each timing as soon as it is measured; none if a batch takes longer than `longest`
    seconds, as the user would wait too long on such a card."""
    flash = engine.flash
    first = _time(llama, engine, BATCHES[0], flash, longest)
    if first is None:
        return
    yield first
    kept = first
    if engine.flash_attention == "auto" and engine.kv_type != "q8_0" and not engine.exact:
        # llama.cpp supports quantized values only with flash attention
        plain = _time(llama, engine, BATCHES[0], False, longest)
        if plain is not None:
            yield plain
            kept = min(first, plain, key=lambda timing: timing.seconds)
    if engine.batch:
        return
    for batch in BATCHES[1:]:
        found = _time(llama, engine, batch, kept.flash, longest * batch / BATCHES[0])
        if found is None:
            return
        yield found


def _time(
    llama: LlamaContext, engine: EngineSettings, batch: int, flash: bool, longest: float
) -> Timing | None:
    wanted = msgspec.structs.replace(
        engine,
        context_length=_CONTEXT,
        batch=batch,
        flash_attention="on" if flash else "off",
        exact=False,
    )
    context = llama.another(wanted)
    if not context:
        return None
    rows = LlamaBatch(batch, 1)
    try:
        tokens = [1 + number % 97 for number in range(batch)]
        for most in (_COMPILING * longest, longest):
            taken = _forward(context, rows, tokens, 0)
            lib.llama_memory_clear(lib.llama_get_memory(context), False)
            if taken is None or taken > most:
                return None
        began = perf_counter()
        for start in range(0, _READ, batch):
            if _forward(context, rows, tokens, start) is None:
                return None
        read = perf_counter()
        for number in range(_WRITTEN):
            if _forward(context, rows, tokens[:1], _READ + number) is None:
                return None
        written = perf_counter()
        return Timing(batch, flash, _READ / (read - began), _WRITTEN / (written - read))
    finally:
        rows.close()
        lib.llama_free(context)


def _forward(context: Any, rows: LlamaBatch, tokens: list[int], start: int) -> float | None:
    """Seconds of a forward with one row of logits; None: it failed."""
    began = perf_counter()
    rows.fill(tokens, start, [len(tokens) - 1], 0)
    if lib.llama_decode(context, rows.native) != 0:
        return None
    lib.llama_synchronize(context)
    return perf_counter() - began
