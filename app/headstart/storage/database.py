"""Opening the database file: pragmas, transactions and the conversion of errors.

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

# key in the info of a read-only connection
READ_ONLY = "read only"


def open_engine(path: Path | None, image: bytes | None = None) -> Engine:
    """An engine over `path` with WAL and foreign keys on; transactions begin IMMEDIATE.

    Without a path the database is in memory, with `image` as its initial content if given.
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
        # an error's message goes to the log, which must not contain text
        hide_parameters=True,
    )

    @event.listens_for(engine, "connect")
    def _on_connect(raw: sqlite3.Connection, _record: Any) -> None:
        # a single byte that is not UTF-8 must not make a whole chat unreadable
        raw.text_factory = _text
        # the source of the index of words
        raw.create_function("fold", 1, fold, deterministic=True)
        # SQLite's own lower() knows only English letters
        raw.create_function("plain", 1, _plain, deterministic=True)
        raw.execute("PRAGMA journal_mode=WAL")
        raw.execute("PRAGMA foreign_keys=ON")
        # deleted text is overwritten
        raw.execute("PRAGMA secure_delete=ON")
        # the one transaction that must survive a power cut requests FULL (see `durable`)
        raw.execute("PRAGMA synchronous=NORMAL")

    @event.listens_for(engine, "before_cursor_execute", retval=True)
    def _on_execute(
        _connection: Connection, _cursor: Any, statement: str, parameters: Any, *_: Any
    ) -> tuple[str, Any]:
        # from any source: lone surrogates must not make a statement fail
        return statement, _storable(parameters)

    @event.listens_for(engine, "begin")
    def _on_begin(connection: Connection) -> None:
        # a deferred transaction that starts to write can fail in the middle
        connection.exec_driver_sql("BEGIN" if connection.info.get(READ_ONLY) else "BEGIN IMMEDIATE")

    return engine


def _storable(given: Any) -> Any:
    """Parameters of a statement without lone surrogates; the same object if there are none."""
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

    Raises DatabaseProblem, leaving the file unchanged, if it is foreign or newer than this program,
    and SQLite's or the system's errors for everything else; see `opening`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        # before any write: a rejected file keeps every byte
        schema.check_known(path)
    engine = open_engine(path)
    try:
        schema.bring_up_to_date(engine, path, backups)
    except BaseException:
        engine.dispose()
        raise
    return engine


def open_memory() -> Engine:
    """A database with the same tables that is never on disk; gone when it is closed."""
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
    """Make SQLite refuse every change from now on; for databases in memory, whose single connection
    lives as long as they do."""
    with engine.connect() as connection:
        connection.info[READ_ONLY] = True
        connection.exec_driver_sql("PRAGMA query_only=ON")


def leave_nothing_deleted(engine: Engine) -> bool:
    """Remove deleted data from the write-ahead log too, by writing its pages to the file. False if
    a reader still needs the old state."""
    raw = engine.raw_connection()
    try:
        row = raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return row is not None and row[0] == 0
    finally:
        raw.close()
