"""Servers whose answers never end: by how much the memory grows, and how long that takes.

.venv/bin/python -m tests.benchmarks.servers --json FILE
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.benchmarks.report import Report
from tests.support.endless_child import all_asked
from tests.support.endless_server import endless_server


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here")
    options = parser.parse_args()
    report = Report("servers (each question in a process of its own)")
    with endless_server() as server:
        found = list(all_asked(server))
    largest = max(found, key=lambda one: one.megabytes)
    longest = max(found, key=lambda one: one.seconds)
    report.add("server_peak_mb", largest.megabytes, "at most 64", f"{largest.kind}, {largest.way}")
    report.add("server_longest_s", longest.seconds, "", f"{longest.kind}, {longest.way}")
    told = sum(one.said.startswith("127.0.0.1") for one in found)
    report.add("server_told", told, f"{len(found)}")
    report.write(options.json)


if __name__ == "__main__":
    main()
