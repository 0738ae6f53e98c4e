"""Unfinished removals: chats deleted for good are recorded before the first removal, until nothing
of them is left, so that the next start finishes an interrupted one.

A small JSON file beside the database; storage thread.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from headstart.core import patient
from headstart.core.files import write_whole


class Owed(msgspec.Struct, frozen=True):
    """`chats` are the ids to remove; `index`: the index may still have words of removed chats."""

    chats: tuple[str, ...] = ()
    index: bool = False


def file_of(database: Path) -> Path:
    return database.with_name(f"{database.name}-owed.json")


def load(database: Path) -> Owed:
    """An unreadable file names no chats: only the index is cleaned."""
    path = file_of(database)
    try:
        return msgspec.json.decode(path.read_bytes(), type=Owed)
    except FileNotFoundError:
        return Owed()
    except (OSError, msgspec.MsgspecError, ValueError):
        return Owed(index=True)


def save(database: Path, owed: Owed) -> None:
    """Returns once it is on the disk. Raises OSError."""
    if owed == Owed():
        patient.remove(file_of(database))
    else:
        write_whole(file_of(database), msgspec.json.encode(owed))
