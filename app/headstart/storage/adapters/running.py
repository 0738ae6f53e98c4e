"""Work of the engine that could end the process, for the next start.

A small file that is there only while a model is loaded or text is read into it; no word of a chat
is in it. Written on the engine's thread, read once at the start.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from headstart.core.running import Doing


class RunningFile:
    """Implements `core.running.Running`. A disk that cannot be written is nobody's trouble."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def last(self) -> Doing | None:
        """Work under way when the program died the last time; None when it did not."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=Doing)
        except (OSError, msgspec.MsgspecError, ValueError):
            return None

    def begin(self, doing: Doing) -> None:
        with contextlib.suppress(OSError):
            self._path.write_bytes(msgspec.json.encode(doing))

    def end(self) -> None:
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)
