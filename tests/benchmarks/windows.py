"""Windows, run: counts of `make windows-trial` (packaging/windows_trial.py), on wine; no seconds.

python -m tests.benchmarks.windows --json FILE
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tests.benchmarks.report import Report, json_path

PACKAGING = Path(__file__).resolve().parents[2] / "packaging"


def numbers(text: str) -> list[int]:
    """The whole numbers of a text, in their order."""
    return [int(one) for one in re.findall(r"\d+", text)]


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
    report.add(
        "windows_unit_failures", sum(len(room.failed) + (not room.right) for room in rooms), "0",
        f"{len(skipped)} skipped",
    )  # fmt: skip
    kills, saves, names = results["kills"], results["saves"], results["names"]
    report.add("windows_kill_words_lost", numbers(kills.said)[2], "0 of 30 kills", kills.said)
    report.add("windows_save_against_reader", numbers(saves.said)[0], "200 of 200", saves.said)
    passed, _left_out, failed = numbers(names.said)[:3]
    report.add("windows_names_right", passed / max(1, passed + failed), "1.0", names.said)
    report.add("windows_kernels_named", float(results["build"].right), "1", results["build"].said)
    report.write(path)
    print("\nskipped:", *sorted(skipped), sep="\n  ")


if __name__ == "__main__":
    main()
