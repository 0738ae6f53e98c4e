"""Cost of a forward of n tokens on this computer, learned during replies. Pure.

Kept as ratios to a forward of one token, by the length of the context: ratios stay valid while
machines slow down and speed up, seconds do not. Time grows in steps with n (4 rows may cost as much
as 3), so every n has its own value and only unknown ones are interpolated.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate

import msgspec

# the cost of one more row before any measurement, in forwards of one token
PRIOR_SLOPE = 0.2
# unknown sizes are assumed slightly faster than their neighbours, so that they are tried
OPTIMISM = 0.97
# weights of a new sample; the first sample, which may include set-up work, is replaced entirely
_FLOOR = 0.12
_DECODE_TIME_WEIGHT = 0.25
_SHARE_WEIGHT = 0.05
# samples after which a ratio is trusted, and a deviation attributed to the machine
_TRUSTED = 4
# a forward below this share of its known time shows that the known one, and those of other sizes,
# come from a slow moment, unless measured at least this often
_SURPRISE, _WELL_KNOWN = 0.6, 8
# shorter contexts share one curve; above, each doubling has its own
_FIRST_BUCKET = 256


class Curve(msgspec.Struct):
    """Ratios by n for one range of context lengths, with the number of measurements of each."""

    ratios: dict[int, float] = {}
    counts: dict[int, int] = {}

    def forget_doubtful(self, unless: int) -> None:
        """Drop ratios that were measured in a slow moment, all but `unless` and well-known ones."""
        for size in [size for size in self.ratios if size != unless]:
            if self.counts.get(size, 0) < _WELL_KNOWN:
                del self.ratios[size]
                self.counts.pop(size, None)


class Costs(msgspec.Struct, rename={"decode_time": "unit", "decode_time_samples": "unit_samples"}):
    """One decoder's costs. `decode_time` is the time of a forward of one token now, in seconds."""

    curves: dict[int, Curve] = {}
    decode_time: float = 0.0
    decode_time_samples: int = 0
    # grows when a ratio changes, so that tables are rebuilt
    version: int = 0
    # a forward was much faster than its well-known ratio predicts: either the decode time or the
    # ratio comes from a slow moment, and the next forward of one token decides which
    surprised: bool = False
    # that forward was as slow as before: the next surprise is attributed to the ratio
    ratios_doubted: bool = False
    # mean time per token as a share of a forward of one, as some forwards yield several tokens
    share: float = 1.0

    @property
    def known(self) -> bool:
        return self.decode_time_samples > 0

    def seconds(self, n: int, context: int) -> float:
        """The time of a forward of `n` tokens after `context` tokens."""
        return self.decode_time * self.ratio(n, context)

    def ratio(self, n: int, context: int) -> float:
        return self.ratios((n,), context)[0]

    def ratios(self, sizes: Iterable[int], context: int) -> list[float]:
        """`ratio` of each size."""
        curve = self._curve(context)
        line, counts = _Line(curve.ratios), curve.counts
        # a few samples may come from a slow moment, and sizes that look slow are not tried again: a
        # faster forward with more rows, or the line between trusted neighbours, overrides them
        trusted = _Line(
            {size: more for size, more in line.ratios.items() if counts.get(size, 0) >= _TRUSTED}
        )
        found = []
        for n in sizes:
            ratio = line.at(n) if n > 1 else 1.0
            if n > 1 and counts.get(n, 0) < _TRUSTED:
                least = trusted.least_above(n)
                if least is not None:
                    ratio = min(ratio, least, trusted.at(n))
            found.append(ratio)
        return found

    def worst_ratio(self, n: int, context: int) -> float:
        """Upper bound of `ratio` from the measurements: n rows never cost more than n / m times m
        rows, nor more than a forward with more rows."""
        return self.worst_ratios((n,), context)[0]

    def worst_ratios(self, sizes: Iterable[int], context: int) -> list[float]:
        """`worst_ratio` of each size."""
        line = _Line(self._curve(context).ratios)
        return [line.worst_at(n) if n > 1 else 1.0 for n in sizes]

    def worst_seconds(self, n: int, context: int) -> float:
        return self.decode_time * self.worst_ratio(n, context)

    def observe(self, n: int, context: int, seconds: float) -> None:
        """Record the time of a forward of `n` tokens."""
        if seconds <= 0 or n < 1:
            return
        if n == 1:
            self._observe_decode_time(seconds)
            return
        if not self.decode_time:
            return
        curve = self._curve(context)
        count = curve.counts.get(n, 0)
        known = curve.ratios.get(n)
        if count >= _TRUSTED and known and seconds / known > _SURPRISE * self.decode_time:
            # a trusted ratio reveals the machine's present speed
            self.decode_time += _DECODE_TIME_WEIGHT / 2 * (seconds / known - self.decode_time)
        fresh = seconds / self.decode_time
        if known is None or count < 2:
            # several rows never cost less than one
            curve.ratios[n] = max(1.0, fresh)
        elif fresh < _SURPRISE * known and self.decode_time_samples > 1:
            if count >= _WELL_KNOWN and not self.ratios_doubted:
                self.surprised = True
                return
            self.ratios_doubted = False
            curve.forget_doubtful(unless=n)
            curve.ratios[n], count = max(1.0, fresh), min(count, 1)
        else:
            # one slow moment of the machine must not look like a slow n
            fresh = min(max(1.0, fresh), 1.5 * known)
            curve.ratios[n] = known + max(_FLOOR, 1 / (count + 1)) * (fresh - known)
        curve.counts[n] = count + 1
        self.version += 1

    def observe_share(self, tokens: int, seconds: float) -> None:
        """Record the number of tokens that a forward yielded, and its time."""
        if not self.decode_time:
            return
        fresh = min(1.0, seconds / tokens / self.decode_time)
        known = round(self.share + _SHARE_WEIGHT * (fresh - self.share), 3)
        if round(known, 2) != round(self.share, 2):
            self.version += 1
        self.share = known

    def measured(self, context: int) -> dict[int, float]:
        """Known costs for contexts like this one, by size."""
        return self._curve(context).ratios

    def unmeasured(self, sizes: Iterable[int], context: int, samples: int = 1) -> list[int]:
        """Those of `sizes` that were timed fewer than `samples` times with contexts like this
        one."""
        counts = self._curve(context).counts
        return [n for n in sizes if counts.get(n, 0) < samples]

    def as_first_idea(self) -> Costs:
        """A copy for another pace of the same decoder, with each ratio to be measured again."""
        return Costs({key: Curve(dict(curve.ratios)) for key, curve in self.curves.items()})

    def begin(self) -> None:
        """Begin a new run of the app: the decode time is measured again, ratios stay."""
        self.decode_time_samples = min(self.decode_time_samples, 1)
        self.surprised = self.ratios_doubted = False

    def _observe_decode_time(self, seconds: float) -> None:
        samples = self.decode_time_samples = self.decode_time_samples + 1
        if samples <= 2:
            self.decode_time = seconds if samples == 1 else min(self.decode_time, seconds)
            return
        if self.surprised:
            self.surprised = False
            if seconds < _SURPRISE * self.decode_time:
                self.decode_time = seconds
                return
            self.ratios_doubted = True
        # a fast sample is always real: slower ones before it were due to the machine
        weight = (
            2 * _DECODE_TIME_WEIGHT
            if seconds < _SURPRISE * self.decode_time
            else _DECODE_TIME_WEIGHT
        )
        self.decode_time += weight * (min(seconds, 2 * self.decode_time) - self.decode_time)

    def _curve(self, context: int) -> Curve:
        key = bucket(context)
        curve = self.curves.get(key)
        if curve is None:
            nearest = min(self.curves, key=lambda other: abs(other - key), default=None)
            ratios = dict(self.curves[nearest].ratios) if nearest is not None else {}
            curve = self.curves[key] = Curve(ratios, {})
        return curve


