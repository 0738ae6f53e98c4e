"""Opens the index of files, and makes it again where it cannot be used.

The file is no user data: what it has is read from the user's files once more. Two connections: one
writes, one searches meanwhile (WAL).
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
from pathlib import Path

from sqlalchemy import Engine, text

from headstart.core import patient
from headstart.storage.database import forbid_writing, open_engine

log = logging.getLogger(__name__)

# the make of the tables; another one has the index made again
_MAKE = 2
_TABLES = (
    """CREATE TABLE contents (
        id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, media_type TEXT NOT NULL,
        unit TEXT NOT NULL, encoding TEXT NOT NULL, pages INTEGER NOT NULL,
        blank INTEGER NOT NULL, characters INTEGER NOT NULL)""",
    """CREATE TABLE files (
        id INTEGER PRIMARY KEY, source TEXT NOT NULL, path BLOB NOT NULL, size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL, content INTEGER REFERENCES contents, problem TEXT NOT NULL,
        lost_at INTEGER NOT NULL, UNIQUE (source, path))""",
    "CREATE INDEX files_content ON files (content)",
    """CREATE TABLE pieces (
        id INTEGER PRIMARY KEY AUTOINCREMENT, content INTEGER NOT NULL REFERENCES contents,
        start INTEGER NOT NULL, stop INTEGER NOT NULL, page INTEGER NOT NULL,
        line INTEGER NOT NULL, heading TEXT NOT NULL, folded TEXT NOT NULL,
        digest BLOB NOT NULL)""",
    "CREATE INDEX pieces_content ON pieces (content, start)",
    "CREATE INDEX pieces_digest ON pieces (digest)",
    """CREATE VIRTUAL TABLE words USING fts5(
        heading, folded, content='pieces', content_rowid='id',
        tokenize="unicode61 remove_diacritics 2 categories 'L* M* N* Co So'")""",
    "CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row)",
    """CREATE TABLE pins (
        digest BLOB NOT NULL, owner TEXT NOT NULL, PRIMARY KEY (digest, owner)) WITHOUT ROWID""",
    "CREATE TABLE embedders (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE)",
    """CREATE TABLE vectors (
        id INTEGER PRIMARY KEY AUTOINCREMENT, embedder INTEGER NOT NULL REFERENCES embedders,
        digest BLOB NOT NULL, bits BLOB NOT NULL, vector BLOB NOT NULL,
        UNIQUE (embedder, digest))""",
    f"PRAGMA user_version={_MAKE}",
)
_BESIDE = ("", "-wal", "-shm", "-journal")


def open_index(path: Path | None) -> Engine:
    """The engine that writes; None: in memory. A damaged or foreign file is replaced. Raises
    OSError and SQLAlchemyError where no file can be made."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not _is_sound(path):
            log.warning("the index of files is made again")
            delete_index(path)
    engine = open_engine(path)
    try:
        with engine.begin() as connection:
            if not connection.scalar(text("PRAGMA user_version")):
                for statement in _TABLES:
                    connection.exec_driver_sql(statement)
    except BaseException:
        engine.dispose()
        raise
    return engine


def delete_index(path: Path) -> None:
    """Delete the file and those beside it. Raises OSError."""
    for ending in _BESIDE:
        patient.remove(path.with_name(path.name + ending))


def open_reader(path: Path) -> Engine:
    """A second engine, which only searches."""
    engine = open_engine(path)
    try:
        # a reader that began to write would wait for the writer
        forbid_writing(engine)
        with engine.connect() as connection:
            # 64 MB of pages: searches read the same ones again
            connection.exec_driver_sql("PRAGMA cache_size=-65536")
    except BaseException:
        engine.dispose()
        raise
    return engine


def _is_sound(path: Path) -> bool:
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=5)) as connection:
            if connection.execute("PRAGMA user_version").fetchone()[0] != _MAKE:
                return False
            for table in ("contents", "files", "pieces", "words", "vectors"):
                connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()
    except sqlite3.OperationalError as error:
        # a locked file is sound; a file without tables is not
        return "locked" in str(error)
    except sqlite3.Error:
        return False
    return True
