"""Runs benchmarks, makes one table of their figures: `python -m tests.benchmarks FOLDER [NAME...]`.

Each runs in a process of its own. What was not run this time keeps its figures, with the date, the
machine and the commit of its own run.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).parents[2]
# quick ones first: who stops in between has most of the table
NAMES = (
    "startup", "fidelity", "encryption", "threads", "package", "exchange", "memory", "decode",
    "kernels", "engines", "storage", "hub", "outside", "transcript", "exactness", "prefix", "heads",
    "speculation",
)  # fmt: skip


def missing(name: str) -> str:
    """Why a benchmark cannot run here; empty if it can."""
    if name == "package" and not (ROOT / "build" / "package" / "dist").is_dir():
        return "`make package` comes first"
    if name == "encryption" and importlib.util.find_spec("sqlcipher3") is None:
        return "sqlcipher3-wheels is not installed"
    return ""


def machine() -> str:
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text(encoding="utf-8", errors="replace").splitlines()
        named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        cpu = named[0] if named else cpu
    cores, memory = psutil.cpu_count(), psutil.virtual_memory().total / (1 << 30)
    return f"{cpu}, {cores} cores, {memory:.0f} GiB, {platform.system()}"


def commit() -> str:
    """Of the clone, with a + where files differ from it; empty outside of one."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
        return done.stdout.strip()

    changed = "+" if git("status", "--porcelain", "--untracked-files=no") else ""
    return git("rev-parse", "--short", "HEAD") + changed


def measure(name: str, folder: Path) -> bool:
    """Run one, and note when, where and of what its figures are."""
    figures, begun = folder / f"{name}.json", time.time()
    command = [sys.executable, "-m", f"tests.benchmarks.{name}", "--json", str(figures)]
    done = subprocess.run(command, cwd=ROOT)
    if done.returncode:
        return False
    about = {
        "date": time.strftime("%Y-%m-%d %H:%M", time.localtime(begun)),
        "machine": machine(),
        "commit": commit(),
        "minutes": round((time.time() - begun) / 60, 1),
    }
    (folder / f"{name}.about.json").write_text(json.dumps(about, indent=1) + "\n", "utf-8")
    return True


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def table(folder: Path) -> str:
    """Markdown: one line a figure, under the benchmark with its date, machine and commit."""
    return "\n".join(["# Figures", *_lines(folder), ""])


def _lines(folder: Path) -> Iterator[str]:
    for name in NAMES:
        figures, about = _read(folder / f"{name}.json"), _read(folder / f"{name}.about.json")
        if not figures or not about:
            why = missing(name)
            yield f"\n## {name}\n\nNot run{f': {why}' if why else ''}."
            continue
        notes = _read(folder / f"{name}.notes.json")
        yield f"\n## {name}\n"
        yield f"{about['date']}, commit {about['commit']}, {about['minutes']} minutes, on"
        yield f"{about['machine']}\n"
        yield "| figure | value | |\n|---|---:|---|"
        for key, value in figures.items():
            shown = f"{value:.4g}" if isinstance(value, float) else value
            yield f"| `{key}` | {shown} | {notes.get(key, '')} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in NAMES]
    if unknown:
        parser.error(f"there is no {', '.join(unknown)}; there are {', '.join(NAMES)}")
    given.folder.mkdir(parents=True, exist_ok=True)
    failed = []
    for name in given.names or NAMES:
        if why := missing(name):
            print(f"{name}: {why}")
        elif not measure(name, given.folder):
            failed.append(name)
        # after each: a stop in between loses none
        (given.folder / "table.md").write_text(table(given.folder), encoding="utf-8")
    print(f"\nThe table: {given.folder / 'table.md'}")
    if failed:
        print(f"Failed: {', '.join(failed)}")
    return bool(failed)


if __name__ == "__main__":
    raise SystemExit(main())
