"""Notes of what is beginning, for the next start: a small file that exists only meanwhile.

Written before anything begins, whole or not at all. On any thread, one at a time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from headstart.core import patient
from headstart.core.beginnings import Beginning
from headstart.core.files import read_regular, write_whole
from headstart.core.text.whole import whole_json

_LARGEST = 1 << 20


class BeginningsFile:
    """Implements `core.beginnings.BegunNotes`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def last(self) -> tuple[Beginning, ...]:
        """The things that were beginning when the last program ended; () for a damaged file."""
        try:
            data = read_regular(self._path, _LARGEST)
            return msgspec.json.decode(data, type=tuple[Beginning, ...])
        except (OSError, ValueError):
            return ()

    def write(self, notes: Sequence[Beginning], wait: bool) -> None:
        with contextlib.suppress(OSError):
            if notes:
                write_whole(self._path, whole_json(tuple(notes)), wait=wait)
            else:
                patient.remove(self._path)
