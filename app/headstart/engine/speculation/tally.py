"""Counts a turn's rounds, for the stats under the reply."""

from __future__ import annotations

from msgspec import Struct

from headstart.core.chats.parts import Origin
from headstart.core.chats.values import SpeculationStats


class Tally(Struct):
    """The counts of one turn. `last_depth` and `last_source`: of the last round; times in
    seconds."""

    rounds: int = 0
    # seconds that the same tokens would have taken one by one
    plain_seconds: float = 0.0
    last_depth: int = 0
    last_source: Origin = Origin.TARGET
    draft_verified: int = 0
    draft_accepted: int = 0
    lookup_verified: int = 0
    lookup_accepted: int = 0

    def round(self, source: Origin, depth: int, plain_seconds: float) -> None:
        self.rounds += 1
        self.plain_seconds += plain_seconds
        self.last_source, self.last_depth = source, depth

    def verified(self, source: Origin, verified: int, accepted: int) -> None:
        """Count the verified tokens of a draft, and the right ones."""
        if source is Origin.DRAFT:
            self.draft_verified += verified
            self.draft_accepted += accepted
        else:
            self.lookup_verified += verified
            self.lookup_accepted += accepted

    @property
    def stats(self) -> SpeculationStats:
        return SpeculationStats(
            rounds=self.rounds,
            draft_verified=self.draft_verified,
            draft_accepted=self.draft_accepted,
            lookup_verified=self.lookup_verified,
            lookup_accepted=self.lookup_accepted,
            plain_seconds=self.plain_seconds,
        )
