"""Items left out of an import, with the reasons; for the user, not for the log."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct, field

from headstart.core.text.whole import whole
from headstart.core.told import Fact, Told, told

# most lines kept; everything is counted
_MOST_LINES = 500


class Skipped(Struct, frozen=True):
    """`where`: a file or a chat, by its name for the user."""

    where: str
    why: Told


class Report(Struct):
    lines: list[Skipped] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def skip(self, where: str, code: str, **facts: Fact) -> None:
        """Report something that is not imported, or not unchanged."""
        self.counts[code] += 1
        if len(self.lines) < _MOST_LINES:
            self.lines.append(Skipped(whole(where), told(code, **facts)))

    def problem(self, where: str, why: Told) -> None:
        self.counts[why.code] += 1
        if len(self.lines) < _MOST_LINES:
            self.lines.append(Skipped(whole(where), why))

    @property
    def left_out(self) -> int:
        """Number of items beyond the kept lines."""
        return self.counts.total() - len(self.lines)
