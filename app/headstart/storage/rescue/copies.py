"""Copies of the database in `backups/`: one a day while the program runs, one before migrations.

Made through SQLite's backup API on a thread and a connection of their own, so that nobody waits. A
chat that was deleted for good is taken out of the copies too. They have no index of words: it can
be made again, and what was deleted would stay in it.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from headstart.core.text.folding import fold
from headstart.storage.rescue.trouble import trouble_of
from headstart.storage.tables import search as search_tables
from headstart.storage.tables.rows import StoredPart, stored_part

log = logging.getLogger(__name__)

KEPT_DAILY, KEPT_BEFORE_MIGRATION = 5, 5
DAY_SECONDS = 20 * 3600.0
# after the start, and between two looks at whether a day has passed
FIRST_SECONDS, LOOK_SECONDS = 5.0, 1800.0
_PAGES = 512


class CopyStopped(Exception):
    """The program is closing: a copy is made another time."""


def copy_database(
    path: Path, backups: Path, label: str, keep: int, stop: Callable[[], bool] = lambda: False
) -> Path:
    """A consistent copy named after time and `label`; the oldest beyond `keep` are removed.

    Raises sqlite3.Error, OSError, or Stopped when `stop` says so; then there is no half copy.
    """

    def go_on(_status: int, _left: int, _pages: int) -> None:
        if stop():
            raise CopyStopped

    backups.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%Y%m%d-%H%M%S")
    target = backups / f"{path.stem}-{stamp}-{label}.db"
    partial = target.with_suffix(".partial")
    try:
        with _connected(path) as source, _connected(partial) as copy:
            source.backup(copy, pages=_PAGES, progress=go_on)
            # readable without a log beside it, and by any version
            copy.execute("PRAGMA journal_mode=DELETE")
            copy.execute("PRAGMA secure_delete=ON")
            search_tables.empty(copy)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    kind = label.partition("-")[0]
    for old in sorted(backups.glob(f"{path.stem}-*-{kind}*.db"))[:-keep]:
        old.unlink(missing_ok=True)
    return target


def newest_first(path: Path, backups: Path) -> list[Path]:
    """All copies of the database; names begin with their time."""
    return sorted(backups.glob(f"{path.stem}-[0-9]*.db"), key=lambda copy: copy.name, reverse=True)


def remove_chats(copies: Iterable[Path], chat_ids: Sequence[str]) -> list[Path]:
    """Take the text of deleted chats out of copies. Trouble is logged, and the copy stays: returns
    those in which a chat may be yet."""
    left = []
    for copy in copies:
        try:
            with _connected(copy) as connection:
                connection.execute("PRAGMA secure_delete=ON")
                # of copies that older versions made
                search_tables.empty(connection)
                for chat_id in chat_ids:
                    _remove_chat(connection, chat_id)
                connection.commit()
        except (sqlite3.Error, OSError) as error:
            log.warning("a copy still holds a deleted chat: %s", trouble_of(error).value)
            left.append(copy)
    return left


def remove_unfinished(backups: Path) -> None:
    """Copies that a kill cut off, which nothing looks at."""
    for partial in backups.glob("*.partial*"):
        with contextlib.suppress(OSError):
            partial.unlink()


def _remove_chat(connection: sqlite3.Connection, chat_id: str) -> None:
    inside = "(SELECT id FROM messages WHERE chat_id = ?)"
    for table in ("parts", "journal", "turns"):
        connection.execute(f"DELETE FROM {table} WHERE message_id IN {inside}", (chat_id,))
    connection.execute("DELETE FROM messages WHERE chat_id = ?", (chat_id,))
    connection.execute("DELETE FROM chats WHERE id = ?", (chat_id,))
    _remove_tokens(connection, chat_id)


def _remove_tokens(connection: sqlite3.Connection, chat_id: str) -> None:
    """Remove tokens and KV state of a chat: tokens are its text, for who has the vocabulary; and
    what was not sent."""
    known = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    for table in ("prefix_uses", "prefix_traces", "prefix_spellings", "unsent"):
        if table in known:
            connection.execute(f"DELETE FROM {table} WHERE chat_id = ?", (chat_id,))
    if {"prefix_records", "prefix_uses"} <= known:
        connection.execute(
            "DELETE FROM prefix_records WHERE key NOT IN (SELECT key FROM prefix_uses)"
        )


def find_part(path: Path, backups: Path, message_id: str, position: int) -> list[StoredPart]:
    """A part as the copies have it, the newest first."""
    query = "SELECT * FROM parts WHERE message_id = ? AND position = ? AND digest IS NOT NULL"
    found = []
    for copy in newest_first(path, backups):
        with contextlib.suppress(sqlite3.Error, OSError), _connected(copy) as connection:
            connection.row_factory = sqlite3.Row
            row = connection.execute(query, (message_id, position)).fetchone()
            if row is not None:
                found.append(stored_part(dict(row)))
    return found


def named_blobs(path: Path, backups: Path) -> set[str] | None:
    """The digests of the blobs that any copy needs; None where one cannot be asked now."""
    found: set[str] = set()
    for copy in newest_first(path, backups):
        try:
            with _connected(copy) as connection:
                columns = {row[1] for row in connection.execute("PRAGMA table_info(parts)")}
                if "blob" not in columns:
                    # older than blobs
                    continue
                names = connection.execute("SELECT DISTINCT blob FROM parts WHERE blob IS NOT NULL")
                found.update(str(row[0]) for row in names)
        except (sqlite3.Error, OSError) as error:
            log.warning("a copy cannot be asked for its files: %s", trouble_of(error).value)
            return None
    return found


class DailyCopies:
    """Makes a copy when the last one is a day old; `close` waits for one that is being made."""

    def __init__(self, path: Path, backups: Path, first: float = FIRST_SECONDS) -> None:
        self._path, self._backups, self._first = path, backups, first
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="copies", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:
            # no memory for another thread: no reason not to open the database
            log.warning("no copies of the database are made: no thread could be started")

    def close(self) -> None:
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        wait = self._first
        while not self._closing.wait(wait):
            wait = LOOK_SECONDS
            try:
                if self._due():
                    self._copy()
            except (sqlite3.Error, OSError) as error:
                log.warning("no copy of the database was made: %s", trouble_of(error).value)

    def _due(self) -> bool:
        made = [
            copy.stat().st_mtime for copy in self._backups.glob(f"{self._path.stem}-*-daily.db")
        ]
        return time.time() - max(made, default=0.0) > DAY_SECONDS

    def _copy(self) -> None:
        with _connected(self._path) as connection:
            if not connection.execute("SELECT count(*) FROM messages").fetchone()[0]:
                return
            # a damaged database must not push sound copies out
            if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                log.warning("no copy of the database was made: it is damaged")
                return
        with contextlib.suppress(CopyStopped):
            copy_database(self._path, self._backups, "daily", KEPT_DAILY, self._closing.is_set)


@contextlib.contextmanager
def _connected(path: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(path, timeout=5)) as connection:
        # the index of words follows what is removed
        connection.create_function("fold", 1, fold, deterministic=True)
        yield connection
