"""Things that begin by themselves at a start: named, and worded where they are held back.

A hang holds the whole program, so each is noted before it begins and taken from the notes when its
beginning has ended. What the notes still name at the next start did not end.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol, TypeAlias

from msgspec import Struct

from headstart.core.told import Told, told


class BegunKind(StrEnum):
    FOLDER = "folder"
    MIRROR = "mirror"
    SERVER = "server"
    TOOL_SERVER = "tool-server"
    DOWNLOAD = "download"


Key: TypeAlias = tuple[BegunKind, str]


class Beginning(Struct, frozen=True, omit_defaults=True):
    """`name`: the path of a folder, the id of a tool server or of a download, "" for the mirror and
    the server, of which there is one; `title`: as the window names it; `at`: the file that a
    folder was at."""

    kind: BegunKind
    name: str = ""
    title: str = ""
    at: str = ""

    @property
    def key(self) -> Key:
        return self.kind, self.name

    @property
    def told(self) -> Told:
        """For the user: it is not begun again, and why."""
        if self.kind is BegunKind.FOLDER and self.at:
            return told("held-folder-at", name=self.title, file=self.at)
        return told(_CODES[self.kind], name=self.title)


_CODES = {
    BegunKind.FOLDER: "held-folder",
    BegunKind.MIRROR: "held-mirror",
    BegunKind.SERVER: "held-server",
    BegunKind.TOOL_SERVER: "held-tool-server",
    BegunKind.DOWNLOAD: "held-download",
}


class BegunNotes(Protocol):
    """Notes that outlive the program."""

    def last(self) -> tuple[Beginning, ...]: ...

    def write(self, notes: Sequence[Beginning], wait: bool) -> None:
        """Replace the notes; `wait` for the disk. Failures are ignored."""
