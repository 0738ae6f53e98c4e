"""Profiles of targets and pairs, kept between turns and starts. Pure values.

Everything was measured on this computer; `Profiles` is what keeps it (storage implements it).
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from headstart.core.models.profiles import ProfileKey, Profiles, recall
from headstart.engine.speculation.acceptance import Bins, length_bins, margin_bins
from headstart.engine.speculation.costs import Costs

# the most that is carried from one reply to the next: more would forgive a slow reply
TIME_BUDGET_LIMIT = 8.0


class Paced(msgspec.Struct):
    """Costs of one decoder, for each pace that it has (see `Decoder.pace`)."""

    costs: Costs = msgspec.field(default_factory=Costs)
    # the pace that `costs` belong to; None until the decoder told one
    pace: int | None = None
    others: dict[int, Costs] = {}

    def use(self, pace: int) -> None:
        """Let `costs` be those of this pace."""
        if pace == self.pace:
            return
        if self.pace is not None:
            self.others[self.pace] = self.costs
            known = self.others.pop(pace) if pace in self.others else None
            self.costs = known or self.costs.as_first_idea()
        self.pace = pace


class TargetProfile(Paced, rename={"time_budget": "bank"}):
    """A target on this device: its costs, prompt lookup's acceptance, the time saved so far."""

    lengths: Bins = msgspec.field(default_factory=length_bins)
    # time saved against plain decoding and not spent on risks, in forwards of one token
    time_budget: float = 0.0
    # for models that go back to a checkpoint, in forwards of one token: what taking it costs, None
    # before it was timed, and what is decoded again in rounds that may have to
    checkpoint: float | None = None
    again: float = 0.0

    def __post_init__(self) -> None:
        # profiles from before that was known
        self.lengths.fitted = False


class PairProfile(Paced, rename={"pause": "rest", "reply_length": "reply_tokens"}):
    """A draft with a target: its costs, its acceptance, and the verdict."""

    margins: Bins = msgspec.field(default_factory=margin_bins)
    # tokens between two probes while it does not pay; 0 before the first one
    pause: int = 0
    # forwards of one token saved for each token written with it, while it was used
    gain: float = 0.0
    # mean length of a reply, for what reading a prompt into the draft can pay back
    reply_length: float = 0.0
    # replies that were written with this draft chosen: the first one may try it at some expense
    replies: int = 0
    # the most tokens that it drafts in one forward, and then `costs` are those of reading n tokens
    # and drafting as many; 0 where each is a forward
    at_once: int = 0


P = TypeVar("P", TargetProfile, PairProfile)


def load(profiles: Profiles | None, key: ProfileKey, kind: type[P]) -> P:
    """The remembered profile, or a new one."""
    profile: P = recall(profiles, key, kind) or kind()
    for costs in (profile.costs, *profile.others.values()):
        costs.begin()
    return profile
