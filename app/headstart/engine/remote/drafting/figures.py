"""The stats of a reply drafted locally and checked by a server. Pure."""

from __future__ import annotations

from headstart.core.chats.parts import Origin
from headstart.core.chats.values import SpeculationStats


def counted(stats: SpeculationStats, origin: Origin, tried: int, right: int) -> SpeculationStats:
    """The stats with one more round."""
    copied = origin is Origin.LOOKUP
    return SpeculationStats(
        rounds=stats.rounds + 1,
        draft_verified=stats.draft_verified + (0 if copied else tried),
        draft_accepted=stats.draft_accepted + (0 if copied else right),
        lookup_verified=stats.lookup_verified + (tried if copied else 0),
        lookup_accepted=stats.lookup_accepted + (right if copied else 0),
    )


def whole(stats: SpeculationStats, generated: int, token_seconds: float) -> SpeculationStats | None:
    """The stats of a reply, streamed tokens included; None if nothing was drafted."""
    if not stats.verified:
        return None
    streamed = max(0, generated - stats.accepted - stats.rounds)
    return SpeculationStats(
        stats.rounds + streamed,
        stats.draft_verified,
        stats.draft_accepted,
        stats.lookup_verified,
        stats.lookup_accepted,
        generated * token_seconds,
    )
