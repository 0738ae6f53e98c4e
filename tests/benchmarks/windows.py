"""Windows, run: counts of `make windows-trial` (packaging/windows_trial.py), on wine; no seconds.

python -m tests.benchmarks.windows --json FILE
"""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path

from tests.benchmarks.report import Report, json_path

PACKAGING = Path(__file__).resolve().parents[2] / "packaging"


def figure(text: str, number: int) -> float:
    """The whole number at this place of a text, from 0 on; nan where a step said nothing."""
    found = re.findall(r"\d+", text)
    return float(found[number]) if len(found) > number else math.nan


def main() -> None:
    path = json_path(__doc__ or "")
    sys.path.insert(0, str(PACKAGING))
    import windows_trial as trial

    if lacks := trial.missing():
        raise SystemExit(f"this needs {', '.join(lacks)}")
    results = {one.name: one for one in trial.all_results([], again=False)}
    report = Report("Windows, on wine")
    answered = all(results[name].right for name in ("answer", "window", "serve"))
    report.add("windows_answers", float(answered), "1")
    rooms = [results[name] for name in trial.ROOMS]
    skipped = [one for room in rooms for one in room.skipped]
    # a room whose tests did not end has one, too
    failures = sum(len(room.failed) or not room.right for room in rooms)
    report.add("windows_unit_failures", failures, "0", f"{len(skipped)} skipped")
    kills, saves, names = results["kills"], results["saves"], results["names"]
    report.add("windows_kill_letters_lost", figure(kills.said, 2), "0 of 30 kills", kills.said)
    report.add("windows_save_against_reader", figure(saves.said, 0), "200 of 200", saves.said)
    passed, failed = figure(names.said, 0), figure(names.said, 2)
    report.add("windows_names_right", passed / (passed + failed), "1.0", names.said)
    report.add("windows_kernels_named", float(results["build"].right), "1", results["build"].said)
    report.write(path)
    print("\nskipped:", *sorted(skipped), sep="\n  ")


if __name__ == "__main__":
    main()
