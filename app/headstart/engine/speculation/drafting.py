"""The draft in one turn's loop: joins when the time budget allows it, is probed, drafts, and is
dropped when it fails. Engine thread.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from headstart.core.chats.parts import Origin
from headstart.core.log_safety import kind_of
from headstart.engine.decoder import DecodeAborted, Prediction
from headstart.engine.speculation.depth.choice import Depth
from headstart.engine.speculation.hidden_rows import HiddenRows
from headstart.engine.speculation.plan import DraftPlan, Path, probability_margin
from headstart.engine.speculation.sources import Sources
from headstart.engine.speculation.token_mapping import DraftToken

log = logging.getLogger(__name__)

# the most tokens of the reply that a draft is scored on at once
SCORED = 32
# tokens between two attempts of a waiting draft to join
JOIN_EVERY = 8


class Drafting:
    """The draft of one turn. `draft`: the active draft; None without one, while it waits, and after
    it failed."""

    def __init__(self, depth: Depth, sources: Sources) -> None:
        self._depth = depth
        self._sources = sources
        self._fixed = sources.settings.depth_mode == "fixed"
        # a draft joins when the time budget allows the cost
        follows = sources.begin_draft is None
        self.draft = sources.draft if follows else None
        self._waiting = None if follows else sources.draft
        # a head sees every forward, whether it drafts or waits
        self.rows: HiddenRows | None = sources.rows
        self._join_at = 0  # text length at which to try again
        self._margin = probability_margin(sources.settings.min_probability)

    @property
    def chosen(self) -> bool:
        """True if this turn has a draft, active or waiting."""
        return self.draft is not None or self._waiting is not None

    @property
    def waits(self) -> bool:
        return self._waiting is not None

    @property
    def origin(self) -> Origin:
        """The displayed origin of drafted tokens."""
        return Origin.DRAFT if self.draft is None else self.draft.origin

    @property
    def pace(self) -> int | None:
        draft = self.draft or self._waiting
        return None if draft is None else draft.decoder.pace

    @property
    def lag(self) -> int | None:
        """Tokens that the draft must process before it can draft; None if it cannot."""
        return self.draft.lag if self.draft is not None and self.draft.ready else None

    @property
    def unseen(self) -> int:
        return 0 if self.draft is None else self.draft.unseen

    @property
    def sees_all(self) -> bool:
        return self.draft is None or self.draft.sees_all

    def end(self) -> None:
        """End drafting for this turn, as the text was replaced."""
        self.draft = self._waiting = None

    def join(self, tokens: Sequence[int], carry: Sequence[int], known: int) -> bool:
        """Let the draft follow the text and restore its saved state: after the first token, so that
        the user does not wait for it, if the budget allows it, and only if it may pay. `known`: the
        number of tokens, of `tokens` and `carry`, that the loop has announced."""
        draft, depth = self._waiting, self._depth
        if draft is None or known < self._join_at:
            return False
        if not self._fixed and not depth.target.costs.known:
            return False
        self._join_at = known + JOIN_EVERY
        if not self._fixed and depth.worth.known_to_lose(len(tokens)):
            return False
        text = [*tokens, *carry][:known]
        if not self._fixed and not depth.budget.may_spend(draft.join_seconds(text)):
            return False
        self._waiting, self.draft = None, draft
        began = draft.decoder.seconds()
        try:
            assert self._sources.begin_draft is not None
            self._sources.begin_draft(text)
            draft.restore()
        except DecodeAborted:
            raise
        except Exception as problem:
            self._drop(problem)
        finally:
            depth.budget.spend(draft.decoder.seconds() - began)
        return True

    def probe(self, plan: DraftPlan, written: int, context: int) -> None:
        """Prefill the draft up to the present position, and score it on the reply so far, of
        `written` tokens."""
        draft, pair = self.draft, self._depth.pair
        assert draft is not None
        assert pair is not None
        began = draft.decoder.seconds()
        try:
            if plan.from_start:
                draft.forget()
            scores = draft.prefill(pair.costs, plan.window, min(SCORED, max(0, written - 1)))
        except DecodeAborted:
            raise
        except Exception as problem:
            self._drop(problem)
            return
        finally:
            self._depth.budget.spend(draft.decoder.seconds() - began)
        self._depth.probed(scores, context, draft.sees_all)

    def chain(self, plan: DraftPlan, context: int) -> tuple[list[DraftToken], Path]:
        """The part of a draft that is worth verifying, with its chances."""
        draft, pair, depth = self.draft, self._depth.pair, self._depth
        assert draft is not None
        assert pair is not None
        path = Path()

        def go_on(prediction: Prediction, seconds: float) -> bool:
            if prediction.margin < self._margin:
                return False
            path.add(pair.margins.chance(prediction.margin))
            return depth.go_on(path, context, plan.depth, seconds)

        try:
            # in the "text" tier, a draft token can become several tokens
            draft_tokens = draft.draft(pair.costs, go_on, plan.depth)[: plan.depth]
        except DecodeAborted:
            raise
        except Exception as problem:
            self._drop(problem)
            return [], Path()
        # in the "text" tier, draft tokens return as other tokens, each with its own chance
        path = Path()
        for draft_token in draft_tokens:
            if draft_token.margin < self._margin:
                break
            path.add(pair.margins.chance(draft_token.margin))
        keep = depth.cut(path, context)
        kept = Path()
        for chance in path.chances[:keep]:
            kept.add(chance)
        return draft_tokens[:keep], kept

    def _drop(self, problem: Exception) -> None:
        """Drop a failed draft, and report it once; its failure must not end the reply."""
        log.warning("the draft failed: %s", problem, exc_info=problem)
        self.draft = self.rows = None
        self._sources.on_draft_failed(kind_of(problem))
