"""Chi-square tests without a statistics library."""

from __future__ import annotations

import math
from collections.abc import Sequence


def p_value(counts: Sequence[float], expected: Sequence[float]) -> float:
    """How probable counts this far from `expected` are; cells under 5 are joined into one."""
    pairs = sorted(zip(expected, counts, strict=True), reverse=True)
    cells: list[tuple[float, float]] = [pair for pair in pairs if pair[0] >= 5]
    rare = [pair for pair in pairs if pair[0] < 5]
    if rare:
        cells.append((sum(pair[0] for pair in rare), sum(pair[1] for pair in rare)))
    cells = [(want, got) for want, got in cells if want > 0]
    statistic = sum((got - want) ** 2 / want for want, got in cells)
    return survival(statistic, len(cells) - 1)


def survival(statistic: float, freedom: int) -> float:
    """1 - the chi-square distribution function (Wilson and Hilferty's approximation)."""
    if freedom < 1:
        return 1.0
    scale = 2 / (9 * freedom)
    z = ((statistic / freedom) ** (1 / 3) - (1 - scale)) / math.sqrt(scale)
    return 0.5 * math.erfc(z / math.sqrt(2))
