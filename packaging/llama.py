"""Compiles llama-cpp-python, for this computer or for every processor; a part of the set-up.

Standard library only. Its source and the wheels are kept in the user's cache for the next checkout.
Not in pip's own cache: that one knows neither our compiler flags nor this CPU, and a wheel compiled
for another CPU ends with an illegal instruction.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# what is put in front of every file of llama.cpp, and what that includes
FIXES = ROOT / "packaging" / "native" / "fixes.h"
HEADERS = sorted(FIXES.parent.glob("*.h"))
# CMake's description of the compiler that is used on Windows
ZIG = FIXES.parent / "zig.cmake"
ZIG_PARTS = (ZIG, ZIG.with_suffix(".inc"), ZIG.with_name("zig_rules.cmake"))
# a library for each generation of processors, the best of which is chosen when the program runs;
# llama.cpp's own rule installs them in the wheel's `bin`
PORTABLE = ("-DGGML_NATIVE=OFF", "-DGGML_BACKEND_DL=ON", "-DGGML_CPU_ALL_VARIANTS=ON")

# in the environment: the path of Zig's program
ZIG_PROGRAM = "HEADSTART_ZIG"

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


def pinned(name: str = "llama_cpp_python") -> str:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith(f"{name}=="))


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
    folder = kept_in(arguments)
    kept = sorted(folder.glob("llama_cpp_python-*.whl"))
    if not kept:
        folder.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ}
        # CMake reads a backslash as an escape, and a name of a folder may have a space
        included = f'-include "{FIXES.as_posix()}"'
        for flags in ("CFLAGS", "CXXFLAGS"):
            environment[flags] = f"{os.environ.get(flags, '')} {included}".strip()
        cmake = [os.environ.get("CMAKE_ARGS", ""), *arguments]
        if brings_compiler():
            if ZIG_PROGRAM not in environment:
                run([*pip, "install", "-q", pinned("ziglang")], environment)
                environment[ZIG_PROGRAM] = _zig(pip[0]).as_posix()
            cmake.append(shlex.quote(f"-DCMAKE_TOOLCHAIN_FILE={ZIG.as_posix()}"))
        if brings_compiler() or sys.platform == "win32":
            # else CMake takes Visual Studio's, which asks no CC
            environment["CMAKE_GENERATOR"] = "Ninja"
        environment["CMAKE_ARGS"] = " ".join(cmake).strip()
        environment.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count() or 1))
        build = [*pip, "wheel", "-q", "--no-deps", "--no-cache-dir", "-w", str(folder)]
        run([*build, str(source(pip, run))], environment)
        kept = sorted(folder.glob("llama_cpp_python-*.whl"))
    return str(kept[-1])


def kept_in(arguments: list[str]) -> Path:
    """The folder of the wheel that is compiled with these arguments of CMake, by all that decides
    its bytes."""
    portable = set(PORTABLE) <= set(arguments)
    processor = platform.machine() if portable else _processor()
    key = hashlib.sha256(f"{pinned()} {platform.python_version()} {processor}".encode())
    for header in HEADERS:
        key.update(header.read_bytes())
    key.update(" ".join(arguments).encode())
    key.update(compiler_key())
    return _cache() / key.hexdigest()[:16]


def compiler_key(platform: str = sys.platform) -> bytes:
    """The compiler, as far as this project chooses it; empty where the system's is taken."""
    if brings_compiler(platform):
        return b"".join([pinned("ziglang").encode(), *(part.read_bytes() for part in ZIG_PARTS)])
    return os.environ.get("CC", "").encode() if platform == "win32" else b""


def brings_compiler(platform: str = sys.platform) -> bool:
    """True on Windows, unless CC names a compiler: Microsoft's does not know the headers that are
    put in front, and few computers have one. Also where a program of Zig is named."""
    return (platform == "win32" and not os.environ.get("CC")) or ZIG_PROGRAM in os.environ


def lacks_kernels(platform: str = sys.platform) -> str:
    """Words for a compiler that passes over our headers; empty for all others."""
    named = os.environ.get("CC", "")
    if platform == "win32" and Path(named).stem.casefold() in ("cl", "clang-cl"):
        return f"CC={named} leaves out this project's kernels; without CC they are compiled."
    return ""


def _zig(python: str) -> Path:
    """The program of the package ziglang, which lies in this Python's libraries."""
    code = "import ziglang, pathlib; print(pathlib.Path(ziglang.__file__).parent)"
    # a folder may have a name that the code page of Windows has no letters for
    command = [python, "-X", "utf8", "-c", code]
    asked = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    return Path(asked.stdout.strip(), "zig.exe" if sys.platform == "win32" else "zig")


def _cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ["LOCALAPPDATA"], "headstart-build")
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
