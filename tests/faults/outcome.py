"""What became of a home, and of what had been committed in it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Outcome:
    """`committed`: characters that had been committed; `lost`: those of them that are not there
    any more. `why` says what went wrong."""

    survived: bool
    committed: int
    lost: int
    why: str = ""


@dataclass(slots=True)
class Row:
    """Of one kind of fault: how many were tried and survived; characters committed and lost."""

    tried: int = 0
    survived: int = 0
    committed: int = 0
    lost: int = 0

    def add(self, outcome: Outcome, tell: Callable[[str], None]) -> None:
        """`tell` is called with whatever did not go well."""
        self.tried += 1
        self.survived += outcome.survived
        self.committed += outcome.committed
        self.lost += outcome.lost
        if outcome.why or outcome.lost or not outcome.survived:
            tell(str(outcome))

    def join(self, other: Row) -> None:
        self.tried += other.tried
        self.survived += other.survived
        self.committed += other.committed
        self.lost += other.lost


def sound(folder: Path) -> bool:
    """Whether SQLite finds nothing wrong with the home's database."""
    connection = sqlite3.connect(folder / "headstart.db")
    try:
        return bool(connection.execute("PRAGMA integrity_check").fetchone() == ("ok",))
    finally:
        connection.close()
