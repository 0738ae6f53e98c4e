"""Whether restoring pays, and how far; pure.

Restoring a record takes size / rate, reading its tokens takes tokens * seconds; both are
measured. What is resident costs nothing, so only what lies beyond it counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from headstart.engine.prefix.catalogue import Entry, Step
from headstart.engine.prefix.speeds import PrefixSpeeds


def seconds(entry: Entry, speeds: PrefixSpeeds) -> float:
    return speeds.seconds(entry.payload is None, entry.info.size)


def worth(have: int, steps: Sequence[Step], speeds: PrefixSpeeds) -> int:
    """How many of `steps`, from the first on, to restore so that a prompt of which `have` tokens
    are resident is read soonest. Those that lie within what is resident cost nothing."""
    best, best_gain, cost = 0, 0.0, 0.0
    for count, step in enumerate(steps, 1):
        if step.end <= have:
            continue
        cost += seconds(step.entry, speeds)
        gain = (step.end - have) * speeds.token_seconds - cost
        if gain > best_gain:
            best, best_gain = count, gain
    return best


def snapshot_pays(
    have: int, common: int, entry: Entry, steps: Sequence[Step], speeds: PrefixSpeeds
) -> bool:
    """Whether going to `entry` pays; `steps` are imported with it unless it lies within `common`,
    the tokens whose ranges are resident."""
    cost = seconds(entry, speeds)
    if entry.info.end > common:
        cost += sum(seconds(step.entry, speeds) for step in steps)
    return (entry.info.end - have) * speeds.token_seconds > cost
