"""Opening the database file: pragmas, transactions and the way errors are told.

Called on the storage thread only. SQLAlchemy's pool is a single connection that lives as long
as the program.
"""

from __future__ import annotations

import operator
import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import StaticPool

from headstart.core.text.folding import fold, plain
from headstart.core.text.whole import whole
from headstart.storage import schema

# in the information of a connection that may not write
READ_ONLY = "read only"


def open_engine(path: Path | None, image: bytes | None = None) -> Engine:
    """An engine over `path` with WAL and foreign keys on; transactions begin IMMEDIATE.

    Without a path the database is in memory, and begins as `image` if there is one.
    """

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(path or ":memory:", isolation_level=None, timeout=5)
        if image:
            connection.deserialize(image)
        return connection

    engine = create_engine(
        "sqlite://",
        creator=connect,
        poolclass=StaticPool,
        # an error's text goes to the log; words must not
        hide_parameters=True,
    )

    @event.listens_for(engine, "connect")
    def _on_connect(raw: sqlite3.Connection, _record: Any) -> None:
        # one byte that is not UTF-8 must not make a whole chat unreadable
        raw.text_factory = _text
        # the source of the index of words
        raw.create_function("fold", 1, fold, deterministic=True)
        # SQLite's own way knows the letters of English only
        raw.create_function("plain", 1, _plain, deterministic=True)
        raw.execute("PRAGMA journal_mode=WAL")
        raw.execute("PRAGMA foreign_keys=ON")
        # deleted text is overwritten
        raw.execute("PRAGMA secure_delete=ON")
        # the one transaction that must survive a power cut asks for FULL (see `durable`)
        raw.execute("PRAGMA synchronous=NORMAL")

    @event.listens_for(engine, "before_cursor_execute", retval=True)
    def _on_execute(
        _connection: Connection, _cursor: Any, statement: str, parameters: Any, *_: Any
    ) -> tuple[str, Any]:
        # whatever it is, and wherever it came from: half a character must not cost the rest
        return statement, _storable(parameters)

    @event.listens_for(engine, "begin")
    def _on_begin(connection: Connection) -> None:
        # a deferred transaction that turns into a writer can fail in the middle
        connection.exec_driver_sql("BEGIN" if connection.info.get(READ_ONLY) else "BEGIN IMMEDIATE")

    return engine


def _storable(given: Any) -> Any:
    """Parameters of a statement, with whole characters only; the same object where they are."""
    if isinstance(given, str):
        return whole(given)
    if isinstance(given, dict):
        found = {key: _storable(one) for key, one in given.items()}
        return found if any(found[key] is not given[key] for key in given) else given
    if isinstance(given, list | tuple):
        kept = [_storable(one) for one in given]
        return type(given)(kept) if any(map(operator.is_not, kept, given)) else given
    return given


def _plain(text: object) -> str:
    return plain(str(text))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def open_database(path: Path, backups: Path) -> Engine:
    """Open or create the database and bring its schema up to date.

    Raises DatabaseProblem, with the file left as it was, when it is foreign or newer than this
    program, and SQLite's or the system's errors for everything else; see `opening`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        # before anything is written: a file that is refused keeps every byte
        schema.check_known(path)
    engine = open_engine(path)
    try:
        schema.bring_up_to_date(engine, path, backups)
    except BaseException:
        engine.dispose()
        raise
    return engine


def open_memory() -> Engine:
    """A database that is never on disk, with the same tables; gone when it is closed."""
    engine = open_engine(None)
    with engine.begin() as connection:
        connection.exec_driver_sql("PRAGMA temp_store=MEMORY")
        schema.create_tables(connection)
    return engine


def durable(engine: Engine, full: bool) -> None:
    """Make the following transactions wait for the disk (`full`) or only for the system."""
    raw = engine.raw_connection()
    try:
        raw.cursor().execute(f"PRAGMA synchronous={'FULL' if full else 'NORMAL'}")
    finally:
        raw.close()


def forbid_writing(engine: Engine) -> None:
    """From now on SQLite refuses every change; for databases in memory, which have one connection
    as long as they live."""
    with engine.connect() as connection:
        connection.info[READ_ONLY] = True
        connection.exec_driver_sql("PRAGMA query_only=ON")


def leave_nothing_deleted(engine: Engine) -> bool:
    """Have what was deleted also out of the write-ahead log: its pages are in the file now. False
    where somebody reads what was there before."""
    raw = engine.raw_connection()
    try:
        row = raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return row is not None and row[0] == 0
    finally:
        raw.close()
