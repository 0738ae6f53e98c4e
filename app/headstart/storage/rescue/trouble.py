"""SQLite's errors by kind: what happened and what to do, without quoting data.

SQLite's own messages can hold text of a chat, so they are neither shown nor logged.
"""

from __future__ import annotations

import sqlite3
from enum import Enum

from headstart.core.errors import DatabaseProblem, NotWritten


class DatabaseTrouble(Enum):
    """Kinds of errors, by the code of their phrase."""

    FULL = "disk-full"
    READ_ONLY = "file-not-writable"
    UNREACHABLE = "file-unreachable"
    DISK = "disk-failed"
    BUSY = "file-in-use"
    DAMAGED = "database-damaged"
    GONE = "owner-gone"
    OTHER = "sqlite-refused"


# the low byte of SQLite's result code
_BY_CODE = {
    5: DatabaseTrouble.BUSY,
    6: DatabaseTrouble.BUSY,
    8: DatabaseTrouble.READ_ONLY,
    10: DatabaseTrouble.DISK,
    11: DatabaseTrouble.DAMAGED,
    13: DatabaseTrouble.FULL,
    14: DatabaseTrouble.UNREACHABLE,
    26: DatabaseTrouble.DAMAGED,
}
_CORRUPT_VTAB = 267
# a row refers to a missing one
_FOREIGN_KEY = 787
# damage, or a constraint without a name
_UNTOLD = (11, 19)
# errors that prevent writing a file that may still be readable
CANNOT_WRITE = (
    DatabaseTrouble.FULL,
    DatabaseTrouble.READ_ONLY,
    DatabaseTrouble.UNREACHABLE,
    DatabaseTrouble.DISK,
)


def trouble_of(error: BaseException) -> DatabaseTrouble:
    """The kind of an error of SQLite's, of SQLAlchemy's around one, or of the system's."""
    cause = getattr(error, "orig", None) or error
    if isinstance(cause, OSError):
        return {
            28: DatabaseTrouble.FULL,
            122: DatabaseTrouble.FULL,
            30: DatabaseTrouble.READ_ONLY,
            5: DatabaseTrouble.DISK,
        }.get(cause.errno or 0, DatabaseTrouble.UNREACHABLE)
    code = getattr(cause, "sqlite_errorcode", None)
    if code is None:
        return DatabaseTrouble.OTHER
    if code == _FOREIGN_KEY:
        return DatabaseTrouble.GONE
    return _BY_CODE.get(code & 0xFF, DatabaseTrouble.OTHER)


def is_of_index(error: BaseException) -> bool:
    """True if the error may come from damage to the index of words, which can be rebuilt: a virtual
    table reports it, or texts cannot be written for a reason that is not their own."""
    cause = getattr(error, "orig", None) or error
    code, statement = getattr(cause, "sqlite_errorcode", None), getattr(error, "statement", None)
    # newer versions of SQLite write the index at a commit, which has no statement
    written = statement is None or " parts" in statement
    return code == _CORRUPT_VTAB or (code in _UNTOLD and written)


def is_database_error(error: BaseException) -> bool:
    cause = getattr(error, "orig", None) or error
    return isinstance(cause, sqlite3.Error | OSError)


def problem_of(error: BaseException) -> DatabaseProblem:
    """`error` as a message for the user."""
    trouble = trouble_of(error)
    if trouble in (*CANNOT_WRITE, DatabaseTrouble.BUSY):
        return NotWritten("database-failed", reason=trouble.value)
    return DatabaseProblem("database-failed", reason=trouble.value)
