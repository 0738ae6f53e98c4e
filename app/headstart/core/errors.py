"""Errors split by blame: what the environment did to us, and what we did ourselves.

An `EnvironmentProblem` is told to the user in plain words with what to do about it; anything
else that escapes is a bug of ours and stays loud, with its traceback.
"""

from __future__ import annotations


class EnvironmentProblem(Exception):
    """Something outside the program stands in the way.

    `message` says what happened, `remedy` what the user can do; both are shown as they are.
    `quotes`: the message may hold text of a chat, so only its kind goes into the log.
    """

    def __init__(self, message: str, remedy: str, *, quotes: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.quotes = quotes

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()

    @property
    def for_log(self) -> str:
        """What may stand in the log: never the words of a chat, nor a key."""
        return type(self).__name__ if self.quotes else str(self)


class ModelProblem(EnvironmentProblem):
    """A model file that is missing, damaged, foreign or too large for this computer."""


class DatabaseProblem(EnvironmentProblem):
    """The chat database cannot be opened; nothing in it has been changed."""
