"""Abilities of a model's file on this computer beyond writing; tried once for each. Pure."""

from __future__ import annotations

from enum import StrEnum


class Ability(StrEnum):
    """`PREFIXES`: its KV state as bytes, and back. `CUTTING`: taking tokens back.
    `TREES`: several continuations in one forward."""

    PREFIXES = "prefixes"
    CUTTING = "cutting"
    TREES = "trees"


Lacking = frozenset[Ability]
LACKS_NOTHING: Lacking = frozenset()


def from_names(names: object) -> Lacking:
    """Those that a file names; others are nothing that this version knows."""
    known = {ability.value for ability in Ability}
    if not isinstance(names, list):
        return LACKS_NOTHING
    return frozenset(Ability(name) for name in names if name in known)
