"""How near the estimate of a model's memory is to what it takes: for `fidelity`.

Each case is a process of its own that loads the model, and a draft beside it, and does what replies
do. `python -m tests.benchmarks.fit FILE DRAFT CONTEXT KV` prints the bytes by which it has grown.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

from headstart.core.models.fit import Pair
from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import EngineSettings, validated
from headstart.hub.library import starter_model
from headstart.hub.shapes import read_shape
from tests.benchmarks.prefix import wide
from tests.benchmarks.report import Report

CONTEXTS, KV_TYPES = (2048, 8192, 16_384), ("f16", "q8_0")
BATCH = 256


def add_fit(report: Report) -> None:
    """`fit_error`: the worst of all cases."""
    worst, shown = 0.0, []
    draft = starter_model()
    assert draft is not None
    path = wide()
    target = ModelRef(path, path.stem, path.stat().st_size)
    cases = itertools.product(CONTEXTS, KV_TYPES, (None, draft))
    for context, kv_type, beside in cases:
        shapes = Pair(read_shape(target), None if beside is None else read_shape(beside))
        engine = validated(EngineSettings, {"context_length": context, "kv_type": kv_type})
        estimate = shapes.need(context, engine).total
        measured = _measured(target, beside, context, kv_type)
        error = estimate / measured - 1
        worst = max(worst, abs(error))
        pair = "pair" if beside is not None else "alone"
        shown.append(f"{context} {kv_type} {pair}: {estimate / 1e6:,.0f} of {measured / 1e6:,.0f}")
        print(f"  {shown[-1]} MB ({error:+.1%})", flush=True)
    report.add("fit_error", worst, "at most 0.1", f"the worst of {len(shown)} cases")


def _measured(target: ModelRef, draft: ModelRef | None, context: int, kv_type: str) -> int:
    command = [sys.executable, "-m", "tests.benchmarks.fit", str(target.path)]
    command += ["" if draft is None else str(draft.path), str(context), kv_type]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stdout.split()[-1])


def _child(target: str, draft: str, context: str, kv_type: str) -> int:
    import psutil

    from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder

    asked = {"context_length": int(context), "kv_type": kv_type}
    engine = validated(EngineSettings, asked)
    process = psutil.Process()
    before = process.memory_info().rss
    decoders = [
        LlamaCppDecoder(Path(path), engine, clamp=path == draft) for path in (target, draft) if path
    ]
    tokens = [1 + index * 7 % 1000 for index in range(BATCH)]
    for decoder in decoders:
        for _ in range(3):
            decoder.forward(tokens, [BATCH - 1])
        decoder.forward(tokens[:16], range(16))
    # what the idle engine does with a draft: it is scored on a whole reply
    decoders[-1].forward(tokens, range(BATCH if draft else 1))
    return process.memory_info().rss - before


if __name__ == "__main__":
    print(_child(*sys.argv[1:]))
