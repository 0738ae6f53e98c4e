"""Speed by draft depth, predicted from the profiles. Pure."""

from __future__ import annotations

from headstart.core.events import SpeedCurve
from headstart.engine.speculation.costs import Costs
from headstart.engine.speculation.depth.cost_table import MAX_DRAFT
from headstart.engine.speculation.profile import PairProfile


def speed_curve(
    costs: Costs, pair: PairProfile, context: int, done: int = 1, total: int = 1
) -> SpeedCurve:
    """Tokens per second by depth: expected tokens of a round over its cost."""
    chance = pair.margins.mean
    step = pair.costs.seconds(1, context)
    points = []
    for depth in range((pair.at_once or MAX_DRAFT) + 1):
        # 1 + a + a^2 + ... of draft tokens that are right with chance a, and the target's own token
        tokens = sum(chance**index for index in range(depth + 1))
        drafting = pair.costs.seconds(depth, context) if pair.at_once and depth else depth * step
        seconds = costs.seconds(depth + 1, context) + drafting
        points.append((depth, tokens / seconds))
    best = max(points, key=lambda point: point[1])[0]
    return SpeedCurve(tuple(points), best, done, total)
