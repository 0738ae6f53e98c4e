"""Opening the user's database in any state: sound, damaged, truncated, missing, or on a read-only
disk. Storage thread.

A sound one is opened unchanged. One that is damaged, or smaller than at its last write, is never
accepted silently: everything readable goes into a new database, the old file is kept beside it, and
the user is told what was saved. On a read-only disk everything can still be read.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import sqlite3
import time
from pathlib import Path

from msgspec import Struct
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from headstart.core import patient
from headstart.core.errors import DatabaseProblem
from headstart.core.told import Told, about, told
from headstart.storage import schema
from headstart.storage.database import (
    forbid_writing,
    open_database,
    open_engine,
    open_memory,
)
from headstart.storage.messages import MessageTable
from headstart.storage.rescue import copies, last_state, owed, salvage
from headstart.storage.rescue.pages import Image, has_lost_commits
from headstart.storage.rescue.salvage import Saved
from headstart.storage.rescue.trouble import CANNOT_WRITE, DatabaseTrouble, trouble_of
from headstart.storage.search import SearchTable

log = logging.getLogger(__name__)

# bytes: SQLite accepts 512, including the suffixes of the files beside it
_LONGEST_PATH = 500
# checked at every start (10 ms per MB); larger ones only after an unclean end
_SMALL = 24 << 20


class Opened(Struct, frozen=True):
    """`interrupted` replies were left by the last run; `read_only` is the reason why nothing can be
    written, or None."""

    engine: Engine
    interrupted: int
    notices: tuple[Told, ...] = ()
    read_only: Told | None = None
    # whether it is the last run's database: neither new nor salvaged
    same: bool = False


def open_home(path: Path, backups: Path) -> Opened:
    """Raises DatabaseProblem for a database that is not ours to open."""
    if os.name == "posix" and len(os.fsencode(path.absolute())) > _LONGEST_PATH:
        raise DatabaseProblem("database-path-too-long", most=_LONGEST_PATH)
    last = last_state.load(path)
    finished: tuple[Told, ...] = ()
    with contextlib.suppress(OSError):
        if finish_replacing(path):
            finished = (told("salvage-finished"),)
            # its counts belong to the old database
            last = None
    # as soon as it opens the file, SQLite removes the part of a log that it cannot use
    left = _bytes_of(_beside(path, "-wal"))
    try:
        reason = _why_salvage(path, last, purging=bool(owed.load(path).chats))
        if reason is None and has_lost_commits(left):
            reason = told("log-was-damaged")
        if reason is not None:
            return _salvaged(path, backups, left, last, reason)
        engine = open_database(path, backups)
        try:
            _try_to_write(engine)
            SearchTable(engine).renew()
            interrupted = MessageTable(engine).recover()
        except BaseException:
            engine.dispose()
            raise
    except DatabaseProblem:
        raise
    except (sqlite3.Error, SQLAlchemyError, OSError, UnicodeError) as error:
        # names in a schema that are no longer valid text
        kind = DatabaseTrouble.DAMAGED if isinstance(error, UnicodeError) else trouble_of(error)
        log.warning("the database: %s", kind.value)
        if kind is DatabaseTrouble.DAMAGED:
            return _salvaged(path, backups, left, last, told("was-damaged"))
        if kind in CANNOT_WRITE:
            return _read_only(path, backups, last, kind)
        raise DatabaseProblem("database-cannot-be-opened", path=path, reason=kind.value) from error
    return Opened(engine, interrupted, finished, same=last is not None)


def open_beside(path: Path) -> Opened:
    """Open a database that another program of this version has open: repairs nothing, and leaves
    the other program's unfinished replies alone. Raises DatabaseProblem."""
    try:
        schema.check_known(path)
        engine = open_engine(path)
        if not schema.is_current(engine):
            engine.dispose()
            raise DatabaseProblem("database-newer", path=path)
    except (sqlite3.Error, SQLAlchemyError, OSError) as error:
        reason = trouble_of(error).value
        raise DatabaseProblem("database-cannot-be-opened", path=path, reason=reason) from error
    return Opened(engine, 0)


