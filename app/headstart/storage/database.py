"""Opening the database file: pragmas, transactions and the way errors are told.

Called on the storage thread only. SQLAlchemy's pool is a single connection that lives as long
as the program.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import StaticPool

from headstart.core.errors import DatabaseProblem
from headstart.storage import schema
from headstart.storage.tables import metadata


def open_engine(path: Path | None) -> Engine:
    """An engine over `path` (None: memory) with WAL and foreign keys on; transactions begin
    IMMEDIATE."""
    engine = create_engine(
        "sqlite://",
        creator=lambda: sqlite3.connect(path or ":memory:", isolation_level=None, timeout=5),
        poolclass=StaticPool,
        # an error's text goes to the log; words must not
        hide_parameters=True,
    )

    @event.listens_for(engine, "connect")
    def _on_connect(raw: sqlite3.Connection, _record: Any) -> None:
        raw.execute("PRAGMA journal_mode=WAL")
        raw.execute("PRAGMA foreign_keys=ON")
        # the one transaction that must survive a power cut asks for FULL (see `durable`)
        raw.execute("PRAGMA synchronous=NORMAL")

    @event.listens_for(engine, "begin")
    def _on_begin(connection: Connection) -> None:
        # a deferred transaction that turns into a writer can fail in the middle
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def open_database(path: Path, backups: Path) -> Engine:
    """Open or create the database and bring its schema up to date.

    Raises DatabaseProblem, with the file left as it was, when it is damaged, foreign, newer
    than this program or not accessible.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    engine = open_engine(path)
    try:
        if path.exists():
            # before anything is written: a file that is refused keeps every byte
            schema.check_known(path)
        schema.bring_up_to_date(engine, path, backups)
    except DatabaseProblem:
        engine.dispose()
        raise
    except Exception as error:
        engine.dispose()
        cause = getattr(error, "orig", error)
        if isinstance(cause, sqlite3.DatabaseError):
            raise DatabaseProblem(
                f"The chat database {path} cannot be opened: {cause}.",
                "Nothing was changed. Move the file away to start with an empty one, or put a "
                f"copy from {backups} in its place.",
            ) from error
        raise
    return engine


def open_memory() -> Engine:
    """A database that is never on disk, with the same tables; gone when it is closed."""
    engine = open_engine(None)
    with engine.begin() as connection:
        connection.exec_driver_sql("PRAGMA temp_store=MEMORY")
        metadata.create_all(connection)
    return engine


def durable(engine: Engine, full: bool) -> None:
    """Make the following transactions wait for the disk (`full`) or only for the system."""
    raw = engine.raw_connection()
    try:
        raw.cursor().execute(f"PRAGMA synchronous={'FULL' if full else 'NORMAL'}")
    finally:
        raw.close()
