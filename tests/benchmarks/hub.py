"""The hub: downloads through faults, speed beside the hub's own client, searches, scans, heads.

`python -m tests.benchmarks.hub [--json FILE] [--only faults,speed,window,scan,heads]`. A hub of our
own serves in a process of its own; whatever fails is counted, never asserted.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from headstart.core.errors import ModelProblem
from headstart.hub.online.client import HubClient
from headstart.hub.online.remote_model import RemoteModels
from headstart.hub.shelf import Shelf
from headstart.hub.sources import ModelFolder, ModelSource
from tests.benchmarks.hub_process import HubProcess, blob
from tests.benchmarks.report import Report, spread
from tests.support.download_child import open_queue
from tests.support.gguf_files import make_gguf
from tests.support.hub_server import HubServer, Repo

TRIALS, HEADS, FILES = 300, 1_000, 500
SIZES = (3 << 20, 12 << 20, 30 << 20)
KINDS = (
    "cut", "cut", "stall", "status", "retry-after", "wrong", "truncation", "redirect", "drip",
    "no-ranges", "page", "disk-full", "kill", "kill",
)  # fmt: skip
LARGE, PAIRS = 1 << 30, 7


# --- faults ------------------------------------------------------------------------------


def fault_of(kind: str, size: int, rng: random.Random) -> list[list[Any]]:
    """What the next answers do wrong."""
    at = rng.randrange(size)
    return {
        "cut": [["cut", rng.randrange(size), 0] for _ in range(rng.randrange(1, 4))],
        "stall": [["stall", at, 5.0]],
        "status": [["status", 0, rng.choice([500, 502, 503, 504, 408])] for _ in range(2)],
        "retry-after": [["status", rng.choice([0, 1]), 429]],
        "wrong": [["wrong", at, 0]],
        "truncation": [["cut", size - rng.randrange(1, 1000), 0]],
        "redirect": [["redirect", 0, 0]] * rng.randrange(1, 4),
        "drip": [["drip", at, 3_000]],
        "no-ranges": [["cut", at, 0], ["no-ranges", 0, 0]],
        "page": [["page", 0, 0]],
    }.get(kind, [])


def run_trial(
    hub: HubProcess, kind: str, number: int, folder: Path, size: int
) -> tuple[bool, float]:
    """One download with one kind of fault: whether it ended right, and bytes sent over its size."""
    rng = random.Random(number)
    repo = f"maker/model-{size}-GGUF"
    faults = fault_of(kind, size, rng)
    hub.ask(faults=faults, reset=True, rate=20e6 if kind in ("kill", "disk-full") else 0)
    command = [
        sys.executable,
        "-m",
        "tests.support.download_child",
        hub.endpoint,
        str(folder),
        repo,
    ]
    kills = rng.randrange(1, 4) if kind == "kill" else 0
    if kind == "disk-full":
        return _full(hub, command, folder, size, rng)
    for _ in range(kills):
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(rng.uniform(0.02, size / 20e6 / (kills + 1)))
        child.kill()
        child.wait()
    hub.ask(rate=0)
    return _ends_right(command, size), hub.ask()["sent"] / size


def _ends_right(command: list[str], size: int) -> bool:
    found = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    state, _, path = (found.stdout.splitlines() or ["", "- - -"])[-1].partition(" - ")[0:3]
    return state == "done" and Path(path).read_bytes() == blob(size, size)


def _full(
    hub: HubProcess, command: list[str], folder: Path, size: int, rng: random.Random
) -> tuple[bool, float]:
    """A small disk in memory: stops with a word and what has arrived, and goes on with room."""
    disk = folder / "cache"
    disk.mkdir(parents=True)
    room = (64 << 20) + rng.randrange(size // 8, size)
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={room}", "tmpfs", disk], check=False
    ).returncode:
        return False, 1.0
    try:
        stopped = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        clear = stopped.stdout.splitlines()[-1].startswith("failed download-disk-full")
        subprocess.run(
            ["mount", "-o", f"remount,size={room + 2 * size + (64 << 20)}", disk], check=True
        )
        book = folder / "book.json"
        book.write_text(book.read_text().replace('"failed"', '"queued"'))
        hub.ask(rate=0)
        right = _ends_right(command, size)
        return clear and right, hub.ask()["sent"] / size
    finally:
        subprocess.run(["umount", "-l", disk], check=False)


def measure_faults(report: Report, trials: int) -> None:
    hub = HubProcess()
    hub.ask(
        files={f"maker/model-{size}-GGUF": {"model-Q4_K_M.gguf": [size, size]} for size in SIZES}
    )
    right, ratios, wrong = 0, [], list[str]()
    for number in range(trials):
        kind, size = KINDS[number % len(KINDS)], SIZES[number // len(KINDS) % len(SIZES)]
        with tempfile.TemporaryDirectory() as folder:
            good, ratio = run_trial(hub, kind, number, Path(folder), size)
        right += good
        ratios.append(ratio)
        if not good:
            wrong.append(f"{number}: {kind}")
    hub.close()
    print("\n".join(wrong))
    report.add("downloads_right", right, f"{TRIALS} of {TRIALS}", f"of {trials}")
    worst = f"{spread(ratios)}, worst {max(ratios):.2f}"
    report.add("bytes_over_size", statistics.median(ratios), "at most 1.1", worst)


# --- speed -------------------------------------------------------------------------------


def measure_speed(report: Report, pairs: int) -> None:
    from huggingface_hub import hf_hub_download

    hub = HubProcess()
    repo, name = "maker/large-GGUF", "large-Q4_K_M.gguf"
    hub.ask(files={repo: {name: [LARGE, 1]}})
    os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"

    def theirs() -> float:
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            hf_hub_download(repo, name, cache_dir=folder, endpoint=hub.endpoint)
            return LARGE / (time.perf_counter() - began)

    def ours() -> float:
        with tempfile.TemporaryDirectory() as folder:
            queue = open_queue(hub.endpoint, Path(folder))
            details = HubClient(endpoint=hub.endpoint).details(repo)
            began = time.perf_counter()
            queue.add(details.wanted(details.variants[0]))
            while queue.all()[0].state.value not in ("done", "failed"):
                time.sleep(0.002)
            took = time.perf_counter() - began
            assert queue.all()[0].path, queue.all()[0].reason
            queue.close()
            return LARGE / took

    ratios, speeds = [], []
    theirs()
    for number in range(pairs):
        pair = [ours(), theirs()] if number % 2 else [theirs(), ours()][::-1]
        ratios.append(pair[0] / pair[1])
        speeds.append(pair[0] / 1e6)
    hub.close()
    note = f"{spread(ratios)}; ours {statistics.median(speeds):.0f} MB/s with the checksum"
    report.add("download_vs_client", statistics.median(ratios), "at least 0.9", note)


# --- scans and heads ---------------------------------------------------------------------


def measure_scan(report: Report) -> None:
    folder = Path(tempfile.mkdtemp())
    data = make_gguf(vocabulary=32_000, weights=1 << 20)
    for number in range(FILES):
        path = folder / f"maker{number % 20}/repo{number}/m{number}-Q4_K_M.gguf"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data + number.to_bytes(4, "little"))
        os.utime(path, (1e9, 1e9))
    cold: list[float] = []
    warm: list[float] = []
    for _ in range(5):
        known = folder / "known.json"
        known.unlink(missing_ok=True)
        for figures in (cold, warm, warm):
            shelf = Shelf(known, lambda: [ModelFolder(ModelSource.FOLDER, folder)])
            began = time.perf_counter()
            found = shelf.look()
            figures.append(time.perf_counter() - began)
            assert len(found) == FILES + 1
    shutil.rmtree(folder)
    report.add("scan_500_cold_s", statistics.median(cold), "at most 1", spread(cold))
    milliseconds = [1000 * value for value in warm]
    report.add(
        "scan_500_warm_ms", statistics.median(milliseconds), "at most 50", spread(milliseconds)
    )


def measure_heads(report: Report, count: int) -> None:
    """Mutated headers through ranges: a verdict each."""
    sound = make_gguf(vocabulary=2_000)
    hub = HubServer({})
    client = HubClient(endpoint=hub.endpoint)
    models, rng = RemoteModels(client), random.Random(3)
    read = refused = broken = 0
    for _ in range(count):
        data = bytearray(sound)
        for _ in range(rng.randrange(1, 12)):
            data[rng.randrange(900)] = rng.randrange(256)
        hub.repos["a/b-GGUF"] = Repo({"m-Q4_K_M.gguf": bytes(data)})
        details = client.details("a/b-GGUF")
        try:
            models.shape(details, details.variants[0])
            models.card(details, details.variants[0])
            read += 1
        except ModelProblem:
            refused += 1
        except Exception as error:
            broken += 1
            print(type(error), error)
    hub.close()
    report.add(
        "heads_with_a_verdict", read + refused, f"{HEADS}", f"{read} read, {refused} refused"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    parser.add_argument("--only", default="faults,speed,window,scan,heads")
    parser.add_argument("--trials", type=int, default=TRIALS)
    arguments = parser.parse_args()
    wanted = arguments.only.split(",")
    report = Report("hub (a server of our own on this computer)")
    if "scan" in wanted:
        measure_scan(report)
    if "heads" in wanted:
        measure_heads(report, HEADS)
    if "speed" in wanted:
        measure_speed(report, PAIRS)
    if "window" in wanted:
        from tests.benchmarks.hub_window import measure_window

        measure_window(report)
    if "faults" in wanted:
        measure_faults(report, arguments.trials)
    report.write(arguments.json)


if __name__ == "__main__":
    main()
