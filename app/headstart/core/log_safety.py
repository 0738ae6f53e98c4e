"""Text that is safe to log: kinds of errors and positions in the code, never an error's message.

An error's message can quote its input: a template's or SQLite's holds text of a chat, an operating
system's a file name that is a title. `KindsOnly` and `SafeFormatter` belong to every handler of the
program's log; any thread.
"""

from __future__ import annotations

import logging
import logging.handlers
import sys
import traceback
from types import TracebackType

from headstart.core.errors import EnvironmentProblem

_ErrorInfo = (
    tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
)


def kind_of(error: BaseException) -> str:
    """An error without anything that it might quote."""
    if isinstance(error, EnvironmentProblem):
        return error.for_log
    if isinstance(error, OSError) and error.strerror:
        return f"{type(error).__name__} ({error.strerror})"
    return type(error).__name__


class KindsOnly(logging.Filter):
    """Replaces errors among a record's arguments by their kind."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(
                kind_of(item) if isinstance(item, BaseException) else item for item in record.args
            )
        return True


class SafeFormatter(logging.Formatter):
    """Formats tracebacks with their frames, and errors by kind."""

    def formatException(self, info: _ErrorInfo) -> str:  # noqa: N802
        lines: list[str] = []
        error = info[1]
        seen: set[int] = set()
        while error is not None and id(error) not in seen:
            seen.add(id(error))
            frames = traceback.format_tb(error.__traceback__)
            lines.insert(0, "".join([*frames, kind_of(error)]))
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        return "\nwhich led to\n".join(lines)


class LogFile(logging.handlers.RotatingFileHandler):
    """A rotating file. A record that the disk does not take is dropped silently: the consequences
    of a full disk are reported where they matter."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        if not isinstance(sys.exception(), OSError):
            super().handleError(record)
