"""The outcome of a round: used to learn, and reported to the user. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from headstart.core.chats.parts import Origin
from headstart.core.events import DraftActivity, DraftStage
from headstart.engine.speculation.depth.choice import Depth
from headstart.engine.speculation.depth.worth import KNOWN_TESTS
from headstart.engine.speculation.plan import DraftPlan
from headstart.engine.speculation.prompt_lookup import Match
from headstart.engine.speculation.tally import Tally
from headstart.engine.speculation.token_mapping import DraftToken


def learn_outcome(
    depth: Depth,
    plan: DraftPlan,
    draft_tokens: Sequence[DraftToken],
    match: Match | None,
    emitted: Sequence[int],
    sees_all: bool,
) -> tuple[int, int]:
    """Learn from the verified draft tokens: those up to the first wrong one.

    `sees_all`: the draft has the whole text. Returns the numbers of verified and accepted tokens.
    """
    pair, lengths = depth.pair, depth.target.lengths
    verified = accepted = 0
    for index, draft_token in enumerate(draft_tokens):
        if index >= len(emitted):
            break
        right = draft_token.token == emitted[index]
        verified += 1
        accepted += right
        if plan.source is Origin.DRAFT and pair is not None:
            pair.margins.observe(draft_token.margin, right, sees_all)
            if not right and draft_token.second >= 0:
                pair.margins.observe_branch(draft_token.second == emitted[index])
        elif match is not None and plan.chain is None:
            lengths.observe(match.length + index, right)
        if not right:
            break
    if plan.source is Origin.DRAFT:
        # a right branch counts as a right draft token
        accepted = max(accepted, len(emitted) - 1)
    return verified, accepted


def learn_repeat(
    depth: Depth, match: Match, repeated: Sequence[int], emitted: Sequence[int]
) -> int:
    """Learn from an unverified match by comparing it with the emitted tokens; returns the number of
    right tokens."""
    right = 0
    for token, other in zip(repeated, emitted, strict=False):
        depth.target.lengths.observe(match.length + right, token == other)
        if token != other:
            break
        right += 1
    return right


def activity_of(tally: Tally, depth: Depth, context: int, chosen: bool) -> DraftActivity:
    """The activity of the draft, with the reason; `chosen`: this turn has a draft."""
    source = tally.last_source
    if source is not Origin.TARGET:
        stage = DraftStage.DRAFTING if source.drafted else DraftStage.LOOKUP
        return DraftActivity(stage, tally.last_depth, source=source)
    pair = depth.pair
    if pair is None or not chosen:
        return DraftActivity(DraftStage.OFF)
    if depth.worth.known_to_lose(context):
        mean, needed = pair.margins.mean, depth.worth.needed(context)
        return DraftActivity(DraftStage.NOT_PAYING, 0, mean, needed)
    known = pair.margins.all_verified >= KNOWN_TESTS and depth.target.costs.known
    return DraftActivity(DraftStage.WAITING if known else DraftStage.LEARNING)
