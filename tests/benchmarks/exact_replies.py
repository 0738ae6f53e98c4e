"""With the exact setting the same question gives the same text, whatever was reused for it.

Tiny random models of eight families, whose near-ties show every bit that differs; in five modes:
asked again, a second turn, a second turn after a restart, an edited question, and a question that
was prefilled ahead. Each is compared with the same prompt in an engine that keeps nothing.

    .venv/bin/python -m tests.benchmarks.exact_replies --json FILE [--replies 400] [--only llama]
"""

from __future__ import annotations

import argparse
import random
import tempfile
from pathlib import Path

from headstart.core.models.ref import ModelRef
from headstart.engine.prefix import speeds
from headstart.engine.prefix.speeds import PrefixSpeeds
from headstart.hub.library import starter_model
from tests.benchmarks.report import Report
from tests.models.tiny import make_tiny
from tests.support.exact_pairs import FAMILIES, MODES, Pair, run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here")
    parser.add_argument("--replies", type=int, default=400)
    parser.add_argument("--only", default=",".join(FAMILIES))
    options = parser.parse_args()
    starter = starter_model()
    assert starter is not None
    # tiny models prefill faster than a file is opened; here everything that was kept comes back
    speeds.load = lambda *_: PrefixSpeeds(token_seconds=10.0)
    PrefixSpeeds.observe_prefill = lambda *_: None  # type: ignore[method-assign]
    report = Report("exact replies (share of those that are the same)")
    all_equal, all_count = 0, 0
    for family in options.only.split(","):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            path = make_tiny(family, starter.path, folder / "model.gguf")
            pair = Pair(folder, ModelRef(path, "model", path.stat().st_size))
            counts = {mode: [0, 0] for mode in MODES}
            rng = random.Random(family)
            reused = 0
            for number in range(options.replies // len(MODES)):
                reused += run(pair, rng, number, counts)
            pair.close()
        notes = ", ".join(f"{mode} {equal} of {count}" for mode, (equal, count) in counts.items())
        notes += f"; {reused:,} tokens reused"
        equal, count = (sum(one[at] for one in counts.values()) for at in (0, 1))
        report.add(f"exact_equal_{family}", equal / count, "1.0", notes)
        print(f"  {family}: {notes}", flush=True)
        all_equal, all_count = all_equal + equal, all_count + count
    report.add("exact_equal", all_equal / all_count, "1.0")
    report.write(options.json)


if __name__ == "__main__":
    main()
