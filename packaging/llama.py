"""Compiles llama-cpp-python, for this computer or for every processor; a part of the set-up.

Standard library only. Its source and the wheels are kept in the user's cache for the next checkout.
Not in pip's own cache: that one knows neither our compiler flags nor this CPU, and a wheel compiled
for another CPU ends with an illegal instruction.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# what is put in front of every file of llama.cpp, and what that includes
FIXES = ROOT / "packaging" / "native" / "fixes.h"
HEADERS = sorted(FIXES.parent.glob("*.h"))
# a library for each generation of processors, the best of which is chosen when the program runs;
# llama.cpp's own rule installs them in the wheel's `bin`
PORTABLE = ("-DGGML_NATIVE=OFF", "-DGGML_BACKEND_DL=ON", "-DGGML_CPU_ALL_VARIANTS=ON")

# what tests read of llama.cpp: real chat templates and real vocabularies
_FOR_TESTS = "vendor/llama.cpp/models/"

Run = Callable[[list[str], dict[str, str]], None]


def libraries(extra: str) -> list[str]:
    """What the project needs, and its optional dependencies of this name; without what is
    compiled here, which gets a step of its own."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = project["dependencies"] + project["optional-dependencies"][extra]
    return [line for line in wanted if not line.startswith("llama-cpp-python")]


def pinned() -> str:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith("llama_cpp_python=="))


def source(pip: list[str], run: Run) -> Path:
    """The path of the sdist, fetched once.

    pip asks a source for its metadata and gets what builds it for that, as wheels: `--no-binary
    :all:` would compile CMake first.
    """
    kept = _cache() / f"llama_cpp_python-{_release()}.tar.gz"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as work:
            fetch = [*pip, "download", "-q", "--no-deps", "--no-binary", "llama_cpp_python"]
            run([*fetch, "-d", work, pinned()], {**os.environ})
            (fetched,) = Path(work).glob("*.tar.gz")
            fetched.replace(kept)
    return kept


def for_tests(environment: Path) -> Path:
    """The folder of a virtual environment with llama.cpp's own `models`."""
    return environment / "share" / f"llama.cpp-{_release()}" / "models"


def keep_for_tests(sdist: Path, environment: Path) -> None:
    """Put the part of the source that tests read into the virtual environment: it is there before
    the first test, and goes with the environment."""
    target = for_tests(environment)
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as work:
        with tarfile.open(sdist) as archive:
            for member in archive:
                _top, _slash, inside = member.name.partition("/")
                if not inside.startswith(_FOR_TESTS) or not member.isfile():
                    continue
                written = Path(work, "models", inside.removeprefix(_FOR_TESTS))
                data = archive.extractfile(member)
                assert data is not None
                written.parent.mkdir(parents=True, exist_ok=True)
                with data, written.open("wb") as file:
                    shutil.copyfileobj(data, file)
        # whole or not at all
        Path(work, "models").replace(target)


def wheel(pip: list[str], arguments: list[str], run: Run) -> str:
    """The path of the wheel, compiled with these arguments of CMake unless it is kept already.

    `run` starts pip with an environment, and ends the set-up when that fails.
    """
    portable = set(PORTABLE) <= set(arguments)
    processor = platform.machine() if portable else _processor()
    key = hashlib.sha256(f"{pinned()} {platform.python_version()} {processor}".encode())
    for header in HEADERS:
        key.update(header.read_bytes())
    key.update(" ".join(arguments).encode())
    folder = _cache() / key.hexdigest()[:16]
    kept = sorted(folder.glob("llama_cpp_python-*.whl"))
    if not kept:
        folder.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ}
        for flags in ("CFLAGS", "CXXFLAGS"):
            environment[flags] = f"{os.environ.get(flags, '')} -include {FIXES}".strip()
        cmake = [os.environ.get("CMAKE_ARGS", ""), *arguments]
        environment["CMAKE_ARGS"] = " ".join(cmake).strip()
        environment.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count() or 1))
        build = [*pip, "wheel", "-q", "--no-deps", "--no-cache-dir", "-w", str(folder)]
        run([*build, str(source(pip, run))], environment)
        kept = sorted(folder.glob("llama_cpp_python-*.whl"))
    return str(kept[-1])


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "headstart-build")


def _release() -> str:
    return pinned().partition("==")[2].strip()


def _processor() -> str:
    """What decides which instructions the compiler may use."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line for line in lines if line.startswith(("flags", "Features")))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
