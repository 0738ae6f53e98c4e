"""Drafts with a head that drafts a block of tokens in one forward (DFlash, DSpark). Engine thread.

It processes the target's hidden states like other heads, and drafts from all of them. The size of a
block is chosen before it is drafted: its tokens come together, at little more than the cost of one.
The number to verify is chosen afterwards, from the confidence in each.
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

# size of a block that is scored on a text
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
        """`target_name`: a name that differs for different target weights."""
        super().__init__(head, target, target_name, make_cache, stand_in)
        self._head = head

    def prefill(
        self, costs: Costs, window: int | None = None, score: int = 0
    ) -> list[tuple[float, bool]]:
        """Make the head hold the text. Scores come in blocks, as in rounds: of each, the tokens up
        to the first wrong one."""
        self._start_over(window)
        # blocks included, this takes no more than the worst case of a prefill
        within = costs.worst_seconds(self.lag, len(self.held))
        return list(self._read_and_score(costs, score, within))

    def score(
        self, tokens: Sequence[int], start: int, costs: Costs, stop: StopSignal
    ) -> Iterator[tuple[float, bool]]:
        """Score one block at a time."""
        self.begin(tokens, Sampling(temperature=0), 0, stop)
        self.forget()
        try:
            if self.ready:
                self._start_over(None)
                yield from self._read_and_score(costs, len(tokens) - start, math.inf)
        finally:
            self.end()

    def time_steps(self, costs: Costs, steps: int, rows: int = 0) -> None:
        """Time rounds of one token, and one of `rows`, that each process as many first; the held
        text is unchanged."""
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
        """Hold nothing and begin at a later position, if the held text is of no use."""
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
        """Make the head hold the text up to `end`."""
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
        """Prefill and score; blocks are drafted while the total fits in `within` seconds."""
        tokens, ends = self._mapping.tokens, self.decoder.seconds() + within
        # the first block needs a held token
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
        """Draft up to `count` tokens after the last held one, for position `at` on, while `go_on`
        agrees; `at` None: after the end of the text."""
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
                # NaN: the head has none of the allowed tokens
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
