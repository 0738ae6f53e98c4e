"""Optional abilities of a model's file on this computer; probed once for each. Pure."""

from __future__ import annotations

from enum import StrEnum


class Ability(StrEnum):
    """`PREFIXES`: saving and restoring its KV state as bytes. `CUTTING`: removing tokens from the
    end. `TREES`: several continuations in one forward."""

    PREFIXES = "prefixes"
    CUTTING = "cutting"
    TREES = "trees"


Lacking = frozenset[Ability]
LACKS_NOTHING: Lacking = frozenset()


def from_names(names: object) -> Lacking:
    """The abilities in a stored list of names; names unknown to this version are ignored."""
    known = {ability.value for ability in Ability}
    if not isinstance(names, list):
        return LACKS_NOTHING
    return frozenset(Ability(name) for name in names if name in known)
