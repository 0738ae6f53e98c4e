"""Errors split by blame: the environment's faults, and bugs of our own.

An `EnvironmentProblem` is told to the user in plain words with a remedy; any other exception that
escapes is a bug of ours and stays loud, with its traceback.
"""

from __future__ import annotations

import errno

from headstart.core.told import Told, told


class EnvironmentProblem(Exception):
    """Something outside the program prevents an action.

    `code` and its facts say what happened and what the user can do; `core.wording` has the
    sentences. `quotes`: a fact may quote a chat, so only the kind goes into the log.
    """

    def __init__(self, code: str, *, quotes: bool = False, **facts: object) -> None:
        super().__init__(code)
        self.told = told(code, **facts)
        self.quotes = quotes

    @classmethod
    def of(cls, told: Told) -> EnvironmentProblem:
        """The problem with this message."""
        problem = cls(told.code)
        problem.told = told
        return problem

    @property
    def message(self) -> str:
        """The event."""
        return self.told.message

    @property
    def remedy(self) -> str:
        """The user's way out; may be empty."""
        return self.told.remedy

    def __str__(self) -> str:
        return self.told.text

    @property
    def for_log(self) -> str:
        """The part that is safe to log: never the text of a chat, nor a key."""
        return type(self).__name__ if self.quotes else str(self)


class ModelProblem(EnvironmentProblem):
    """A model file that is missing, damaged, foreign or too large for this computer."""


class WeightsLost(ModelProblem):
    """A model's file was truncated, or its disk removed, while it was in use."""


class DatabaseProblem(EnvironmentProblem):
    """The chat database cannot be opened; nothing in it has been changed."""


class NotWritten(DatabaseProblem):
    """A disk or another program refused a write, which may succeed later."""


# messages of the C library, the loader and Python's threads (which need memory for stacks)
_NO_MEMORY = (
    "Cannot allocate memory",
    "cannot allocate memory",
    "failed to map segment",
    "can't start new thread",
)


def says_no_memory(text: str) -> bool:
    """True if a library's message means that the system had no more memory."""
    return any(words in text for words in _NO_MEMORY)


def ran_out_of_memory(error: BaseException | None) -> bool:
    """True if `error`, or one of its causes, means that the system had no more memory."""
    if error is None:
        return False
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    if isinstance(error, ImportError | OSError | RuntimeError) and says_no_memory(str(error)):
        return True
    return ran_out_of_memory(error.__cause__)
