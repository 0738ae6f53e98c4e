"""Never slower: limits the loss by the time saved so far. Pure. Times are seconds.

A risky action runs only if its worst case, nothing accepted, fits in the time saved, plus one
hundredth of the time spent, plus `START` forwards of one token. Whatever the draft does, the total
stays within plain / 0.99 + START forwards. Only the first reply with a chosen pair may spend
`FIRST_SHARE` more, so that the pair gets a chance at once. An unproven pair that all measurements
favour may borrow as much in a later reply: a loss from it is a debt of the next ones. Nothing is
spent on a pair that is known not to pay: idle work notices when that changes.
"""

from __future__ import annotations

from headstart.engine.speculation.depth.cost_table import CostTable
from headstart.engine.speculation.depth.worth import KNOWN_TESTS, Worth
from headstart.engine.speculation.profile import TIME_BUDGET_LIMIT

START = 1.2
SHARE = 0.01
# extra share of the first reply with a new pair, its assumed length in tokens, and that length
# after a calibration
FIRST_SHARE, FIRST_TOKENS, CALIBRATED_TOKENS = 0.04, 100, 150
# a short reply cannot pay back the cost of a trial: the extra is zero up to the first length, and
# complete from the second on
_NOTHING_AT, _ALL_AT = 40, 100
# a reply's gain has full weight from this many tokens of rounds with drafts
GAIN_TOKENS = 32
# shorter replies teach nothing about a pair
_SHORT_REPLY = 16
# the gain above which a pair is proven, and may prefill its prompt at once
_PROVEN = 0.05
_CREDIT_LIMIT = 30.0
# forwards of the credit that single rounds may risk
_ROUND_CREDIT = 6.0
# the recent rate is a long average: a lucky streak must not make every draft look expensive
_RATE_FADE, _RATE_KEPT = 0.97, 0.4


