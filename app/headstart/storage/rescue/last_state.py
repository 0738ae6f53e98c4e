"""Counts of the database when it was last written: so that one that has become smaller is noticed.

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
    """`clean`: the program that wrote this has ended as it should."""

    pages: int
    chats: int
    messages: int
    clean: bool = False
    # the schema's version: a file that seems to be newer than this was damaged
    revision: str = ""
    # SQLite stumbled while the program ran: the next start salvages
    damaged: bool = False


def file_of(database: Path) -> Path:
    return database.with_name(f"{database.name}-state.json")


def load(database: Path) -> LastState | None:
    """None for a home that never had one, or whose file cannot be read."""
    try:
        return msgspec.json.decode(file_of(database).read_bytes(), type=LastState)
    except (OSError, msgspec.MsgspecError, ValueError):
        return None


def save(database: Path, state: LastState) -> None:
    """Not waited for: it is a hint. A disk that cannot be written has no newer state anyway."""
    with contextlib.suppress(OSError):
        write_whole(file_of(database), msgspec.json.encode(state), wait=False)


def of_engine(engine: Engine, clean: bool = False) -> LastState:
    with engine.begin() as connection:

        def number(query: str) -> int:
            return int(connection.exec_driver_sql(query).scalar() or 0)

        return LastState(
            number("PRAGMA page_count"),
            # with those that are hidden: they go with the purge, which notes the new state
            number("SELECT count(*) FROM chats"),
            number("SELECT count(*) FROM messages"),
            clean,
            schema.HEAD,
        )
