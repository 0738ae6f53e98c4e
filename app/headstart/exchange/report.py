"""Parts of an import that are left out, with the reason; for the user, not for the log."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct, field

from headstart.core.text.whole import whole
from headstart.core.told import Fact, Told, told

# lines that are kept; everything is counted
_MOST_LINES = 500


class Skipped(Struct, frozen=True):
    """`where`: a file or a chat, as the user knows it."""

    where: str
    why: Told


class Report(Struct):
    lines: list[Skipped] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def skip(self, where: str, code: str, **facts: Fact) -> None:
        """Something that does not come in, or not as it was."""
        self.counts[code] += 1
        if len(self.lines) < _MOST_LINES:
            self.lines.append(Skipped(whole(where), told(code, **facts)))

    def problem(self, where: str, why: Told) -> None:
        self.counts[why.code] += 1
        if len(self.lines) < _MOST_LINES:
            self.lines.append(Skipped(whole(where), why))

    @property
    def left_out(self) -> int:
        """Number of items beyond the lines."""
        return self.counts.total() - len(self.lines)
