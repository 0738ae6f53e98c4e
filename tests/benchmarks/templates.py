"""Chat templates that ask for too much: how long the worst takes, and how much memory.

.venv/bin/python -m tests.benchmarks.templates --json FILE
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.benchmarks.report import Report
from tests.support.heavy_templates import KINDS, all_tried


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here")
    options = parser.parse_args()
    report = Report("templates (each in a process of its own)")
    found = all_tried()
    kinds = ", ".join(f"{len(sources)} {kind}" for kind, sources in KINDS.items())
    slowest = max(found, key=lambda one: one.seconds)
    largest = max(found, key=lambda one: one.megabytes)
    report.add("template_s", slowest.seconds, "at most 2", f"{kinds}; {slowest.template[:40]}")
    report.add("template_peak_mb", largest.megabytes, "at most 200", largest.template[:40])
    refused = sum(bool(one.outcome) and "ended" not in one.outcome for one in found)
    report.add("template_refused", refused, f"{len(found)}")
    report.write(options.json)


if __name__ == "__main__":
    main()
