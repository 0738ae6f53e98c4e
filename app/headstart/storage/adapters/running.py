"""Risky work of the engine that is under way, recorded for the next start.

A small file that exists only while a model is loaded or text is prefilled; it holds no text of a
chat. Written on the engine's thread, read once at the start.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from headstart.core import patient
from headstart.core.running import Doing


class RunningFile:
    """Implements `core.running.Running`. Failed writes are ignored."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def last(self) -> Doing | None:
        """The work under way when the last program died; None if it did not die."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=Doing)
        except (OSError, msgspec.MsgspecError, ValueError):
            return None

    def begin(self, doing: Doing) -> None:
        with contextlib.suppress(OSError):
            self._path.write_bytes(msgspec.json.encode(doing))

    def end(self) -> None:
        with contextlib.suppress(OSError):
            patient.remove(self._path)
