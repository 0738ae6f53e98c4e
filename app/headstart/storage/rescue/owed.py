"""The removals that are owed: chats deleted for good are written down before anything of them is
removed, and until nothing is left, so that the next start finishes what a kill cut off.

A small JSON file beside the database; storage thread.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from headstart.core.files import write_whole


class Owed(msgspec.Struct, frozen=True):
    """`chats` are to go, by their ids; `index`: words of removed ones may be in the index yet."""

    chats: tuple[str, ...] = ()
    index: bool = False


def file_of(database: Path) -> Path:
    return database.with_name(f"{database.name}-owed.json")


def load(database: Path) -> Owed:
    """A file that cannot be read says nothing of chats: the index alone is looked after."""
    path = file_of(database)
    try:
        return msgspec.json.decode(path.read_bytes(), type=Owed)
    except FileNotFoundError:
        return Owed()
    except (OSError, msgspec.MsgspecError, ValueError):
        return Owed(index=True)


def save(database: Path, owed: Owed) -> None:
    """It is on the disk when this returns. Raises OSError."""
    if owed == Owed():
        file_of(database).unlink(missing_ok=True)
    else:
        write_whole(file_of(database), msgspec.json.encode(owed))
