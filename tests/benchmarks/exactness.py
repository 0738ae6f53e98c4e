"""Which weights and key and value types are exact on this processor: the largest difference of a
logit between one row and several, and between two ways of reading the same text. 0 is exact.

The starter model in every type that llama.cpp can make of it.
"""

from __future__ import annotations

from headstart.core.settings.schema import EngineSettings
from headstart.engine import exactness
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.hub.library import starter_model
from tests.benchmarks.peers import bench_cache
from tests.benchmarks.report import Report, json_path
from tests.models.requantized import requantized

# llama.cpp's numbers of file types
TYPES = {
    "F32": 0,
    "F16": 1,
    "BF16": 32,
    "Q8_0": 7,
    "Q6_K": 18,
    "Q5_K": 17,
    "Q4_K": 15,
    "Q5_0": 8,
    "Q4_0": 2,
    "Q4_1": 3,
    "IQ4_NL": 25,
}
KV_TYPES = ("bf16", "q8_0", "f16")


def main() -> None:
    path = json_path(__doc__ or "")
    starter = starter_model()
    assert starter is not None
    report = Report("exactness (largest difference of a logit)")
    for name in TYPES:
        try:
            target = bench_cache() / f"smollm2-{name.lower()}.gguf"
            model = requantized(starter.path, target, TYPES[name], pure=True)
        except RuntimeError as problem:
            print(f"  {problem}", flush=True)
            continue
        for kv in KV_TYPES:
            engine = EngineSettings(context_length=1024, kv_type=kv)  # type: ignore[arg-type]
            decoder = LlamaCppDecoder(model, engine)
            report.add(f"{name.lower()}_{kv}", exactness.check(decoder).gap)
            decoder.close()
        print(f"  {name}: {[report.stats[f'{name.lower()}_{kv}'] for kv in KV_TYPES]}", flush=True)
    report.write(path)


if __name__ == "__main__":
    main()