def bucket(context: int) -> int:
    """Number of the range of contexts that share a curve: below 256 tokens, then each doubling."""
    return 0 if context < _FIRST_BUCKET else int(math.log2(context / _FIRST_BUCKET)) + 1


class _Line:
    """Ratios by size, with estimates and bounds for other sizes."""

    def __init__(self, ratios: dict[int, float]) -> None:
        self.ratios = ratios
        self._sizes = sorted(ratios)
        # the least ratio of each size and all larger ones; the least ratio per row up to each size
        self._least = list(accumulate((ratios[n] for n in reversed(self._sizes)), min))[::-1]
        self._for_each = list(accumulate((ratios[n] / n for n in self._sizes), min))

    def at(self, n: int) -> float:
        known = self.ratios.get(n)
        if known is not None:
            return known
        at = bisect_left(self._sizes, n)
        low = self._sizes[at - 1] if at else 1
        low_ratio = self.ratios[low] if at else 1.0
        if at < len(self._sizes):
            high = self._sizes[at]
            share = (n - low) / (high - low)
            return OPTIMISM * (low_ratio + share * (self.ratios[high] - low_ratio))
        slope = PRIOR_SLOPE
        if low > 1:
            slope = min(slope, max(0.0, low_ratio - 1) / (low - 1))
        return low_ratio + slope * (n - low)

    def least_above(self, n: int) -> float | None:
        """The least ratio of larger sizes."""
        at = bisect_right(self._sizes, n)
        return self._least[at] if at < len(self._sizes) else None

    def worst_at(self, n: int) -> float:
        known = self.ratios.get(n)
        if known is not None:
            return known
        at = bisect_left(self._sizes, n)
        worst = float(n)
        if at < len(self._sizes):
            worst = min(worst, self._least[at])
        return min(worst, n * self._for_each[at - 1]) if at else worst
