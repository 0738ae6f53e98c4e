"""Share of right draft tokens, learned in bins. Pure.

A draft model's token is binned by its margin (see `decoder.Prediction`), a prompt lookup token by
the length of its match. Old samples fade, so that the estimates follow the text.
"""

from __future__ import annotations

from bisect import bisect_right

import msgspec

# margins in natural logarithms; 0.5 is 62 % against 38 % for the second
MARGIN_EDGES = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
# acceptance of a well-matched draft in these bins (SmolLM2 against its widened self)
MARGIN_PRIOR = (0.5, 0.65, 0.75, 0.82, 0.88, 0.92, 0.95, 0.97, 0.98, 0.99)
LENGTH_EDGES = (2, 3, 4, 5, 7, 9, 13, 17, 24)
LENGTH_PRIOR = (0.4, 0.25, 0.4, 0.5, 0.6, 0.7, 0.8, 0.88, 0.92, 0.97)
# number of samples that the prior counts for, and the fading of a sample with each further one
_PRIOR_WEIGHT = 3.0
_FADE = 0.993
_RECENT_FADE, _RECENT_WEIGHT, _RECENT_MOST = 0.92, 4.0, 1.1

# names of renamed fields in stored profiles
_STORED = {
    "verified": "tested",
    "all_verified": "all_tested",
    "branches_accepted": "second_accepted",
    "branches_verified": "second_tested",
}


class Bins(msgspec.Struct, rename=_STORED):
    """Accepted and verified draft tokens by bin. `edges` and `prior` define the bins."""

    edges: tuple[float, ...]
    prior: tuple[float, ...]
    accepted: list[float] = []
    verified: list[float] = []
    # the same over all bins, and the acceptance that the prior expected
    all_accepted: float = 0.0
    all_verified: float = 0.0
    expected: float = 0.0
    # the last dozen samples against their expectation: texts differ
    recent_accepted: float = 0.0
    recent_expected: float = 0.0
    # tree branches, verified where the first token was wrong
    branches_accepted: float = 0.0
    branches_verified: float = 0.0
    # whether samples in some bins inform the others, as for a draft model; short repeats occur by
    # chance and say nothing about long ones
    fitted: bool = True

    def __post_init__(self) -> None:
        if len(self.verified) != len(self.prior):
            self.accepted = [0.0] * len(self.prior)
            self.verified = [0.0] * len(self.prior)

    def bin_of(self, value: float) -> int:
        return bisect_right(self.edges, value)

    def chance(self, value: float) -> float:
        """The probability that a draft token with this margin or match length is right."""
        return self.chance_in(self.bin_of(value))

    def begin(self) -> None:
        """Forget the recent samples, as another text begins."""
        self.recent_accepted = self.recent_expected = 0.0

    def chance_in(self, index: int) -> float:
        return self._here(self._usual(index))

    def _here(self, usual: float) -> float:
        """A bin's usual acceptance adjusted to this text: if its drafts were right more often than
        expected, at most a tenth fewer are assumed wrong, or long runs would look certain."""
        share = (self.recent_accepted + _RECENT_WEIGHT) / (self.recent_expected + _RECENT_WEIGHT)
        here = usual * share if share < 1 else 1 - (1 - usual) / min(_RECENT_MOST, share)
        return min(0.995, here)

    def _usual(self, index: int) -> float:
        prior = self.prior[index] * self._fit()
        weight = self.verified[index] + _PRIOR_WEIGHT
        return min(0.995, (self.accepted[index] + _PRIOR_WEIGHT * prior) / weight)

    @property
    def mean(self) -> float:
        """The probability that any draft token is right."""
        weight = self.all_verified + _PRIOR_WEIGHT
        prior = sum(self.prior) / len(self.prior)
        usual = (self.all_accepted + _PRIOR_WEIGHT * prior) / weight
        return self._here(usual)

    @property
    def second(self) -> float:
        """The probability that the second likeliest token is right if the first is not."""
        return (self.branches_accepted + 0.8) / (self.branches_verified + 2.0)

    def share(self, index: int) -> float:
        """Share of draft tokens that fall into the bin."""
        flat = 1 / len(self.prior)
        return (self.verified[index] + flat) / (self.all_verified_by_bin + 1)

    @property
    def all_verified_by_bin(self) -> float:
        return sum(self.verified)

    def observe(self, value: float, right: bool, lasting: bool = True) -> None:
        """Count a verified draft token; one that is not `lasting` counts only for the present
        text."""
        index = self.bin_of(value)
        self.recent_expected = self.recent_expected * _RECENT_FADE + self._usual(index)
        self.recent_accepted = self.recent_accepted * _RECENT_FADE + right
        if not lasting:
            return
        for total in (self.accepted, self.verified):
            total[index] *= _FADE
        self.all_accepted = self.all_accepted * _FADE + right
        self.all_verified = self.all_verified * _FADE + 1
        self.expected = self.expected * _FADE + self.prior[index]
        self.accepted[index] += right
        self.verified[index] += 1

    def observe_branch(self, right: bool) -> None:
        self.branches_accepted = self.branches_accepted * _FADE + right
        self.branches_verified = self.branches_verified * _FADE + 1

    def _fit(self) -> float:
        """This pair's acceptance relative to the prior."""
        if not self.fitted:
            return 1.0
        return (self.all_accepted + _PRIOR_WEIGHT) / (self.expected + _PRIOR_WEIGHT)


def margin_bins() -> Bins:
    return Bins(MARGIN_EDGES, MARGIN_PRIOR)


def length_bins() -> Bins:
    return Bins(LENGTH_EDGES, LENGTH_PRIOR, fitted=False)
