"""A head beside the target, which drafts from the target's hidden states. Engine thread.

A head is a draft whose text begins at the second token, because each of its tokens comes with the
target's state of the token before it: (row of token t, token t + 1) gives token t + 2. After a
round the pending token is drawn but not decoded, and its pair is complete without a forward.

Rows come from forwards that the target does anyway, and only the last ones are kept (`HiddenRows`).
A head never sees older rows: no text is decoded again for it. If a row is missing it begins at the
first available one. While it drafts, its own states stand in for the target's; held tokens based on
them are replaced once the target's are available.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from headstart.core.chats.parts import Origin
from headstart.core.settings.schema import Sampling
from headstart.engine.decoder import Decoder, Hidden, Prediction
from headstart.engine.prefix.prefix_cache import PrefixCache
from headstart.engine.speculation.costs import Costs
from headstart.engine.speculation.draft_model import DraftModel
from headstart.engine.speculation.hidden_rows import HeadState, HiddenRows
from headstart.engine.speculation.token_mapping import DraftToken, SameTokens

MakeHeadCache = Callable[[HeadState], PrefixCache | None]


class ShiftedTokens(SameTokens):
    """The text from its second token on; positions are those of the whole text."""

    shift = 1

    def __init__(self) -> None:
        super().__init__()
        self._began = False

    def begin(self, tokens: Sequence[int]) -> None:
        self._began = bool(tokens)
        self.tokens = list(tokens[1:])

    def extend(self, more: Sequence[int]) -> int:
        if not self._began and more:
            self._began, more = True, more[1:]
        return super().extend(more)


class HiddenStateDraft(DraftModel):
    """One loaded head for one target."""

    origin = Origin.HEAD

    def __init__(
        self,
        head: Decoder,
        target: Decoder,
        target_name: str,
        make_cache: MakeHeadCache,
        stand_in: int = 0,
    ) -> None:
        """`target_name`: a name that differs for different target weights."""
        self.rows: HiddenRows = HiddenRows(len(head.facts.wants) * target.facts.width)
        self._state = HeadState(head, self.rows, target_name)
        super().__init__(head, ShiftedTokens(), make_cache(self._state), stand_in)
        self._own: Hidden | None = None
        # number of held tokens computed from the target's rows
        self._solid = 0

    # --- the text ------------------------------------------------------------------------

    @property
    def lag(self) -> int:
        length = len(self._mapping.tokens)
        return max(1, length - max(self.offset + self.good, self.rows.start))

    @property
    def ready(self) -> bool:
        length = len(self._mapping.tokens)
        return self.rows.start < length <= self.rows.end

    @property
    def sees_all(self) -> bool:
        """Always True: rows carry earlier context, so that a head that begins late is hardly
        worse."""
        return True

    @property
    def unseen(self) -> int:
        return 0

    def restore(self) -> None:
        self._state.restored = None
        self._cut_to(self._solid)
        # the restored state was computed from the target's rows
        self._solid = self._context
        try:
            super().restore()
        finally:
            self._solid = len(self.held)
        if self._state.restored is not None:
            end, row = self._state.restored
            if end == self.good:
                self.rows.lead(end, row)

    def prefill(
        self, costs: Costs, window: int | None = None, score: int = 0
    ) -> list[tuple[float, bool]]:
        if self.offset + self.good < self.rows.start:
            self.forget()
            self.offset = self.rows.start
        return super().prefill(costs, window, 0 if self.decoder.facts.follows else score)

    def predict_next(self, row: Hidden, token: int, seq: int) -> Prediction:
        """Prediction after `token`, the next one of the target's sequence `seq`; `row` is the state
        of the token before it. Only for a head that `follows`."""
        sampler = self.decoder.sampler(Sampling(temperature=0), 0)
        held = self.decoder.n_past()
        try:
            self.decoder.forward([token], [0], seq, hidden=row)
            return sampler.predict(0, held)
        finally:
            self.decoder.truncate(held)
            sampler.close()

    def draft(
        self, costs: Costs, go_on: Callable[[Prediction, float], bool], most: int
    ) -> list[DraftToken]:
        depth = self.decoder.facts.depth
        return super().draft(costs, go_on, min(most, depth) if depth else most)

    def save(self, owner: str | None, tail: bool) -> Iterator[None]:
        self.good = min(self.good, self._solid)
        yield from super().save(owner, tail)

    # --- inside --------------------------------------------------------------------------

    def _decode(self, tokens: Sequence[int], outputs: Sequence[int]) -> None:
        at, count = self.offset + len(self.held), len(tokens)
        whole = self._solid == len(self.held)
        known = at + count <= len(self._mapping.tokens) and self.rows.has(at, at + count)
        if known:
            rows = self.rows.get(at, at + count)
        elif count == 1 and self._own is not None:
            rows = self._own
        else:
            # only for timing
            rows = np.zeros((count, self.rows.width), np.float32)
        self._own = None
        self.decoder.forward(tokens, outputs, hidden=rows)
        if known and whole:
            self._solid = len(self.held) + count
        if outputs and outputs[-1] == count - 1:
            self._own = self.decoder.states.rows(count - 1, count)

    def _match(self) -> None:
        self._solid = min(self._solid, len(self.held))
        super()._match()
        self.good = min(self.good, self._solid)

    def _cut_to(self, length: int) -> None:
        super()._cut_to(length)
        self._solid = min(self._solid, len(self.held))

    def forget(self) -> None:
        super().forget()
        self._solid, self._own = 0, None
