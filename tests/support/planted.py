"""Modules of somebody else in a folder: each leaves a mark there when it is imported."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Collection
from importlib.metadata import packages_distributions
from pathlib import Path

_MARK = "ran-"
_CODE = """import os
open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "{mark}{name}"), "w").close()
raise SystemExit("somebody else's {name} was imported")
"""


def of_the_interpreter() -> set[str]:
    """Modules that `python -m` itself imports, before any program is begun: from the current folder
    too, unless its options -P or -I keep it from that."""
    asks = "import runpy, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", asks], capture_output=True, text=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


def plant(folder: Path, without: Collection[str] = ()) -> Path:
    """A module of every name that Python, the program or its libraries import."""
    ours = {"headstart", *sys.builtin_module_names, *without}
    names = {*sys.stdlib_module_names, *packages_distributions()} - ours
    for name in names:
        if name.isidentifier():
            text = _CODE.format(mark=_MARK, name=name)
            (folder / f"{name}.py").write_text(text, encoding="utf-8")
    # what a path file or a customization of Python would run
    for name in ("sitecustomize", "usercustomize"):
        text = _CODE.format(mark=_MARK, name=name)
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def ran(folder: Path) -> list[str]:
    """Those that were imported."""
    return sorted(path.name.removeprefix(_MARK) for path in folder.glob(f"{_MARK}*"))
