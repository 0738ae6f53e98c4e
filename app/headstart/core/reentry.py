"""Commands that start the program again as a child with a single task."""

from __future__ import annotations

import os
import sys
from pathlib import Path

# working folder of the program and its children: a fixed one, so that nothing is loaded from the
# folder the user started it in (llama.cpp looks for libraries there)
_PACKAGE = Path(__file__).resolve().parent.parent
FOLDER = _PACKAGE if _PACKAGE.is_dir() else Path(sys.executable).resolve().parent


def command(*arguments: str) -> list[str]:
    """The command to run in `FOLDER`."""
    if getattr(sys, "frozen", False):
        # a package has no Python interpreter: run the program itself
        return [sys.executable, *arguments]
    # isolated: neither the current folder nor environment variables affect imports
    return [sys.executable, "-I", "-m", "headstart", *arguments]


def enter_folder() -> None:
    """Leave the folder that the program was started in; paths in its arguments are absolute."""
    os.chdir(FOLDER)
