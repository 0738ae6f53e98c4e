"""Counts of the database at its last write, which reveal that it has become smaller.

A small JSON file beside it, rewritten after each stored message and at the end. Storage thread.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec
from sqlalchemy import Engine

from headstart.core.files import write_whole
from headstart.storage import schema


class LastState(msgspec.Struct, frozen=True):
    """`clean`: the program that wrote this ended normally."""

    pages: int
    chats: int
    messages: int
    clean: bool = False
    # the schema's version: if the file seems newer than this, it is damaged
    revision: str = ""
    # SQLite reported damage during the run: the next start salvages
    damaged: bool = False


def file_of(database: Path) -> Path:
    return database.with_name(f"{database.name}-state.json")


def load(database: Path) -> LastState | None:
    """Returns None for a home without the file, or with an unreadable one."""
    try:
        return msgspec.json.decode(file_of(database).read_bytes(), type=LastState)
    except (OSError, msgspec.MsgspecError, ValueError):
        return None


def save(database: Path, state: LastState) -> None:
    """Does not wait for the disk: the file is a hint. A read-only disk has no newer state
    anyway."""
    with contextlib.suppress(OSError):
        write_whole(file_of(database), msgspec.json.encode(state), wait=False)


def of_engine(engine: Engine, clean: bool = False) -> LastState:
    with engine.begin() as connection:

        def number(query: str) -> int:
            return int(connection.exec_driver_sql(query).scalar() or 0)

        return LastState(
            number("PRAGMA page_count"),
            # with the deleted ones: they go with the purge, which stores the new state
            number("SELECT count(*) FROM chats"),
            number("SELECT count(*) FROM messages"),
            clean,
            schema.HEAD,
        )
