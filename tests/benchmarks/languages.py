"""The cost of another language at the start, and what walks through the window find in each.

Starts are fresh processes in turns, with bytecode; a language costs the difference to the English
start beside it. `--before APP` compares English with the `app` folder of an older checkout.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from headstart.core.text.languages import ENGLISH, LANGUAGES
from tests.benchmarks.report import Report, json_path, spread

ROOT = Path(__file__).resolve().parents[2]
RUNS = 15
# the longest file, a font of its own, the other direction
OTHERS = ("de", "ja", "ar")
SIZES = ("720x480", "1000x700", "1400x900")


def _start(home: Path, language: str, app: Path) -> tuple[float, float]:
    """Milliseconds of a clock, and of the processor, until the window answers."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "HEADSTART_LANGUAGE": language}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPATH"] = str(app)
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.startup", "--child", str(home)],
        env=environment, cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = json.loads(done.stdout.splitlines()[-1])
    return (found["ready"] - began) * 1_000, found["cpu"] * 1_000


def _starts(report: Report, before: Path | None) -> None:
    kinds = [(code, ROOT / "app") for code in ("en", *OTHERS)]
    if before is not None:
        kinds.append(("en", before))
    runs: list[list[tuple[float, float]]] = []
    with tempfile.TemporaryDirectory() as place:
        homes = [Path(place, str(number)) for number in range(len(kinds))]
        for number in range(RUNS + 1):
            row = [_start(home, code, app) for home, (code, app) in zip(homes, kinds, strict=True)]
            # the first fills caches and makes the database
            if number:
                runs.append(row)
    for at, name in ((0, "ms"), (1, "cpu_ms")):
        for column, (code, app) in enumerate(kinds):
            if not column:
                values = [run[0][at] for run in runs]
                report.add(f"start_en_{name}", statistics.median(values), "", spread(values))
            elif app == ROOT / "app":
                later = [run[column][at] - run[0][at] for run in runs]
                wanted = "" if at else "at most 15"
                title = f"start_{code}_later_{name}"
                report.add(title, statistics.median(later), wanted, spread(later))
            else:
                later = [run[0][at] - run[column][at] for run in runs]
                wanted = "" if at else "at most 5"
                title = f"start_en_later_than_before_{name}"
                report.add(title, statistics.median(later), wanted, spread(later))


def _walk(language: str, modes: tuple[str, ...] = (), **more: str) -> int:
    """The findings of a walk through every page of the window."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "HEADSTART_LANGUAGE": language}
    with tempfile.TemporaryDirectory() as place:
        out = Path(place, "found.json")
        subprocess.run(
            [sys.executable, "-m", "tests.support.walk", str(out), *modes],
            env=environment | more, cwd=ROOT, capture_output=True, check=True,
        )  # fmt: skip
        return len(json.loads(out.read_text("utf-8")))


def main() -> None:
    before = None
    if "--before" in sys.argv:
        at = sys.argv.index("--before")
        before = Path(sys.argv[at + 1]).resolve()
        del sys.argv[at : at + 2]
    path = json_path(__doc__ or "")
    report = Report("languages and access (offscreen, warm disk cache)")
    _starts(report, before)
    whole = 0
    others = [one for one in LANGUAGES if one is not ENGLISH]
    for one in others:
        check = [sys.executable, "packaging/translations.py", "check", one.code]
        done = subprocess.run(check, cwd=ROOT, capture_output=True, text=True, check=False)
        whole += done.returncode == 0
    report.add("languages_whole", whole, f"{len(others)} of {len(others)}")
    report.add("words_in_no_table", _walk("en", ("words", "1440x900")), "0")
    report.add("pseudo_findings", _walk("qps", SIZES), "0")
    report.add("mirrored_findings", _walk("qps-mirrored", SIZES), "0")
    report.add("heard_findings", _walk("en", ("heard", "1366x768")), "0")
    contrast = _walk("en", ("contrast", "1000x700"), QT_SCALE_FACTOR="2")
    report.add("contrast_findings", contrast, "0")
    large = _walk("en", SIZES[1:2], WALK_TEXT="200")
    report.add("text_200_findings", large, "0")
    report.write(path)


if __name__ == "__main__":
    main()
