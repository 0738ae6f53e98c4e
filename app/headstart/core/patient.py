"""Replacing and removing files that another program may have open for a moment.

On Windows an indexer, a virus scanner or a sync program that reads a file keeps others from
replacing or removing it, and so does the file's own read-only mark. Other systems do neither. On
any thread but the window's: it may wait for two seconds.
"""

from __future__ import annotations

import contextlib
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path

# seconds that a file is tried again, and between two tries
_PATIENCE, _PAUSE = 2.0, 0.02
_WINDOWS = sys.platform == "win32"
# Windows' numbers: access denied (also for a target that is open), a sharing violation, a lock
_HELD = (5, 32, 33)


def replace(source: Path, target: Path) -> None:
    """Rename over `target`. Raises OSError."""
    tried(lambda: source.replace(target), target)


def remove(path: Path, missing_ok: bool = True) -> None:
    """Remove a file. Raises OSError."""
    tried(lambda: path.unlink(missing_ok=missing_ok), path)


def tried(
    act: Callable[[], object],
    path: Path,
    windows: bool = _WINDOWS,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Call `act` on the file at `path` until no other program has it open, or until it has waited
    long enough. Raises OSError."""
    end = clock() + _PATIENCE if windows else 0.0
    while True:
        try:
            act()
        except OSError as error:
            if not windows or not is_held(error) or clock() > end:
                raise
            _let_write(path)
            time.sleep(_PAUSE)
        else:
            return


def is_held(error: OSError) -> bool:
    """True if another program may have the file open now."""
    number = getattr(error, "winerror", None)
    return number in _HELD if number is not None else isinstance(error, PermissionError)


def _let_write(path: Path) -> None:
    """Take a read-only mark away."""
    with contextlib.suppress(OSError):
        if not path.stat().st_mode & stat.S_IWRITE:
            path.chmod(path.stat().st_mode | stat.S_IWRITE)
