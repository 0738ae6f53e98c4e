"""Traces of native code that ends the process: Python's faulthandler, writing to a file.

Started and read on the main thread at the start. The traces name functions and lines, never their
data.
"""

from __future__ import annotations

import contextlib
import faulthandler
import time
from pathlib import Path
from typing import TextIO

from headstart.core import patient

# number of crashes kept, the newest ones
KEPT = 5
# a crash writes about ten kilobytes
_LONGEST = 64 << 10


class CrashLog:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / "crash.log"
        self._file: TextIO | None = None

    def begin(self) -> Path | None:
        """Record crashes from now on. Returns the trace of the last program, now under a separate
        name; None if it did not crash."""
        kept = self._keep_last()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("w", encoding="utf-8")
            faulthandler.enable(self._file)
        except (OSError, ValueError):
            self._file = None
        return kept

    def end(self) -> None:
        if self._file is None:
            return
        faulthandler.disable()
        self._file.close()
        self._file = None
        with contextlib.suppress(OSError):
            patient.remove(self._path, missing_ok=False)

    def _keep_last(self) -> Path | None:
        with contextlib.suppress(OSError):
            if self._path.stat().st_size == 0:
                return None
            kept = self._folder / f"crash-{time.strftime('%Y%m%d-%H%M%S')}.log"
            patient.replace(self._path, kept)
            for old in sorted(self._folder.glob("crash-*.log"))[:-KEPT]:
                patient.remove(old, missing_ok=False)
            return kept
        return None


def details(path: Path) -> str:
    """Details of a crash; "" if the file is gone."""
    try:
        with path.open("rb") as file:
            return file.read(_LONGEST).decode("utf-8", "replace").strip()
    except OSError:
        return ""
