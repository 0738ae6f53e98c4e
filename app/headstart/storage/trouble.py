"""SQLite's errors by kind: what happened and what to do, in words that quote nothing.

SQLite's own messages can hold text of a chat, so they are neither shown nor logged.
"""

from __future__ import annotations

import sqlite3
from enum import Enum

from headstart.core.errors import DatabaseProblem


class Trouble(Enum):
    FULL = "the disk is full"
    READ_ONLY = "it cannot be written to"
    UNREACHABLE = "its folder or file cannot be opened"
    DISK = "the disk reported an error"
    BUSY = "another program is using it"
    DAMAGED = "it is damaged"
    OTHER = "SQLite refused"


_REMEDIES = {
    Trouble.FULL: "Free some space on the disk, then start Headstart again.",
    Trouble.READ_ONLY: "Check that the folder may be written to, or choose another one with "
    "--home, then start Headstart again.",
    Trouble.UNREACHABLE: "Check the folder's permissions, or choose another one with --home.",
    Trouble.DISK: "Check the disk and its connection, then start Headstart again.",
    Trouble.BUSY: "Close the other program and try again.",
    Trouble.DAMAGED: "Start Headstart again: it will save everything that can still be read into "
    "a new database.",
    Trouble.OTHER: "Start with --debug and report the log.",
}
# the first byte of SQLite's result code
_BY_CODE = {
    5: Trouble.BUSY,
    6: Trouble.BUSY,
    8: Trouble.READ_ONLY,
    10: Trouble.DISK,
    11: Trouble.DAMAGED,
    13: Trouble.FULL,
    14: Trouble.UNREACHABLE,
    26: Trouble.DAMAGED,
}
# what keeps a file from being written although it may well be read
CANNOT_WRITE = (Trouble.FULL, Trouble.READ_ONLY, Trouble.UNREACHABLE, Trouble.DISK)


def trouble_of(error: BaseException) -> Trouble:
    """The kind of an error of SQLite's, SQLAlchemy's around one, or of the system's."""
    cause = getattr(error, "orig", None) or error
    if isinstance(cause, OSError):
        return {28: Trouble.FULL, 122: Trouble.FULL, 30: Trouble.READ_ONLY, 5: Trouble.DISK}.get(
            cause.errno or 0, Trouble.UNREACHABLE
        )
    code = getattr(cause, "sqlite_errorcode", None)
    if code is None:
        return Trouble.OTHER
    return _BY_CODE.get(code & 0xFF, Trouble.OTHER)


def is_database_error(error: BaseException) -> bool:
    cause = getattr(error, "orig", None) or error
    return isinstance(cause, sqlite3.Error | OSError)


def problem_of(error: BaseException, what: str = "The chat database") -> DatabaseProblem:
    """`error` in words for the user."""
    kind = trouble_of(error)
    return DatabaseProblem("database-failed", what=what, reason=kind.value, remedy=_REMEDIES[kind])


def remedy_of(kind: Trouble) -> str:
    return _REMEDIES[kind]
