"""Counts failed starts in a row, so that the next one can be careful.

A small file that is written at the start and removed once the window has been open for a while, or
was closed. On the main thread; failed writes are ignored.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from headstart.core import patient

# after this many failed starts, nothing is loaded unasked
CAREFUL_AFTER = 2


class _Starts(msgspec.Struct, frozen=True):
    failed: int = 0


class StartsFile:
    def __init__(self, path: Path) -> None:
        self._path = path

    def begin(self) -> bool:
        """Record the beginning of a start. Returns whether it should be a careful one."""
        try:
            failed = msgspec.json.decode(self._path.read_bytes(), type=_Starts).failed
        except (OSError, msgspec.MsgspecError, ValueError):
            failed = 0
        with contextlib.suppress(OSError):
            self._path.write_bytes(msgspec.json.encode(_Starts(failed + 1)))
        return failed >= CAREFUL_AFTER

    def succeeded(self) -> None:
        with contextlib.suppress(OSError):
            patient.remove(self._path)