def _why_salvage(path: Path, last: last_state.LastState | None, purging: bool) -> Told | None:
    """The reason to salvage the file; None if it can be opened. `purging`: the last run was
    removing chats, and may have ended before it stored the new counts."""
    size = path.stat().st_size if path.exists() else 0
    had = last is not None and last.messages > 0
    if size == 0:
        if had:
            return told("was-empty" if path.exists() else "was-gone")
        # an empty file without a past is a new one
        return None
    try:
        schema.check_known(path)
    except DatabaseProblem:
        if last is None or last.revision != schema.HEAD:
            raise
        # this version wrote it last, so it is neither newer nor another program's
        return told("was-damaged")
    if last is not None and last.damaged:
        return told("was-damaged")
    with contextlib.closing(_reading(path)) as connection:
        if size <= _SMALL or last is None or not last.clean:
            # not quick_check: it accepts indexes that make reading a chat fail
            answer = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if answer is None or answer[0] != "ok":
                return told("was-damaged")
        names = {
            str(row[0]) for row in connection.execute("SELECT name FROM sqlite_master").fetchall()
        }
        if had and not {"chats", "messages", "parts"} <= names:
            return told("tables-were-gone")
        if last is None:
            return None

        def number(query: str) -> int:
            return int(connection.execute(query).fetchone()[0])

        chats = number("SELECT count(*) FROM chats")
        messages = number("SELECT count(*) FROM messages")
        if not purging and (chats < last.chats or messages < last.messages):
            return told("held-fewer-messages", held=messages, before=last.messages)
        if number("PRAGMA page_count") < last.pages:
            return told("was-shorter")
        # rows whose absence SQLite's check does not notice, because nothing refers to them
        lost = "SELECT count(*) FROM messages m WHERE m.role = 'user' AND NOT EXISTS "
        gaps = "SELECT count(*) FROM (SELECT 1 FROM parts GROUP BY message_id "
        if number(f"{lost}(SELECT 1 FROM parts p WHERE p.message_id = m.id)") or number(
            f"{gaps}HAVING max(position) + 1 <> count(*))"
        ):
            return told("text-was-missing")
    return None


def _reading(path: Path) -> sqlite3.Connection:
    # not mode=ro: after a crash SQLite has to apply the remaining log, which writes
    connection = sqlite3.connect(path, timeout=5)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return connection


def _try_to_write(engine: Engine) -> None:
    """Really write a page: a full disk is noticed here and not at the first message."""
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = version_num")


# --- damaged -----------------------------------------------------------------------------


def _salvaged(
    path: Path, backups: Path, left: bytes, last: last_state.LastState | None, reason: Told
) -> Opened:
    """`left` is the write-ahead log at the end of the last run."""
    data, write_ahead = _bytes_of(path), left
    expected = last.messages if last is not None else 0
    saved = salvage.read_damaged(data, write_ahead, copies.newest_first(path, backups), expected)
    try:
        engine, kept = _replace(path, backups, left, saved)
    except (sqlite3.Error, SQLAlchemyError, OSError) as error:
        kind = trouble_of(error)
        engine = open_memory()
        salvage.write(saved, engine)
        interrupted = _recover_in_memory(engine)
        notices = _told(saved, expected, reason, told("damaged-file-left"))
        return Opened(engine, interrupted, notices, _cannot_write(kind))
    notices = _told(saved, expected, reason, kept)
    log.warning("a damaged database was replaced: %d messages saved", len(saved.messages))
    return Opened(engine, MessageTable(engine).recover(), notices)


