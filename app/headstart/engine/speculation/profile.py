"""Profiles of targets and pairs, kept between turns and runs of the app. Pure values.

All values were measured on this computer; `Profiles`, implemented by storage, keeps them.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from headstart.core.models.profiles import ProfileKey, Profiles, recall
from headstart.engine.speculation.acceptance import Bins, length_bins, margin_bins
from headstart.engine.speculation.costs import Costs

# the most time carried from one reply to the next: more would permit a slow reply
TIME_BUDGET_LIMIT = 8.0


class Paced(msgspec.Struct):
    """Costs of one decoder, for each of its paces (see `Decoder.pace`)."""

    costs: Costs = msgspec.field(default_factory=Costs)
    # the pace that `costs` belong to; None until the decoder reports one
    pace: int | None = None
    others: dict[int, Costs] = {}

    def use(self, pace: int) -> None:
        """Set `costs` to those of this pace."""
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
    # time saved over plain decoding and not spent on risks, in forwards of one token
    time_budget: float = 0.0
    # for models with checkpoints, in forwards of one token: the cost of taking one, None until
    # timed, and of decoding again in rounds that may have to
    checkpoint: float | None = None
    again: float = 0.0

    def __post_init__(self) -> None:
        # older profiles lack this value
        self.lengths.fitted = False


class PairProfile(Paced, rename={"pause": "rest", "reply_length": "reply_tokens"}):
    """A draft with a target: its costs, its acceptance, and the verdict."""

    margins: Bins = msgspec.field(default_factory=margin_bins)
    # tokens between two probes while the draft does not pay; 0 before the first one
    pause: int = 0
    # forwards of one token saved per token written with the draft
    gain: float = 0.0
    # mean length of a reply, to estimate whether prefilling the draft can pay
    reply_length: float = 0.0
    # replies written with this draft chosen: the first one may spend extra time on a trial
    replies: int = 0
    # the most tokens drafted in one forward, in which case `costs` are for processing n tokens and
    # drafting as many; 0 if each takes a forward
    at_once: int = 0


P = TypeVar("P", TargetProfile, PairProfile)


def load(profiles: Profiles | None, key: ProfileKey, kind: type[P]) -> P:
    """The remembered profile, or a new one."""
    profile: P = recall(profiles, key, kind) or kind()
    for costs in (profile.costs, *profile.others.values()):
        costs.begin()
    return profile
