"""Starts of the program by itself, as a child that does one thing."""

from __future__ import annotations

import os
import sys
from pathlib import Path

# where the program and its children work: a folder of its own, so that nothing is loaded from the
# one that somebody stands in (llama.cpp looks for libraries there)
_PACKAGE = Path(__file__).resolve().parent.parent
FOLDER = _PACKAGE if _PACKAGE.is_dir() else Path(sys.executable).resolve().parent


def command(*arguments: str) -> list[str]:
    """Start it in `FOLDER`."""
    if getattr(sys, "frozen", False):
        # a package has no Python of its own: the program is what runs
        return [sys.executable, *arguments]
    # isolated: neither the current folder nor variables say what is imported
    return [sys.executable, "-I", "-m", "headstart", *arguments]


def enter_folder() -> None:
    """Leave the folder that the program was started in; paths that it was given are absolute."""
    os.chdir(FOLDER)
