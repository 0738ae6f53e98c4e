"""How deep to guess, and whether at all: most expected tokens for the expected time. Pure.

Costs are counted in forwards of one token of the target. The source with the most expected tokens
for the expected time wins; within a round every further guess is worth its expected tokens minus
its time times that rate (the ratio rule for renewal rewards, Dinkelbach 1967). The rate is what the
draft can give in this text, not an average of the past: against that, one plain token after
another would look cheap in a text where guesses are right less often. All depths are looked at,
because the cost of a forward moves in steps.

Never slower: a risky action runs only if its worst case, nothing accepted, fits in what was
saved so far, plus one hundredth of the time spent, plus `START` forwards of one token. Whatever
the draft does, the total stays within plain / 0.99 + START forwards. Only the first reply with a
pair that its user chose may spend `FIRST_SHARE` more, so that the pair gets a chance at once; and
nothing is spent on a pair that is known not to pay: what is idle finds out when that changes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from headstart.core.parts import Origin
from headstart.core.settings import Speculation
from headstart.engine.speculation.costs import PRIOR_SLOPE, bucket
from headstart.engine.speculation.plan import PLAIN, Path, Plan
from headstart.engine.speculation.profile import BANK_LIMIT, PairProfile, TargetProfile
from headstart.engine.speculation.repeats import Match

START = 1.2
SHARE = 0.01
# of the first reply with a new pair, taken to have at least so many tokens; and so many when
# calibration has shown that its drafts are right
FIRST_SHARE, FIRST_TOKENS, CALIBRATED_TOKENS = 0.04, 100, 150
# a pair is known when so many of its drafts were verified
KNOWN_TESTS = 24.0
# what a reply gained counts whole with so many tokens of rounds with drafts
GAIN_TOKENS = 32
MAX_DRAFT = 16
MAX_REPEAT = 31
# a draft that lags by more has to be read in a step of its own
LIVE_LAG = 8
# tokens of the reply before a draft without a past is scored on them, and how much it reads
FIRST_PROBE, PROBE_WINDOW = 16, 32
REST_FIRST, REST_LONGEST = 64, 1024
# sizes of forwards that say most about the others are tried first, each before the next one
_SIZES = (2, 4, 8, 16)
# of drafts that are right often enough for most computers: so many rows are timed again, after so
# many tokens at first, and each time that they are as slow as they were after twice as many
LOOK_ROWS, LOOK_FIRST, LOOK_LONGEST = (4, 2), 64, 2048
# so much slower may a draft have been measured than it is
LOOK_FACTOR = 3.0
# a plain forward now and then keeps the unit of cost honest
PLAIN_EVERY = 48
# the best rate known is a long average: a lucky streak must not make every guess look dear
_RATE_FADE, _RATE_KEPT = 0.97, 0.4
# what a pair must promise for its prompt to be read before it has proven itself in this chat
_PROVEN = 0.05
_CREDIT_LIMIT = 30.0
# of what a good past promises, single rounds may risk so many forwards
_ROUND_CREDIT = 6.0
# forwards that one round may risk if all that is left allows it; more only up to that share of it:
# one unlucky round must leave enough for the next ones
_FREELY, _RISK_SHARE = 2.5, 0.5
_SLACK = 0.25  # tokens


class Depth:
    """Decides for one pair; lives as long as its profiles. Times are seconds."""

    def __init__(
        self, target: TargetProfile, pair: PairProfile | None, settings: Speculation
    ) -> None:
        self.target = target
        self.pair = pair
        self.settings = settings
        self._saved = 0.0
        self._elapsed = 0.0
        self._rate_tokens = self._rate_seconds = 0.0
        self._tokens = 0
        self._since_plain = 0
        self._since_probe = 0
        self._gain_tokens = 0
        self._gain_seconds = 0.0
        # drafts that are verified only to time it, tokens since the last time, and until the next
        self._looking = 0
        self._since_look, self._look_wait = LOOK_FIRST, LOOK_FIRST
        # the length that a first reply is taken to have; 0 for later ones
        self._first = 0.0
        # tokens for each forward of one that time is worth: what the draft gives at its best
        self._worth = 1.0
        self._table: list[float] = []
        self._worst: list[float] = []
        self._table_of: tuple[int, int, int | None, float] | None = None

    # --- turns ---------------------------------------------------------------------------

    def begin(self, pair: PairProfile | None, settings: Speculation) -> None:
        """A new reply begins."""
        self.pair, self.settings = pair, settings
        self.target.lengths.begin()
        if pair is not None:
            pair.margins.begin()
        self._first = 0.0
        if pair is not None and pair.replies == 0:
            calibrated = pair.margins.all_tested >= KNOWN_TESTS
            self._first = float(CALIBRATED_TOKENS if calibrated else FIRST_TOKENS)
        self._looking = 0
        unit = self.target.costs.unit
        self._saved = self.target.bank * unit
        self._elapsed = 0.0
        self._tokens = self._since_probe = self._since_plain = 0
        self._gain_tokens, self._gain_seconds = 0, 0.0
        self._rate_tokens *= _RATE_KEPT
        self._rate_seconds *= _RATE_KEPT

    def follow(self, target: int, draft: int | None) -> None:
        """The decoders go at these paces now."""
        if target != self.target.pace:
            before = self.target.costs.unit
            self.target.use(target)
            if before and not self.target.costs.unit:
                # until it is measured, which takes two plain forwards
                self.target.costs.unit = before
        if draft is not None and self.pair is not None:
            self.pair.use(draft)

    def end(self) -> None:
        """The reply is over: what was saved and learned is carried to the next one."""
        unit, pair = self.target.costs.unit, self.pair
        if pair is not None and self._tokens >= FIRST_PROBE:
            pair.replies += 1
            known = pair.reply_tokens or self._tokens
            pair.reply_tokens = known + 0.3 * (self._tokens - known)
            if self._gain_tokens and unit > 0:
                gain = self._gain_seconds / unit / self._gain_tokens
                # of few tokens it says how long the text was that the draft had to read
                weight = min(1.0, self._gain_tokens / GAIN_TOKENS)
                pair.gain += weight * (0.5 if pair.gain else 1.0) * (gain - pair.gain)
        if unit > 0:
            left = (self._saved + SHARE * self._elapsed) / unit
            # no debt of the next reply is what the first one with a pair may spend, nor what a pair
            # has lost that saves more than that in other replies
            least = 0.0 if self._first or self._proven() else -BANK_LIMIT
            self.target.bank = max(least, min(BANK_LIMIT, left))

    # --- the bank ------------------------------------------------------------------------

    def allowance(self) -> float:
        """Seconds that may be lost now."""
        unit = self.target.costs.unit
        first = FIRST_SHARE * max(self._elapsed, self._first * unit) if self._first else 0.0
        return self._saved + SHARE * self._elapsed + START * unit + first

    def _risk(self) -> float:
        """Seconds that rounds may lose now, counting on a pair with a good past."""
        return self.allowance() + min(self._credit(), _ROUND_CREDIT * self.target.costs.unit)

    def may_spend(self, seconds: float) -> bool:
        """Whether so much may go by without a token."""
        return seconds <= self.allowance() + self._credit()

    def spend(self, seconds: float) -> None:
        """Time that went by without a token: a draft was read."""
        self._saved -= seconds
        self._elapsed += seconds
        self._gain_seconds -= seconds

    def earn(self, tokens: int, seconds: float, guessed: bool, drafted: bool) -> None:
        """A round emitted `tokens` in `seconds`, guesses that were dropped included."""
        unit = self.target.costs.unit
        self._elapsed += seconds
        self._tokens += tokens
        self._since_probe += tokens
        self._since_look += tokens
        self._since_plain = self._since_plain + 1 if guessed else 0
        if guessed:
            self._saved += tokens * unit - seconds
        if drafted:
            self._gain_tokens += tokens
            self._gain_seconds += tokens * unit - seconds
        self._rate_tokens = self._rate_tokens * _RATE_FADE + tokens
        self._rate_seconds = self._rate_seconds * _RATE_FADE + seconds

    def earn_plain(self, seconds: float) -> None:
        """A plain round took so long."""
        costs = self.target.costs
        costs.observe(1, 0, seconds)
        self._elapsed += seconds
        self._tokens += 1
        self._since_probe += 1
        self._since_look += 1
        self._since_plain = 0
        self._rate_tokens = self._rate_tokens * _RATE_FADE + 1
        self._rate_seconds = self._rate_seconds * _RATE_FADE + seconds

    def see_checkpoint(self, seconds: float) -> None:
        """Taking a checkpoint took so long."""
        unit = self.target.costs.unit
        if unit > 0:
            known = self.target.checkpoint
            weight = 0.3 if known else 1.0
            # in steps, because each change rebuilds the tables
            self.target.checkpoint = round(known + weight * (seconds / unit - known), 2)

    def _recent_rate(self) -> float:
        """Tokens for each forward of one that this text gave lately, at least plain decoding's."""
        if self._rate_seconds <= 0:
            return 1.0
        return max(1.0, self._rate_tokens / self._rate_seconds * self.target.costs.unit)

    # --- choosing ------------------------------------------------------------------------

    def plan(
        self, context: int, room: int, match: Match | None, lag: int | None, unseen: int = 0
    ) -> Plan:
        """The next round. `room`: how many guesses may be tested at most; `match`: a repeat;
        `lag`: how many tokens the draft has to read before it can guess, None without one;
        `unseen`: how much of the text it would have to read to see all of it, 0 if it does."""
        draft = lag is not None and self.pair is not None
        self._end_look(context)
        if self._first:
            # a reply that is to be short has less to spend
            self._first = min(self._first, float(self._tokens + room + 1))
        if room < 1 or (match is None and not draft):
            return PLAIN
        costs = self.target.costs
        if not costs.known or self._since_plain >= PLAIN_EVERY:
            # the speed of plain decoding is what everything is compared with
            return PLAIN
        if self.settings.depth_mode == "fixed":
            return self._fixed(room, match, draft)
        if costs.unit_samples < 2 and not self._trusted():
            return PLAIN
        table = self._costs(context)
        allowed = self._risk() / costs.unit
        if unseen and lag is not None and self._affordable(unseen, context, allowed / 2):
            # the draft began with the end of the text only, and has earned to see the rest
            return Plan(Origin.DRAFT, probe=True, anew=True)
        live = lag is not None and lag <= LIVE_LAG and self.pair is not None
        room = min(room, self._tried_next(context))
        self._worth = self._draft_rate(table, lag or 1, context, room, allowed) if live else 1.0
        best, plan = 1.0, PLAIN
        if self._worth > 1:
            best, plan = self._worth, Plan(Origin.DRAFT, min(room, MAX_DRAFT))
        if match is not None:
            depth, rate = self._repeat(table, match, min(room, MAX_REPEAT), allowed)
            if rate > best:
                best, plan = rate, Plan(Origin.REPEAT, depth)
        if plan is PLAIN and live:
            # on the whole it does not pay, but guesses that look sure may
            value = self._draft_value(table, lag or 1, context, room, allowed)
            if value > 0:
                return Plan(Origin.DRAFT, min(room, MAX_DRAFT))
            return self._look(context, lag or 1, room)
        if lag is not None and not live and self.pair is not None:
            return self._entry(context, lag) or plan
        return plan

    def _tried_next(self, context: int) -> int:
        """The most guesses to test, while forwards of some sizes were never timed: 3 rows may cost
        what 4 do, and would speak against both 2 and 4."""
        measured = self.target.costs.measured(context)
        return next((size - 1 for size in _SIZES if size not in measured), MAX_REPEAT)

    def _trusted(self) -> bool:
        """Whether the unit is known well enough from an earlier start."""
        return self.target.costs.unit > 0 and self.target.bank >= 0 and self._proven()

    def _proven(self) -> bool:
        return self.pair is not None and self.pair.gain > _PROVEN

    def known_to_lose(self, context: int) -> bool:
        """Whether enough was measured to say that the pair does not pay, even if its drafts are
        right somewhat more often than was seen so far."""
        pair = self.pair
        if pair is None or not self.target.costs.known or not pair.costs.known:
            return False
        tested, mean = pair.margins.all_tested, pair.margins.mean
        if tested < KNOWN_TESTS or self._pays(context):
            return False
        doubt = math.sqrt(mean * (1 - mean) / tested)
        return mean + doubt < self.needed(context)

    def needed(self, context: int) -> float:
        """How often drafts must be right, so that they pay at the costs of this computer."""
        table, step = self._costs(context), self._draft_cost(1, context)
        low, high = 0.0, 1.0
        for _ in range(12):
            middle = (low + high) / 2
            pays = any(
                sum(middle**index for index in range(depth + 1)) > table[depth + 1] + depth * step
                for depth in range(1, MAX_DRAFT + 1)
            )
            low, high = (low, middle) if pays else (middle, high)
        return high

    def _pays(self, context: int) -> bool:
        """Whether drafts gain anything if nothing has to be read or risked first."""
        freely = (self._costs(context), 1, context, MAX_DRAFT, float("inf"))
        return self._draft_rate(*freely) > 1 or self._draft_value(*freely) > 0

    def doubted(self, context: int) -> bool:
        """Whether only the costs speak against drafts that are right often enough for most
        computers: another program may have been running when they were measured."""
        pair = self.pair
        if pair is None or pair.margins.all_tested < KNOWN_TESTS or self._pays(context):
            return False
        step, reach, expected = self._draft_cost(1, context) / LOOK_FACTOR, 1.0, 1.0
        for drafted in range(1, MAX_DRAFT + 1):
            reach *= pair.margins.mean
            expected += reach
            if expected > 1 + drafted * (PRIOR_SLOPE + step):
                return True
        return False

    def _look(self, context: int, lag: int, room: int) -> Plan:
        """A round that times a verification whose cost is doubted, where that may be spent. At the
        worst it costs as much as its rows one by one."""
        if self._since_look < self._look_wait or not self.doubted(context):
            return PLAIN
        allowed = self.allowance() / self.target.costs.unit
        first, step = self._worst_draft_cost(lag, context), self._draft_cost(1, context)
        for rows in LOOK_ROWS:
            worst = min(self._worst[rows], rows + self.target.checkpoint) - 1
            if rows - 1 <= room and first + (rows - 2) * step + worst <= allowed:
                self._looking = rows - 1
                return Plan(Origin.DRAFT, rows - 1)
        return PLAIN

    def _end_look(self, context: int) -> None:
        if self._looking:
            self._looking = self._since_look = 0
            if self._pays(context):
                self._look_wait = LOOK_FIRST
                assert self.pair is not None
                self.pair.rest = 0
            else:
                self._look_wait = min(LOOK_LONGEST, 2 * self._look_wait)

    def _fixed(self, room: int, match: Match | None, draft: bool) -> Plan:
        depth = min(self.settings.depth, room)
        if match is not None:
            chance = self.target.lengths.chance(match.length)
            if not draft or (self.pair is not None and chance > self.pair.margins.mean):
                return Plan(Origin.REPEAT, depth)
        return Plan(Origin.DRAFT, depth) if draft else PLAIN

    def _repeat(
        self, table: list[float], match: Match, room: int, allowed: float
    ) -> tuple[int, float]:
        """The depth at which to test a repeat, and its tokens for each forward of one.

        Repeats come and go: the time is worth what the text gives on average.
        """
        lengths, worth = self.target.lengths, max(self._worth, self._recent_rate())
        depth, best, rate = 0, float("-inf"), 0.0
        reach = expected = 1.0
        for guesses in range(1, room + 1):
            reach *= lengths.chance(match.length + guesses - 1)
            expected += reach
            if self._worst[guesses + 1] - 1 > allowed:
                break
            value = expected - worth * table[guesses + 1]
            if value > best:
                depth, best, rate = guesses, value, expected / table[guesses + 1]
        return depth, rate

    def _draft_rate(
        self, table: list[float], lag: int, context: int, room: int, allowed: float
    ) -> float:
        """Tokens for each forward of one at the best depth, if guesses are right as usual."""
        pair = self.pair
        assert pair is not None
        if self._worst_draft_cost(lag, context) + self._worst[2] - 1 > allowed:
            return 1.0
        mean, step = pair.margins.mean, self._draft_cost(1, context)
        spent = self._draft_cost(lag, context) - step
        reach = expected = best = 1.0
        for guesses in range(1, min(room, MAX_DRAFT) + 1):
            reach *= mean
            expected += reach
            best = max(best, expected / (table[guesses + 1] + guesses * step + spent))
        return best

    def _draft_value(
        self, table: list[float], lag: int, context: int, room: int, allowed: float
    ) -> float:
        """What one look at the draft gains over a plain forward: its guess may still be dropped."""
        pair = self.pair
        assert pair is not None
        if self._worst_draft_cost(lag, context) + self._worst[2] - 1 > allowed:
            return float("-inf")
        value = -self._draft_cost(lag, context)
        for index in range(len(pair.margins.prior)):
            path = Path()
            path.add(pair.margins.chance_in(index))
            more = max(path.expected[1] - table[2], self._further(table, 1.0, path, context, room))
            value += pair.margins.share(index) * max(more, 0.0)
        return value

    def _further(
        self, table: list[float], rate: float, path: Path, context: int, room: int
    ) -> float:
        """The best that guessing on can be expected to be worth."""
        pair = self.pair
        assert pair is not None
        mean, step = pair.margins.mean, self._draft_cost(1, context)
        reach, expected = path.reach, path.expected[-1]
        best = float("-inf")
        made = len(path.chances)
        for guesses in range(made + 1, min(room, MAX_DRAFT) + 1):
            reach *= mean
            expected += reach
            value = expected - rate * (table[guesses + 1] + (guesses - made) * step)
            best = max(best, value)
        return best

    def go_on(self, path: Path, context: int, room: int, spent: float) -> bool:
        """Whether to guess one more; `spent`: seconds that this round's guesses took so far."""
        made = len(path.chances)
        if made >= room:
            return False
        if self.settings.depth_mode == "fixed" or self._looking:
            return True
        table, rate = self._costs(context), self._worth
        unit = self.target.costs.unit
        risk = spent / unit + self._worst_draft_cost(1, context) + self._worst[made + 2] - 1
        allowed = self._risk() / unit
        if risk > min(allowed, max(_FREELY, _RISK_SHARE * allowed)):
            return False
        now = max(path.expected[n] - rate * table[n + 1] for n in range(made + 1))
        # as good as equal is worth going on: low guesses are right a little more often than thought
        return self._further(table, rate, path, context, room) > now - _SLACK

    def cut(self, path: Path, context: int) -> int:
        """How many of the guesses to put before the target."""
        if self.settings.depth_mode == "fixed" or self._looking:
            return len(path.chances)
        table, rate = self._costs(context), self._worth
        values = [expected - rate * table[n + 1] for n, expected in enumerate(path.expected)]
        return max(range(len(values)), key=values.__getitem__)

    def siblings(self, path: Path, context: int, most: int) -> list[int]:
        """Where a second candidate is worth a row: indices into the path, best first."""
        pair = self.pair
        if pair is None or most < 1 or not path.chances or self.settings.depth_mode == "fixed":
            return []
        if self._looking:
            return []
        most = min(most, self._tried_next(context) - len(path.chances))
        table, rate = self._costs(context), self._worth
        second, reach, gains = pair.margins.second, 1.0, []
        for index, chance in enumerate(path.chances):
            gains.append((reach * (1 - chance) * second, index))
            reach *= chance
        gains.sort(reverse=True)
        kept: list[int] = []
        for gain, index in gains[: max(0, most)]:
            rows = len(path.chances) + 1 + len(kept)
            if gain > rate * max(0.0, table[rows + 1] - table[rows]):
                kept.append(index)
        return kept

    # --- a draft that lags ---------------------------------------------------------------

    def _entry(self, context: int, lag: int) -> Plan | None:
        """Read the draft up to here, if that may pay back; only ever in a step of its own."""
        pair, allowed = self.pair, self.allowance()
        assert pair is not None
        if self.known_to_lose(context) and not self.doubted(context):
            return None
        if pair.rest == 0 and pair.costs.known and (self._proven() or self._promises(context)):
            # the whole text; else only its end, which makes drafts a little worse
            for most in (lag, 4 * PROBE_WINDOW, 2 * PROBE_WINDOW, PROBE_WINDOW):
                rows = min(lag, most)
                # what earlier replies have saved may be risked on what is likely
                if self._proven():
                    cost = pair.costs.seconds(rows, context)
                else:
                    # a round must be left to spend on, or it was read for nothing
                    cost = pair.costs.worst_seconds(rows, context) + self._one_round(context)
                if cost <= allowed + self._credit():
                    return Plan(Origin.DRAFT, window=None if rows == lag else rows, probe=True)
        wait = pair.rest or FIRST_PROBE
        if self._since_probe < wait:
            return None
        # less says little: a draft that sees only a few words is wrong more often than it is
        rows = min(lag, PROBE_WINDOW)
        if self._affordable(rows, context, allowed / self.target.costs.unit):
            return Plan(Origin.DRAFT, window=rows, probe=True)
        return None

    def _promises(self, context: int) -> bool:
        """Whether what is known of a new pair speaks for trying it in its first reply."""
        return self._first > 0 and self._pays(context)

    def _one_round(self, context: int) -> float:
        """Seconds that the first round loses at the worst: of one draft where the target's costs
        are not known, else of three."""
        self._costs(context)
        depth = 3 if 4 in self.target.costs.measured(context) else 1
        lost = self._worst[depth + 1] - 1 + depth * self._worst_draft_cost(1, context)
        return lost * self.target.costs.unit

    def _affordable(self, rows: int, context: int, allowed: float) -> bool:
        """Whether the draft may read so much, at the worst, for `allowed` forwards."""
        return self._worst_draft_cost(rows, context) <= allowed

    def _credit(self) -> float:
        """Seconds that a pair with a good past may spend of what it will probably save."""
        pair = self.pair
        if pair is None or not self._proven():
            return 0.0
        unit = self.target.costs.unit
        left = max(32.0, pair.reply_tokens - self._tokens)
        return 0.5 * min(_CREDIT_LIMIT, pair.gain * left) * unit

    def probed(
        self, right: Sequence[tuple[float, bool]], context: int, lasting: bool = True
    ) -> None:
        """The draft was scored on the text so far; see `learn`."""
        self._since_probe = 0
        self.learn(right, context, lasting)

    def learn(
        self, right: Sequence[tuple[float, bool]], context: int, lasting: bool = True
    ) -> None:
        """(margin, right) of drafts that were compared with what the target wrote; not `lasting`
        where the draft saw only the end of the text, which makes it worse than it is."""
        pair = self.pair
        assert pair is not None
        for margin, hit in right:
            pair.margins.observe(margin, hit, lasting)
        if self._pays(context):
            pair.rest = 0
        elif right:
            pair.rest = min(REST_LONGEST, max(REST_FIRST, 2 * pair.rest))

    # --- costs ---------------------------------------------------------------------------

    def _costs(self, context: int) -> list[float]:
        """Forwards of n tokens in forwards of one, for n up to the most that is ever tested."""
        costs = self.target.costs
        extra = self.target.checkpoint
        wanted = (bucket(context), costs.version, self.target.pace, extra)
        if self._table_of != wanted:
            sizes = range(2, MAX_REPEAT + 3)
            self._table = [0.0, 1.0, *(costs.ratio(n, context) + extra for n in sizes)]
            self._worst = [0.0, 1.0, *(costs.worst_ratio(n, context) + extra for n in sizes)]
            self._table_of = wanted
        return self._table

    def _draft_cost(self, tokens: int, context: int) -> float:
        """A forward of the draft in forwards of one token of the target."""
        assert self.pair is not None
        return self.pair.costs.seconds(tokens, context) / self.target.costs.unit

    def _worst_draft_cost(self, tokens: int, context: int) -> float:
        assert self.pair is not None
        return self.pair.costs.worst_seconds(tokens, context) / self.target.costs.unit
