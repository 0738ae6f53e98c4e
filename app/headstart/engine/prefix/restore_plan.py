"""Plans the restoring of a prompt in advance. Pure.

Policy: restoring a record takes size / rate, computing its tokens takes tokens * seconds; both are
measured. Resident tokens cost nothing, so only tokens beyond them count. Models that can be cut get
the ranges with the largest gain; others return to the farthest snapshot that pays, with the ranges
before it that are not resident.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from headstart.engine.prefix.catalogue import PrefixEntry, Step
from headstart.engine.prefix.speeds import PrefixSpeeds


class RestorePlan(Struct, frozen=True):
    """Keep the first `cut` resident tokens, append the records of `steps`, then return to
    `snapshot`, if any."""

    cut: int
    steps: Sequence[Step] = ()
    snapshot: PrefixEntry | None = None


class Held(Struct, frozen=True):
    """Resident tokens: `common` of them match the prompt; the decoder can be cut to `reach`."""

    common: int
    reach: int


def plan_ranges(
    reach: int, steps: Sequence[Step], chunk: int, speeds: PrefixSpeeds
) -> RestorePlan | None:
    """Plan the ranges to append to `reach` tokens; None if nothing pays."""
    count, first = worth(reach, steps, speeds), reach // chunk
    return RestorePlan(first * chunk, steps[first:count]) if count > first else None


def plan_snapshot(
    held: Held, steps: Sequence[Step] | None, snapshots: Sequence[PrefixEntry], speeds: PrefixSpeeds
) -> RestorePlan | None:
    """Plan the snapshot to return to, out of those along the prompt, the farthest first; `steps` is
    None for a model without ranges. None if nothing pays."""
    for entry in snapshots:
        position = entry.info.end
        if position <= held.reach:
            return None
        beyond = position > held.common
        needed = [step for step in steps or () if beyond and step.start < position]
        if beyond and steps is not None and (not needed or needed[-1].end < position):
            continue
        cost = seconds(entry, speeds) + sum(seconds(step.entry, speeds) for step in needed)
        if (position - held.reach) * speeds.token_seconds > cost:
            return RestorePlan(0 if beyond else held.common, needed, entry)
    return None


def seconds(entry: PrefixEntry, speeds: PrefixSpeeds) -> float:
    return speeds.seconds(entry.payload is None, entry.info.size)


def worth(have: int, steps: Sequence[Step], speeds: PrefixSpeeds) -> int:
    """Number of leading `steps` to restore so that a prompt with `have` resident tokens is
    processed soonest. Steps within the resident tokens cost nothing."""
    best, best_gain, cost = 0, 0.0, 0.0
    for count, step in enumerate(steps, 1):
        if step.end <= have:
            continue
        cost += seconds(step.entry, speeds)
        gain = (step.end - have) * speeds.token_seconds - cost
        if gain > best_gain:
            best, best_gain = count, gain
    return best