class TimeBudget:
    """The time budget of a target, from reply to reply."""

    def __init__(self, costs: CostTable, worth: Worth) -> None:
        self._costs = costs
        self._worth = worth
        # the length of the text, which affects the costs of forwards
        self.context = 0
        # of this reply: time saved or lost, time taken, tokens
        self._saved = 0.0
        self._elapsed = 0.0
        self._tokens = 0
        # of all replies
        self.all_tokens = 0
        # rounds since the last plain one
        self.since_plain = 0
        self._rate_tokens = self._rate_seconds = 0.0
        self._gain_tokens = 0
        self._gain_seconds = 0.0
        # the assumed length of a first reply; 0 for later ones
        self._first = 0.0

    def begin(self) -> None:
        """Begin a reply."""
        target, pair = self._costs.target, self._costs.pair
        self._first = 0.0
        if pair is not None and pair.replies == 0:
            calibrated = pair.margins.all_verified >= KNOWN_TESTS
            self._first = float(CALIBRATED_TOKENS if calibrated else FIRST_TOKENS)
        self._saved = target.time_budget * self._costs.decode_time
        self._elapsed = 0.0
        self._tokens = self.since_plain = 0
        self._gain_tokens, self._gain_seconds = 0, 0.0
        self._rate_tokens *= _RATE_KEPT
        self._rate_seconds *= _RATE_KEPT

    def end(self) -> None:
        """End the reply, and carry its savings and measurements over to the next one."""
        decode_time, pair = self._costs.decode_time, self._costs.pair
        # a short reply that spent the extra of a first one counts as the first
        over = self._saved + SHARE * self._elapsed < 0 and self._gain_seconds < 0
        overspent = self._first > 0 and over
        if pair is not None and (self._tokens >= _SHORT_REPLY or overspent):
            pair.replies += 1
        if pair is not None and self._tokens >= _SHORT_REPLY:
            known = pair.reply_length or self._tokens
            pair.reply_length = known + 0.3 * (self._tokens - known)
            if self._gain_tokens and decode_time > 0:
                gain = self._gain_seconds / decode_time / self._gain_tokens
                # with few tokens the gain mostly reflects the length of the prefill
                weight = min(1.0, self._gain_tokens / GAIN_TOKENS)
                pair.gain += weight * (0.5 if pair.gain else 1.0) * (gain - pair.gain)
        if decode_time > 0:
            left = (self._saved + SHARE * self._elapsed) / decode_time
            # the extra of a first reply is no debt of the next one, nor is a loss by a pair that
            # saves more in other replies
            least = 0.0 if self._first or self.proven else -TIME_BUDGET_LIMIT
            self._costs.target.time_budget = max(least, min(TIME_BUDGET_LIMIT, left))

    @property
    def is_first(self) -> bool:
        """True if this is the first reply with a pair."""
        return self._first > 0

    def expect_at_most(self, tokens: int) -> None:
        """Limit the reply's length to `tokens` more: a short one has less to spend."""
        if self._first:
            self._first = min(self._first, float(self._tokens + tokens))

    @property
    def proven(self) -> bool:
        pair = self._costs.pair
        return pair is not None and pair.gain > _PROVEN

    # --- the allowed loss ----------------------------------------------------------------

    def allowance(self) -> float:
        """Seconds that may be lost at present."""
        decode_time = self._costs.decode_time
        first = 0.0
        if self._first:
            share = min(1.0, max(0.0, (self._first - _NOTHING_AT) / (_ALL_AT - _NOTHING_AT)))
            first = share * FIRST_SHARE * max(self._elapsed, self._first * decode_time)
        return self._saved + SHARE * self._elapsed + START * decode_time + first

    def risk(self) -> float:
        """Seconds that rounds may lose at present, with part of the pair's credit."""
        return self.allowance() + min(self.credit(), _ROUND_CREDIT * self._costs.decode_time)

    def credit(self) -> float:
        """Seconds of its probable savings that a proven or promising pair may spend in advance."""
        pair = self._costs.pair
        if pair is None:
            return 0.0
        left = max(32.0, pair.reply_length - self._tokens)
        if self.proven:
            return 0.5 * min(_CREDIT_LIMIT, pair.gain * left) * self._costs.decode_time
        borrowed = FIRST_SHARE * max(float(FIRST_TOKENS), pair.reply_length)
        return min(borrowed, 0.5 * self.promise * left) * self._costs.decode_time

    @property
    def promise(self) -> float:
        """Forwards that a pair is expected to save per token; 0 in its first reply, which has its
        own extra, and for a proven pair."""
        if self._first or self.proven:
            return 0.0
        return self._worth.promise(self.context)

    def may_spend(self, seconds: float) -> bool:
        """True if `seconds` may pass without a token."""
        return seconds <= self.allowance() + self.credit()

    # --- time spent ----------------------------------------------------------------------

    def spend(self, seconds: float, drafting: bool = True) -> None:
        """Record time without a token: for the draft, or for the index of prompt lookup."""
        self._saved -= seconds
        self._elapsed += seconds
        if drafting:
            self._gain_seconds -= seconds

    def earn(self, tokens: int, seconds: float, speculated: bool, drafted: bool) -> None:
        """Record a round that emitted `tokens` in `seconds`, with the time of dropped drafts."""
        self._count(tokens, seconds)
        self.since_plain = self.since_plain + 1 if speculated else 0
        saved = tokens * self._costs.decode_time - seconds
        if speculated:
            self._saved += saved
        if drafted:
            self._gain_tokens += tokens
            self._gain_seconds += saved

    def earn_plain(self, seconds: float) -> None:
        """Record a plain round."""
        self._costs.target.costs.observe(1, 0, seconds)
        self._count(1, seconds)
        self.since_plain = 0

    def _count(self, tokens: int, seconds: float) -> None:
        self._elapsed += seconds
        self._tokens += tokens
        self.all_tokens += tokens
        self._rate_tokens = self._rate_tokens * _RATE_FADE + tokens
        self._rate_seconds = self._rate_seconds * _RATE_FADE + seconds

    def recent_rate(self) -> float:
        """This text's recent tokens per forward of one, at least plain decoding's 1."""
        if self._rate_seconds <= 0:
            return 1.0
        return max(1.0, self._rate_tokens / self._rate_seconds * self._costs.decode_time)
