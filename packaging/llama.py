"""Compiles llama-cpp-python, for this computer or for every processor; a part of the set-up.

Standard library only. Wheels are kept in the user's cache for the next checkout. Not in pip's own
cache: that one knows neither our compiler flags nor this CPU, and a wheel compiled for another CPU
ends with an illegal instruction.
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# what is put in front of every file of llama.cpp, and what that includes
FIXES = ROOT / "packaging" / "native" / "fixes.h"
HEADERS = sorted(FIXES.parent.glob("*.h"))
# a library for each generation of processors, the best of which is chosen when the program runs;
# llama.cpp's own rule installs them in the wheel's `bin`
PORTABLE = ("-DGGML_NATIVE=OFF", "-DGGML_BACKEND_DL=ON", "-DGGML_CPU_ALL_VARIANTS=ON")

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
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base, "headstart-build", key.hexdigest()[:16])
    kept = sorted(folder.glob("llama_cpp_python-*.whl"))
    if not kept:
        folder.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ}
        for flags in ("CFLAGS", "CXXFLAGS"):
            environment[flags] = f"{os.environ.get(flags, '')} -include {FIXES}".strip()
        cmake = [os.environ.get("CMAKE_ARGS", ""), *arguments]
        environment["CMAKE_ARGS"] = " ".join(cmake).strip()
        environment.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count() or 1))
        build = [*pip, "wheel", "-q", "--no-deps", "--no-cache-dir", "-w", str(folder), pinned()]
        run(build, environment)
        kept = sorted(folder.glob("llama_cpp_python-*.whl"))
    return str(kept[-1])


def _processor() -> str:
    """What decides which instructions the compiler may use."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line for line in lines if line.startswith(("flags", "Features")))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
