"""The targets of the Makefile that people use, for computers without make: `make.cmd run`.

Standard library only; run by the system's Python, as the Makefile's set-up is. Variables follow the
target as they do there: `make.cmd test ARGS="-k window"`.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import bootstrap
import pythons

ROOT = Path(__file__).resolve().parent.parent
HELP = """\
make run     set up if needed, then open the window
make test    set up if needed, then the test suite
make lint    ruff, mypy, import-linter, pip-audit
make setup   only the set-up
make package a folder that needs no Python, under build/package/"""


def commands(target: str, words: Sequence[str]) -> list[list[str]]:
    """The commands of a target, which begin with their Python's arguments; `words` are those of
    ARGS. Raises KeyError for a target that there is not."""
    return {
        "run": [["-P", "-m", "headstart", *words]],
        "test": [["-m", "pytest", "-m", "not proof", "-n", "2", "--dist", "worksteal", *words]],
        "lint": [
            ["-m", "ruff", "check", "."],
            ["-m", "ruff", "format", "--check", "."],
            ["-m", "mypy"],
            ["-c", "from importlinter.cli import lint_imports_command as run; run()"],
            ["packaging/pins.py"],
            ["packaging/audit.py"],
        ],
        "setup": [],
        "package": [["packaging/package.py"]],
    }[target]


def words_of(text: str) -> list[str]:
    """The words of ARGS, with quotes as in a shell; a backslash is a part of a path."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.escape, lexer.commenters = True, "", ""
    return list(lexer)


def another(given: Mapping[str, str], platform: str = sys.platform) -> list[str]:
    """The command of the Python that is to run this instead, of those that Windows' launcher knows:
    the one that is asked for, or the newest that fits where this one does not; empty for this."""
    if platform != "win32" or shutil.which("py") is None:
        return []
    asked = given.get("PYTHON", "")
    versions = [asked] if asked else []
    if not asked and not pythons.fits(sys.version_info[:3]):
        newest, oldest = pythons.NEWEST[1], pythons.OLDEST[1]
        versions = [f"3.{minor}" for minor in range(newest, oldest - 1, -1)]
    for version in versions:
        command = ["py", f"-{version}"]
        there = subprocess.run([*command, "-c", ""], capture_output=True, check=False).returncode
        if there == 0 or asked:
            return command
    return []


def main(arguments: Sequence[str]) -> int:
    given = dict(word.split("=", 1) for word in arguments if "=" in word)
    targets = [word for word in arguments if "=" not in word]
    if command := another(given):
        rest = [word for word in arguments if not word.startswith("PYTHON=")]
        return subprocess.run([*command, __file__, *rest], check=False).returncode
    environment = {**os.environ, **{k: v for k, v in given.items() if k in ("GPU", "UPDATES")}}
    for target in targets or ["help"]:
        if target == "help":
            print(HELP)
            continue
        try:
            steps = commands(target, words_of(given.get("ARGS", "")))
        except KeyError:
            print(f"make: there is no target {target}\n{HELP}")
            return 2
        code = _run(target, steps, environment)
        if code:
            return code
    return 0


def _run(target: str, steps: Sequence[Sequence[str]], environment: Mapping[str, str]) -> int:
    python = str(pythons.inside(ROOT / ".venv"))
    if target == "package":
        # its environment is its own
        python = sys.executable
    else:
        os.environ.update(environment)
        code = bootstrap.main()
        if code:
            return code
    own = {**environment, "QT_QPA_PLATFORM": "offscreen"} if target == "test" else environment
    for step in steps:
        code = subprocess.run([python, *step], cwd=ROOT, env=own, check=False).returncode
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
