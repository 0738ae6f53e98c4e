"""Drafts for a server's model that are used whatever they cost.

How long a draft or a check takes is this computer's affair; a test is about the words.
"""

from __future__ import annotations

import math

from headstart.engine.remote.drafting.gain import RoundPlan, ServerGain


class Eager(ServerGain):
    """From the first reply on."""

    def plan(
        self,
        token: float,
        characters: int,
        fixed: int = 0,
        most: int = 64,
        copy: bool = False,
        allowance: float = 0.0,
    ) -> RoundPlan | None:
        return RoundPlan(min(most, 6), 0.0 if copy else 9.0)

    def allowed(self, seconds: float) -> float:
        return 1000.0

    def put_off(self) -> None:
        """Never."""


class EagerOnceKnown(Eager):
    """After what a reply has told of the draft and of the server."""

    def plan(
        self,
        token: float,
        characters: int,
        fixed: int = 0,
        most: int = 64,
        copy: bool = False,
        allowance: float = 0.0,
    ) -> RoundPlan | None:
        known = ServerGain.plan(self, token, characters, fixed, most, copy, math.inf)
        return known and Eager.plan(self, token, characters, fixed, most, copy, allowance)
