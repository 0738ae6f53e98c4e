"""Plans of restoring a prompt, made before anything is restored. Pure.

Policy: restoring a record takes size / rate, computing its tokens takes tokens * seconds; both are
measured. Resident tokens cost nothing, so only what lies beyond them counts. Models that can be cut
get the ranges that gain most; others go back to the farthest snapshot that pays, with the ranges
before it where those are not resident.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from headstart.engine.prefix.catalogue import PrefixEntry, Step
from headstart.engine.prefix.speeds import PrefixSpeeds


class RestorePlan(Struct, frozen=True):
    """Keep the first `cut` resident tokens, append the records of `steps`, and go back to
    `snapshot` then, where there is one."""

    cut: int
    steps: Sequence[Step] = ()
    snapshot: PrefixEntry | None = None


class Held(Struct, frozen=True):
    """`common` resident tokens are the prompt's; the decoder can be cut to `reach` of them."""

    common: int
    reach: int


def plan_ranges(
    reach: int, steps: Sequence[Step], chunk: int, speeds: PrefixSpeeds
) -> RestorePlan | None:
    """Plan the ranges to append to `reach` tokens; None where nothing pays."""
    count, first = worth(reach, steps, speeds), reach // chunk
    return RestorePlan(first * chunk, steps[first:count]) if count > first else None


def plan_snapshot(
    held: Held, steps: Sequence[Step] | None, snapshots: Sequence[PrefixEntry], speeds: PrefixSpeeds
) -> RestorePlan | None:
    """Plan the snapshot to go back to, of those along the prompt, the farthest first; `steps` are
    None for a model without ranges. None where nothing pays."""
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
    """Number of `steps`, from the first on, to restore so that a prompt with `have` resident tokens
    is processed soonest. Those that lie within the resident ones cost nothing."""
    best, best_gain, cost = 0, 0.0, 0.0
    for count, step in enumerate(steps, 1):
        if step.end <= have:
            continue
        cost += seconds(step.entry, speeds)
        gain = (step.end - have) * speeds.token_seconds - cost
        if gain > best_gain:
            best, best_gain = count, gain
    return best
