"""Opening the user's database whatever state it is in: sound, damaged, shrunk, gone, or on a disk
that cannot be written. Storage thread.

A sound one is opened as it is. What is damaged, or smaller than when it was last written, is never
taken silently: everything readable goes into a new database, the old file is kept beside it, and
the user hears what was saved. Where nothing can be written, everything can still be read.
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

# bytes: SQLite takes 512, with the endings of the files beside it
_LONGEST_PATH = 500
# looked through at every start (10 ms for each MB); larger ones only after one that was not clean
_SMALL = 24 << 20


class Opened(Struct, frozen=True):
    """`interrupted` replies were left by the last run; `read_only` says why nothing can be
    written, and is None where it can."""

    engine: Engine
    interrupted: int
    notices: tuple[Told, ...] = ()
    read_only: Told | None = None
    # whether it is what the last run left: neither new nor salvaged
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
            # the notes are about the old one
            last = None
    # SQLite removes what it cannot use of a log as soon as it opens the file
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
        # names in a schema that are no text any more
        kind = DatabaseTrouble.DAMAGED if isinstance(error, UnicodeError) else trouble_of(error)
        log.warning("the database: %s", kind.value)
        if kind is DatabaseTrouble.DAMAGED:
            return _salvaged(path, backups, left, last, told("was-damaged"))
        if kind in CANNOT_WRITE:
            return _read_only(path, backups, last, kind)
        raise DatabaseProblem("database-cannot-be-opened", path=path, reason=kind.value) from error
    return Opened(engine, interrupted, finished, same=last is not None)


def open_beside(path: Path) -> Opened:
    """Open a database that another program of this version has open: nothing is repaired, and
    replies that it writes are left alone. Raises DatabaseProblem."""
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
    """The reason to salvage the file; None when it can be opened. `purging`: the last run was
    removing chats, and may not have come to note that."""
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
        # this version wrote it last: it is neither newer nor another program's
        return told("was-damaged")
    if last is not None and last.damaged:
        return told("was-damaged")
    with contextlib.closing(_reading(path)) as connection:
        if size <= _SMALL or last is None or not last.clean:
            # not the quick one: it passes indexes by that reading a chat then stumbles over
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
        # rows that SQLite's check does not miss, because nothing points at them
        lost = "SELECT count(*) FROM messages m WHERE m.role = 'user' AND NOT EXISTS "
        gaps = "SELECT count(*) FROM (SELECT 1 FROM parts GROUP BY message_id "
        if number(f"{lost}(SELECT 1 FROM parts p WHERE p.message_id = m.id)") or number(
            f"{gaps}HAVING max(position) + 1 <> count(*))"
        ):
            return told("text-was-missing")
    return None


def _reading(path: Path) -> sqlite3.Connection:
    # not mode=ro: after a crash SQLite has to join the log that was left, which writes
    connection = sqlite3.connect(path, timeout=5)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return connection


def _try_to_write(engine: Engine) -> None:
    """A page is really written: a full disk shows itself here and not with the first message."""
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = version_num")


# --- damaged -----------------------------------------------------------------------------


def _salvaged(
    path: Path, backups: Path, left: bytes, last: last_state.LastState | None, reason: Told
) -> Opened:
    """`left` is the write-ahead log as the last run left it."""
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
    """Write the new database beside the old one, keep that under another name, change places.

    There is a database under `path` at every moment but between the last two renames, and if the
    program is killed there, the next start finds the new one whole (`finish_replacing`).
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
        _beside(fresh, ending).unlink(missing_ok=True)
    stamp = time.strftime("%Y%m%d-%H%M%S")
    kept = path.with_name(f"{path.stem}-damaged-{stamp}{path.suffix}")
    said: Told | None = None
    for ending in ("", "-wal", "-shm"):
        old = _beside(path, ending)
        if old.exists():
            _copy(old, _beside(kept, ending))
            said = told("damaged-file-kept", name=kept.name)
    if left and said is not None:
        # a file of its own: the one that was linked is SQLite's
        _beside(kept, "-wal").unlink(missing_ok=True)
        _beside(kept, "-wal").write_bytes(left)
    fresh.replace(_whole(path))
    finish_replacing(path)
    return open_database(path, backups), said


def _whole(path: Path) -> Path:
    """The name of a salvaged database that is complete and only has to take the old one's place."""
    return path.with_name(f"{path.stem}-salvaged{path.suffix}")


def finish_replacing(path: Path) -> bool:
    """Put a complete salvaged database, if there is one, in the place of the damaged one."""
    whole = _whole(path)
    if not whole.exists():
        return False
    # the old one's log must never be taken for the new one's
    for ending in ("-wal", "-shm"):
        _beside(path, ending).unlink(missing_ok=True)
    whole.replace(path)
    return True


def _copy(old: Path, kept: Path) -> None:
    try:
        kept.hardlink_to(old)
    except OSError:
        # not every file system has them
        shutil.copy2(old, kept)


def _told(saved: Saved, expected: int, reason: Told, file: Told | None) -> tuple[Told, ...]:
    """The event in the database, with numbers; `file`: what became of the damaged one."""
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
    """The database as it is on the disk, in memory; nothing of it can be changed."""
    data, write_ahead = _bytes_of(path), _bytes_of(_beside(path, "-wal"))
    reason = _cannot_write(kind)
    notices: tuple[Told, ...] = ()
    if not data:
        return Opened(_locked(open_memory()), 0, (), reason)
    try:
        engine = open_engine(None, Image(data, write_ahead).data)
        schema.check_current(engine, path)
        schema.bring_up_to_date(engine, None, backups)
        interrupted = _recover_in_memory(engine)
    except (sqlite3.Error, SQLAlchemyError):
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
        _beside(path, ending).unlink(missing_ok=True)


def _flush(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
