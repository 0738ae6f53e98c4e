"""Costs and gains of drafting for a server's model, learned from real requests. Pure.

A round drafts K tokens locally (D seconds) and has the server check them (T seconds); with a chance
`p` for each token to be right it yields 1 + p + p^2 + ... + p^K tokens (Leviathan et al., "Fast
Inference from Transformers via Speculative Decoding", 2023), each of which would have taken the
stream's measured time per token. Drafting continues while it has been, and promises to be, faster
than the stream; a reply's possible loss is bounded.
"""

from __future__ import annotations

import math

from msgspec import Struct, field

DEPTHS = (2, 3, 4, 6, 8, 12, 16, 24)
# copies are long, and cost nothing to draft
COPIES = (8, 16, 32, 64)
# the gain that a draft must promise to leave the stream, and to continue drafting
BEGINS, GOES_ON = 1.1, 1.0
# shares: the loss allowed for a reply, of its time; the part of earlier savings that it may spend
# in addition; and the limit of that, of its time
LOSS, SPENT, MOST = 0.02, 0.5, 0.1
# the loss allowed for a pair's first rounds, as a share of a usual reply
FIRST = 0.1
# tokens streamed before drafting begins, to measure the speed
STREAMED = 6
_WEIGHT = 0.25
# the share of a time that grows with the count, if only one count was measured
_USUAL = 0.75
# old samples fade, so that estimates follow the text
_FADES = 0.9
# the number of replies to wait after a failed try doubles each time, up to this
_LONGEST_WAIT = 32


class Line(Struct):
    """Seconds by count, as a straight line through the measurements; old samples fade."""

    weight: float = 0.0
    n: float = 0.0
    seconds: float = 0.0
    nn: float = 0.0
    n_seconds: float = 0.0

    def observe(self, n: int, seconds: float) -> None:
        for name, value in (
            ("weight", 1.0),
            ("n", float(n)),
            ("seconds", seconds),
            ("nn", float(n * n)),
            ("n_seconds", n * seconds),
        ):
            setattr(self, name, _FADES * getattr(self, name) + value)

    @property
    def known(self) -> bool:
        return self.weight > 0

    def at(self, n: int) -> float:
        """Seconds at `n`; never falling, as more tokens never cost less."""
        mean_n, mean = self.n / self.weight, self.seconds / self.weight
        spread = self.nn / self.weight - mean_n * mean_n
        if spread < 0.5:
            # one count gives no slope
            slope = _USUAL * mean / max(1.0, mean_n)
        else:
            slope = max(0.0, (self.n_seconds / self.weight - mean_n * mean) / spread)
        return max(0.1 * mean, mean + slope * (n - mean_n))


class Acceptance(Struct):
    """Share of right draft tokens among those whose predecessors were right."""

    right: float = 0.0
    tried: float = 0.0

    def observe(self, right: int, tried: int) -> None:
        fades = _FADES ** min(1.0, tried / 8)
        self.right = fades * self.right + right
        self.tried = fades * self.tried + tried

    @property
    def known(self) -> bool:
        return self.tried > 0

    @property
    def chance(self) -> float:
        return min(0.99, (self.right + 0.5) / (self.tried + 1.0))

    def expected(self, depth: int) -> float:
        """Expected tokens from a round of `depth`."""
        chance = self.chance
        return (1 - chance ** (depth + 1)) / (1 - chance)


class RoundPlan(Struct, frozen=True):
    """Length of the next draft, and its promised gain over the stream."""

    depth: int
    promise: float


class ServerGain(Struct):
    """The gain of one draft with one model of one server. Times are seconds."""

    # time of a check by the number of draft tokens; one line per doubling of the text length
    checks: dict[int, Line] = field(default_factory=dict)
    # time of writing a draft, by its tokens
    drafts: Line = field(default_factory=Line)
    draft_right: Acceptance = field(default_factory=Acceptance)
    copy_right: Acceptance = field(default_factory=Acceptance)
    # time until a resumed stream brings its first token
    resumes: float = 0.0
    # time saved in all replies together
    saved: float = 0.0
    # why the server gets no more checks; "" while it does
    refused: str = ""
    # true once the server has confirmed its own text, and so checks the prompt that it writes from
    trusted: bool = False
    # number of confirmed checks of its own text, before it is trusted
    confirmed: int = 0
    # see `of_echo`
    late: bool | None = None
    # usual time of a reply as a stream
    usual_seconds: float = 0.0
    # characters per token of the server; 0: unknown
    characters: float = 0.0
    replies: int = 0
    next_try: int = 0
    failures: int = 0

    def check_line(self, characters: int) -> Line:
        return self.checks.setdefault(_bucket(characters), Line())

    def check_seconds(self, depth: int, characters: int) -> float | None:
        """Seconds of a check, measured at the nearest text length; None if nothing was measured."""
        known = [key for key, line in self.checks.items() if line.known]
        if not known:
            return None
        wanted = _bucket(characters)
        return self.checks[min(known, key=lambda key: abs(key - wanted))].at(depth)

    def plan(
        self,
        token: float,
        characters: int,
        fixed: int = 0,
        most: int = 64,
        copy: bool = False,
        allowance: float = math.inf,
    ) -> RoundPlan | None:
        """The best depth, if the stream takes `token` seconds per token; None if nothing is known.
        `fixed`: the user's depth. `copy`: the draft is a copy of earlier text. `allowance`: the
        loss allowed for a round that yields only one token before the stream resumes."""
        right = self.copy_right if copy else self.draft_right
        if not right.known or (not copy and not self.drafts.known):
            return None
        best = None
        for depth in (fixed,) if fixed else COPIES if copy else DEPTHS:
            if depth > most and best is not None:
                break
            check = self.check_seconds(depth, characters)
            if check is None:
                return None
            seconds = check + (0.0 if copy else self.drafts.at(depth))
            if seconds + self.resumes - token > allowance:
                break
            promise = right.expected(min(depth, most)) * token / seconds
            if best is None or promise > best.promise:
                best = RoundPlan(min(depth, most), promise)
        return best

    def wants_try(self) -> bool:
        """True if it is time to measure after a reply without drafts."""
        return not self.refused and self.replies >= self.next_try

    def reply_ended(self, drafted: bool, gained: float, seconds: float) -> None:
        """Count a reply; one that lost time by drafting delays the next try. `seconds`: its time as
        a stream."""
        self.replies += 1
        self.saved += gained
        self.usual_seconds = _blend(self.usual_seconds, seconds) if self.usual_seconds else seconds
        if drafted and gained < 0:
            self.put_off()
        elif drafted:
            self.failures = 0

    def put_off(self) -> None:
        """Wait before the next try or measurement, as drafting did not pay."""
        self.failures += 1
        self.next_try = self.replies + min(_LONGEST_WAIT, 2**self.failures)

    def observe_resume(self, seconds: float) -> None:
        self.resumes = seconds if not self.resumes else _blend(self.resumes, seconds)

    @property
    def first_loss(self) -> float:
        """The loss allowed for first rounds, while the pair has not lost time yet."""
        return 0.0 if self.failures or self.saved < 0 else FIRST * self.usual_seconds

    def allowed(self, seconds: float) -> float:
        """The loss allowed for a reply that has taken `seconds`; at least a usual reply's time
        counts."""
        seconds = max(seconds, self.usual_seconds)
        return LOSS * seconds + min(SPENT * max(0.0, self.saved), MOST * seconds)


def _blend(old: float, new: float) -> float:
    return old + _WEIGHT * (new - old)


def _bucket(characters: int) -> int:
    return int(math.log2(max(1, characters / 1000) + 1))