def _replace(path: Path, backups: Path, left: bytes, saved: Saved) -> tuple[Engine, Told | None]:
    """Write the new database beside the old one, keep that under another name too, then replace it.

    There is a database under `path` at every moment. If the program is killed before the last
    rename, the next start finds the complete new one and finishes (`finish_replacing`).
    """
    fresh = path.with_name(f"{path.stem}-salvaged.partial")
    _remove(fresh)
    engine = open_database(fresh, backups)
    try:
        salvage.write(saved, engine)
    finally:
        engine.dispose()
    _flush(fresh)
    for ending in ("-wal", "-shm"):
        patient.remove(_beside(fresh, ending))
    stamp = time.strftime("%Y%m%d-%H%M%S")
    kept = path.with_name(f"{path.stem}-damaged-{stamp}{path.suffix}")
    said: Told | None = None
    for ending in ("", "-wal", "-shm"):
        old = _beside(path, ending)
        if old.exists():
            _copy(old, _beside(kept, ending))
            said = told("damaged-file-kept", name=kept.name)
    if left and said is not None:
        # a separate file: the linked one is SQLite's
        patient.remove(_beside(kept, "-wal"))
        _beside(kept, "-wal").write_bytes(left)
    patient.replace(fresh, _whole(path))
    finish_replacing(path)
    return open_database(path, backups), said


def _whole(path: Path) -> Path:
    """The path of a complete salvaged database that has yet to replace the old one."""
    return path.with_name(f"{path.stem}-salvaged{path.suffix}")


def finish_replacing(path: Path) -> bool:
    """Replace the damaged database by a complete salvaged one, if there is one."""
    whole = _whole(path)
    if not whole.exists():
        return False
    # the old one's log must never be applied to the new one
    for ending in ("-wal", "-shm"):
        patient.remove(_beside(path, ending))
    patient.replace(whole, path)
    return True


def _copy(old: Path, kept: Path) -> None:
    try:
        kept.hardlink_to(old)
    except OSError:
        # not every file system has hard links
        shutil.copy2(old, kept)


def _told(saved: Saved, expected: int, reason: Told, file: Told | None) -> tuple[Told, ...]:
    """Notices about the salvage, with numbers; `file`: the fate of the damaged file."""
    messages, chats = saved.readable_messages, saved.readable_chats
    parts = [about("database-salvaged", reason, messages=messages, chats=chats)]
    if saved.from_copies:
        parts.append(told("salvaged-from-copies", count=saved.from_copies))
    if saved.damaged:
        parts.append(told("salvaged-with-damage", count=saved.damaged))
    if saved.loose:
        parts.append(told("salvaged-loose-text", title=salvage.RECOVERED_TEXT))
    if expected > messages:
        parts.append(told("salvage-missing", count=expected - messages))
    return (*parts, *([] if file is None else [file]))


# --- a disk that cannot be written -------------------------------------------------------


def _read_only(
    path: Path, backups: Path, last: last_state.LastState | None, kind: DatabaseTrouble
) -> Opened:
    """The database on the disk, loaded into memory; it cannot be changed."""
    data, write_ahead = _bytes_of(path), _bytes_of(_beside(path, "-wal"))
    reason = _cannot_write(kind)
    notices: tuple[Told, ...] = ()
    if not data:
        return Opened(_locked(open_memory()), 0, (), reason)
    engine = open_engine(None, Image(data, write_ahead).data)
    try:
        schema.check_current(engine, path)
        schema.bring_up_to_date(engine, None, backups)
        interrupted = _recover_in_memory(engine)
    except (sqlite3.Error, SQLAlchemyError):
        engine.dispose()
        expected = last.messages if last is not None else 0
        saved = salvage.read_damaged(
            data, write_ahead, copies.newest_first(path, backups), expected
        )
        engine = open_memory()
        salvage.write(saved, engine)
        interrupted = _recover_in_memory(engine)
        notices = _told(saved, expected, told("was-damaged"), None)
    return Opened(engine, interrupted, notices, reason)


def _recover_in_memory(engine: Engine) -> int:
    interrupted = MessageTable(engine).recover()
    _locked(engine)
    return interrupted


def _locked(engine: Engine) -> Engine:
    forbid_writing(engine)
    return engine


def _cannot_write(kind: DatabaseTrouble) -> Told:
    return told("nothing-can-be-saved", reason=kind.value)


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _remove(path: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        patient.remove(_beside(path, ending))


def _flush(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
