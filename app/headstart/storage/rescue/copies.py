"""Copies of the database in `backups/`: one a day while the program runs, one before migrations.

Made through SQLite's backup API on a separate thread and connection, so that nothing waits for it.
A chat that was deleted for good is removed from the copies too. They have no index of words: it can
be rebuilt, and would retain deleted text.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from headstart.core import patient
from headstart.core.text.folding import fold
from headstart.storage.rescue.trouble import trouble_of
from headstart.storage.tables import search as search_tables
from headstart.storage.tables.rows import StoredPart, stored_part

log = logging.getLogger(__name__)

KEPT_DAILY, KEPT_BEFORE_MIGRATION = 5, 5
DAY_SECONDS = 20 * 3600.0
# wait after the start, and between two checks whether a copy is due
FIRST_SECONDS, LOOK_SECONDS = 5.0, 1800.0
_PAGES = 512


class CopyStopped(Exception):
    """The program is closing, or what is copied was removed meanwhile: the copy will be made
    another time."""


def copy_database(
    path: Path,
    backups: Path,
    label: str,
    keep: int,
    stop: Callable[[], bool] = lambda: False,
    naming: AbstractContextManager[object] | None = None,
) -> Path:
    """A consistent copy named after time and `label`; the oldest beyond `keep` are removed. It gets
    its name inside `naming`.

    Raises sqlite3.Error, OSError, or CopyStopped if `stop` returns True; no partial copy is left.
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
        with naming or contextlib.nullcontext():
            if stop():
                raise CopyStopped
            patient.replace(partial, target)
    finally:
        patient.remove(partial)
    kind = label.partition("-")[0]
    for old in sorted(backups.glob(f"{path.stem}-*-{kind}*.db"))[:-keep]:
        patient.remove(old)
    return target


def newest_first(path: Path, backups: Path) -> list[Path]:
    """All copies of the database; their names begin with the time."""
    return sorted(backups.glob(f"{path.stem}-[0-9]*.db"), key=lambda copy: copy.name, reverse=True)


def remove_chats(copies: Iterable[Path], chat_ids: Sequence[str]) -> list[Path]:
    """Remove the text of deleted chats from copies. Errors are logged, and the copy stays: returns
    the copies that may still have a chat."""
    left = []
    for copy in copies:
        try:
            with _connected(copy) as connection:
                connection.execute("PRAGMA secure_delete=ON")
                # of copies made by older versions
                search_tables.empty(connection)
                for chat_id in chat_ids:
                    _remove_chat(connection, chat_id)
                connection.commit()
        except (sqlite3.Error, OSError) as error:
            log.warning("a copy still holds a deleted chat: %s", trouble_of(error).value)
            left.append(copy)
    return left


def remove_unfinished(backups: Path) -> None:
    """Remove unfinished copies of a killed program, which nothing else uses."""
    for partial in backups.glob("*.partial*"):
        with contextlib.suppress(OSError):
            patient.remove(partial, missing_ok=False)


def _remove_chat(connection: sqlite3.Connection, chat_id: str) -> None:
    inside = "(SELECT id FROM messages WHERE chat_id = ?)"
    for table in ("parts", "journal", "turns"):
        connection.execute(f"DELETE FROM {table} WHERE message_id IN {inside}", (chat_id,))
    connection.execute("DELETE FROM messages WHERE chat_id = ?", (chat_id,))
    connection.execute("DELETE FROM chats WHERE id = ?", (chat_id,))
    _remove_tokens(connection, chat_id)


def _remove_tokens(connection: sqlite3.Connection, chat_id: str) -> None:
    """Remove tokens and KV state of a chat, since tokens can be decoded to its text with the
    vocabulary; and its unsent text."""
    known = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    for table in ("prefix_uses", "prefix_traces", "prefix_spellings", "unsent"):
        if table in known:
            connection.execute(f"DELETE FROM {table} WHERE chat_id = ?", (chat_id,))
    if {"prefix_records", "prefix_uses"} <= known:
        connection.execute(
            "DELETE FROM prefix_records WHERE key NOT IN (SELECT key FROM prefix_uses)"
        )


def find_part(path: Path, backups: Path, message_id: str, position: int) -> list[StoredPart]:
    """A part's versions in the copies, the newest first."""
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
    """The digests of blobs that any copy needs; None if a copy cannot be read now."""
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
    """Makes a copy when the last one is 20 hours old; `close` waits for an unfinished one."""

    def __init__(self, path: Path, backups: Path, first: float = FIRST_SECONDS) -> None:
        self._path, self._backups, self._first = path, backups, first
        self._closing = threading.Event()
        # while a copy gets its name; number of removals for good
        self._naming, self._removals = threading.Lock(), 0
        self._thread = threading.Thread(target=self._run, name="copies", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:
            # no memory for another thread must not keep the database from opening
            log.warning("no copies of the database are made: no thread could be started")

    def outdate(self) -> None:
        """Give up a copy that is being made: it may have what was removed for good just now. A copy
        that has its name already is found by its name."""
        with self._naming:
            self._removals += 1

    def close(self) -> None:
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        wait = self._first
        while not self._closing.wait(wait):
            wait = LOOK_SECONDS
            try:
                if self._due() and not self.copy():
                    wait = self._first
            except (sqlite3.Error, OSError) as error:
                log.warning("no copy of the database was made: %s", trouble_of(error).value)

    def _due(self) -> bool:
        made = [
            copy.stat().st_mtime for copy in self._backups.glob(f"{self._path.stem}-*-daily.db")
        ]
        return time.time() - max(made, default=0.0) > DAY_SECONDS

    def copy(self) -> bool:
        """Make a copy now; False if it was given up."""
        removals = self._removals
        with _connected(self._path) as connection:
            if not connection.execute("SELECT count(*) FROM messages").fetchone()[0]:
                return True
            # copies of a damaged database must not displace sound ones
            if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                log.warning("no copy of the database was made: it is damaged")
                return True

        def stop() -> bool:
            return self._closing.is_set() or self._removals != removals

        try:
            copy_database(self._path, self._backups, "daily", KEPT_DAILY, stop, self._naming)
        except CopyStopped:
            return False
        return True


@contextlib.contextmanager
def _connected(path: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(path, timeout=5)) as connection:
        # needed by the triggers that keep the index of words in step
        connection.create_function("fold", 1, fold, deterministic=True)
        yield connection
