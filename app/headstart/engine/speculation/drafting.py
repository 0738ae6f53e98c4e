"""The draft in one turn's loop: it joins when that may be spent, is probed, drafts, and is dropped
when it fails. Engine thread.
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

# a draft is scored on at most so many of the reply's tokens at once
SCORED = 32
# tokens until a draft that waits is asked for again
JOIN_EVERY = 8


class Drafting:
    """`draft` is what drafts now; None without one, while it waits, and after it failed."""

    def __init__(self, depth: Depth, sources: Sources) -> None:
        self._depth = depth
        self._sources = sources
        self._fixed = sources.settings.depth_mode == "fixed"
        # a draft joins when what that takes may be spent
        follows = sources.begin_draft is None
        self.draft = sources.draft if follows else None
        self._waiting = None if follows else sources.draft
        # a head sees every forward, whether it drafts or waits
        self.rows: HiddenRows | None = sources.rows
        self._join_at = 0  # how long the text must be before that is asked again
        self._margin = probability_margin(sources.settings.min_probability)

    @property
    def chosen(self) -> bool:
        """True if there is one for this turn."""
        return self.draft is not None or self._waiting is not None

    @property
    def waits(self) -> bool:
        return self._waiting is not None

    @property
    def origin(self) -> Origin:
        """Origin under which drafted tokens are shown."""
        return Origin.DRAFT if self.draft is None else self.draft.origin

    @property
    def pace(self) -> int | None:
        draft = self.draft or self._waiting
        return None if draft is None else draft.decoder.pace

    @property
    def lag(self) -> int | None:
        """Tokens that it has to read before it can draft; None where it cannot."""
        return self.draft.lag if self.draft is not None and self.draft.ready else None

    @property
    def unseen(self) -> int:
        return 0 if self.draft is None else self.draft.unseen

    @property
    def sees_all(self) -> bool:
        return self.draft is None or self.draft.sees_all

    def end(self) -> None:
        """The text is another one: this turn goes on without it."""
        self.draft = self._waiting = None

    def join(self, tokens: Sequence[int], carry: Sequence[int], known: int) -> bool:
        """Have it follow the text and get back what was kept of it: after the first token, so that
        nobody waits for it, when it may be spent, and only where it may pay. `known`: how much of
        `tokens` and `carry` the loop has told others of."""
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
        """Have it read up to here, and see how it would have done on the reply so far, of which
        `written` tokens are there."""
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
        """The draft, as far as it is worth verifying, with its chances."""
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
            # by text, a draft token can become several tokens
            draft_tokens = draft.draft(pair.costs, go_on, plan.depth)[: plan.depth]
        except DecodeAborted:
            raise
        except Exception as problem:
            self._drop(problem)
            return [], Path()
        # by text, draft tokens come back as other tokens, each with its own chance
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
        """It failed: say so once, and go on without it. Nothing of it may end a reply."""
        log.warning("the draft failed: %s", problem, exc_info=problem)
        self.draft = self.rows = None
        self._sources.on_draft_failed(kind_of(problem))
