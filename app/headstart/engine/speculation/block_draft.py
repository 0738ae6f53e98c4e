"""Drafting with a head that gives a block of tokens in one forward (DFlash, DSpark). Engine thread.

It reads the target's hidden states as other heads do, and drafts from all that it has read. How
many tokens a block has is chosen before it is drafted: they come together, and cost little more
than one. How many of them are verified is chosen afterwards, by how sure each is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from headstart.core.settings.schema import Sampling
from headstart.engine.decoder import BlockDecoder, ContextFull, Decoder, Prediction
from headstart.engine.speculation.costs import Costs
from headstart.engine.speculation.draft_model import check
from headstart.engine.speculation.hidden_draft import HiddenStateDraft, MakeHeadCache
from headstart.engine.speculation.token_mapping import DraftToken
from headstart.engine.stop import StopSignal

# tokens of a block that is compared with a text
SCORED = 4


class BlockDraft(HiddenStateDraft):
    """One loaded head for one target."""

    def __init__(
        self,
        head: BlockDecoder,
        target: Decoder,
        target_name: str,
        make_cache: MakeHeadCache,
        stand_in: int = 0,
    ) -> None:
        """`target_name`: another one where the target's weights are others."""
        super().__init__(head, target, target_name, make_cache, stand_in)
        self._head = head

    def prefill(
        self, costs: Costs, window: int | None = None, score: int = 0
    ) -> list[tuple[float, bool]]:
        """Have the head hold the text. Scored are blocks, as rounds have them: of each, the tokens
        up to the first wrong one."""
        self._start_over(window)
        # reading at its worst, since blocks are part of that
        within = costs.worst_seconds(self.lag, len(self.held))
        return list(self._read_and_score(costs, score, within))

    def score(
        self, tokens: Sequence[int], start: int, costs: Costs, stop: StopSignal
    ) -> Iterator[tuple[float, bool]]:
        """A block at a time."""
        self.begin(tokens, Sampling(temperature=0), 0, stop)
        self.forget()
        try:
            if self.ready:
                self._start_over(None)
                yield from self._read_and_score(costs, len(tokens) - start, math.inf)
        finally:
            self.end()

    def time_steps(self, costs: Costs, steps: int, rows: int = 0) -> None:
        """Time rounds of one token, and one of `rows`, that read as many before; what is held stays
        as it is."""
        token, held = (self.held or [0])[-1], len(self.held)
        for count in [1] * steps + ([min(rows, self._head.facts.at_once)] if rows > 1 else []):
            began = self.decoder.seconds()
            try:
                nothing = np.zeros((count, self.rows.width), np.float32)
                self._head.forward([token] * count, (), hidden=nothing)
                self._head.forward([token], range(count))
                for row in range(count):
                    self._head.argmax(row)
                costs.observe(count, held, self.decoder.seconds() - began)
            except ContextFull:
                break
            finally:
                self._cut_to(self._head.truncate(held))

    def draft(
        self, costs: Costs, go_on: Callable[[Prediction, float], bool], most: int
    ) -> list[DraftToken]:
        began = self.decoder.seconds()
        self._start_over(None)
        read, at = len(self._mapping.tokens) - self.offset - self.good, len(self.held)
        self._read(len(self._mapping.tokens))
        count = min(most, self._head.facts.at_once)
        predictions = self._block(count, lambda one: go_on(one, self.decoder.seconds() - began))
        costs.observe(max(count, read), at, self.decoder.seconds() - began)
        return self._mapping.to_target(predictions)

    # --- inside --------------------------------------------------------------------------

    def _start_over(self, window: int | None) -> None:
        """Hold nothing, from a later position on, where the held rows are of no use."""
        tokens = self._mapping.tokens
        if self.offset + self.good < self.rows.start:
            self.forget()
            self.offset = self.rows.start
        if window is not None and self.lag > window:
            self.forget()
            self.offset = len(tokens) - window
        elif not self.fits():
            self.forget()
            self.offset = max(self.rows.start, len(tokens) - self.window)
        self._cut_to(self.good)

    def _read(self, end: int) -> None:
        """Have it hold the text up to there."""
        tokens, batch = self._mapping.tokens, self._head.facts.batch
        at = self.offset + self.good
        while at < end:
            check(self.stop)
            last = min(end, at + batch)
            self._forward(tokens[at:last], ())
            self.good = len(self.held)
            at = last

    def _read_and_score(
        self, costs: Costs, score: int, within: float
    ) -> Iterator[tuple[float, bool]]:
        """Blocks are drafted as long as that takes no more than `within` seconds."""
        tokens, ends = self._mapping.tokens, self.decoder.seconds() + within
        # something has to be held before the first block
        first = max(self.offset + self.good + 1, len(tokens) - score, self.offset + 1)
        while first < len(tokens):
            began, read = self.decoder.seconds(), first - self.offset - self.good
            count = min(SCORED, self._head.facts.at_once, len(tokens) - first)
            left = costs.worst_seconds(len(tokens) - first, first)
            if began + costs.worst_seconds(max(count, read), first) + left > ends:
                break
            self._read(first)
            drafted = self._block(count, lambda _: True, first)
            costs.observe(max(count, read), first, self.decoder.seconds() - began)
            for one in drafted:
                right = one.token == tokens[first]
                yield one.margin, right
                first += 1
                if not right:
                    break
        self._read(len(tokens))

    def _block(
        self, count: int, go_on: Callable[[Prediction], bool], at: int | None = None
    ) -> list[Prediction]:
        """Tokens after the last one that is held, which is number `at` of the text less one, as
        long as `go_on` says of each one; None: it is the last one of all."""
        sampler, head = self._sampler, self._head
        assert sampler is not None
        place = len(self._mapping.tokens) if at is None else at
        check(self.stop)
        head.forward([self.held[-1]], range(count))
        free = at is not None
        predictions: list[Prediction] = []
        sampler.mark()
        try:
            for row in range(count):
                one = self._predict(row, place + row, free)
                # two that are as good as none: what may be written is not among its tokens
                margin = -math.inf if math.isnan(one.margin) else one.margin
                sure = min(margin, head.sureness(row))
                one = Prediction(one.token, one.second, sure)
                predictions.append(one)
                if not go_on(one) or head.is_end(one.token):
                    break
                head.chose(row, one.token)
                if not free:
                    sampler.accept([one.token])
        finally:
            sampler.rewind()
        return predictions

    def _decode(self, tokens: Sequence[int], _outputs: Sequence[int]) -> None:
        at = self.offset + len(self.held)
        self._head.forward(tokens, (), hidden=self.rows.get(at, at + len(tokens)))
        self._solid = len(self.held) + len(tokens)
