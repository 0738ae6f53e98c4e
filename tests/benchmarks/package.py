"""The package that `make package` made: its size, how soon its window is there, and how fast its
engine is beside the one that is compiled for this computer.

The engines are two processes that take turns, A B B A, with the same code and one with the
package's libraries; 128 greedy tokens each. The window is timed on a screen in memory, from the
start of the process to its first painting, with the disk cache warm.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from headstart.core.models.ref import ModelRef
from headstart.home import Home
from headstart.hub.library import ref, starter_model
from tests.benchmarks.decode import TOKENS, generator, request, turn
from tests.benchmarks.peers import bench_cache
from tests.benchmarks.report import Report, json_path, paired_ratios, spread
from tests.models.wide import make_wide
from tests.support.screen import Screen, screen

PACKAGE = Path(__file__).resolve().parents[2] / "build" / "package" / "dist" / "headstart"
PAIRS_SMALL, PAIRS_WIDE, STARTS = 31, 9, 9
STORY = "Tell a very long story about a dog, a cat and a river."
# what takes the room, by the beginnings of paths in the package
PARTS = {
    "the starter model": ("headstart/resources/models",),
    "Qt": ("PySide6", "shiboken6", "libQt6", "libicu", "libpyside", "libshiboken"),
    "llama.cpp": ("llama_cpp",),
    "numpy": ("numpy", "libscipy", "libgfortran"),
    "Python": ("libpython", "python3", "base_library"),
}


class Engine:
    """A process with an engine, which decodes when it is asked to. `libraries`: llama.cpp's, in
    place of those that are compiled for this computer."""

    def __init__(self, model: ModelRef, libraries: Path | None) -> None:
        environment = {**os.environ}
        if libraries is not None:
            environment["LLAMA_CPP_LIB_PATH"] = str(libraries)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks.package", "--child", str(model.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )
        assert self._process.stdout is not None
        self.name = self._process.stdout.readline().strip()

    def speed(self) -> float:
        """Tokens per second."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)


def child(path: Path) -> int:
    from headstart.engine.backends.llama_cpp.library import build_name

    engine, model = generator(), ref(path)
    wanted, warm_up = request(model, STORY, tokens=TOKENS), request(model, STORY, tokens=8)
    turn(engine, warm_up)
    print(build_name(), flush=True)
    for _ in sys.stdin:
        turn(engine, warm_up)
        stats, _text = turn(engine, wanted)
        assert stats.generated_tokens == TOKENS
        print(stats.tokens_per_second or 0.0, flush=True)
    engine.close()
    return 0


def vs_native(model: ModelRef, pairs: int) -> list[float]:
    packaged = Engine(model, PACKAGE / "_internal" / "llama_cpp" / "lib")
    native = Engine(model, None)
    print(f"  packaged: {packaged.name}\n  native:   {native.name}")
    assert packaged.name != native.name
    try:
        return paired_ratios(packaged.speed, native.speed, pairs)
    finally:
        packaged.close()
        native.close()


def sizes() -> dict[str, float]:
    """Megabytes by part; symbolic links take no room."""
    found = dict.fromkeys([*PARTS, "other"], 0.0)
    for path in PACKAGE.rglob("*"):
        if path.is_symlink() or not path.is_file():
            continue
        name = path.relative_to(PACKAGE).as_posix().removeprefix("_internal/")
        part = next((part for part, begins in PARTS.items() if name.startswith(begins)), "other")
        found[part] += path.stat().st_size / 1e6
    return found


def start_seconds(shown: Screen, place: Path) -> float:
    """From the start of the process to the first painting of its window."""
    home = Home(place)
    home.log.unlink(missing_ok=True)
    process = subprocess.Popen(
        [str(PACKAGE / "headstart"), "--home", str(place), "--debug"],
        env=shown.environment,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            log = home.log.read_text(encoding="utf-8") if home.log.exists() else ""
            for line in log.splitlines():
                before, said, after = line.partition("the window was painted after ")
                if said and before:
                    return float(after.split(" ")[0])
            time.sleep(0.05)
        raise AssertionError("no window")
    finally:
        process.terminate()
        process.wait(30)


def main() -> None:
    path = json_path(__doc__ or "")
    model = starter_model()
    assert model is not None
    assert PACKAGE.exists(), "make package"
    report = Report("the package, and its engine beside the one compiled for this computer")
    parts = sizes()
    taken = ", ".join(
        f"{part} {size:.0f}" for part, size in sorted(parts.items(), key=lambda item: -item[1])
    )
    report.add("package_mb", sum(parts.values()), "at most 450", f"({taken})")
    with tempfile.TemporaryDirectory() as place, screen(os.environ) as shown:
        start_seconds(shown, Path(place))  # fills caches and makes the database
        starts = [start_seconds(shown, Path(place)) for _ in range(STARTS)]
    report.add("package_window_s", statistics.median(starts), "at most 1.5", spread(starts))
    ratios = vs_native(model, PAIRS_SMALL)
    report.add(
        "package_vs_native_smollm2", statistics.median(ratios), "at least 0.97", spread(ratios)
    )
    wide = bench_cache() / "wide-1.2b-q8_0.gguf"
    if not wide.exists():
        make_wide(model.path, wide)
    ratios = vs_native(ref(wide), PAIRS_WIDE)
    report.add("package_vs_native_wide", statistics.median(ratios), "at least 0.97", spread(ratios))
    report.write(path)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        sys.exit(child(Path(sys.argv[2])))
    main()
