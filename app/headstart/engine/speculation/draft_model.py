"""A draft model beside the target: keeps its KV state equal to the text, and drafts tokens.

Engine thread. `held`: the tokens in the draft's KV state; the first `good` of them match the text
from `offset` on (a draft may see only the last part of a text).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from headstart.core.audiences import Audience
from headstart.core.chats.parts import Origin
from headstart.core.settings.schema import Sampling, changed
from headstart.engine import image_tokens
from headstart.engine.constraints.rules import DraftRules
from headstart.engine.decoder import (
    Constraint,
    ContextFull,
    DecodeAborted,
    Decoder,
    Prediction,
    Sampler,
)
from headstart.engine.prefix.prefix_cache import PrefixCache
from headstart.engine.speculation.costs import Costs
from headstart.engine.speculation.hidden_rows import HiddenRows
from headstart.engine.speculation.second_stage import SecondStage
from headstart.engine.speculation.token_mapping import (
    DraftToken,
    SameTokens,
    TokenMapping,
)
from headstart.engine.stop import NEVER, StopSignal

# room in the draft's context that a round needs, in tokens
_ROOM = 40


class DraftModel:
    """One loaded draft for one target. `begin` opens a turn; `close` frees the model."""

    # the target's hidden states that it drafts from; only heads do
    rows: HiddenRows | None = None
    # the displayed origin of its tokens
    origin = Origin.DRAFT

    def __init__(
        self,
        decoder: Decoder,
        mapping: TokenMapping,
        prefix_cache: PrefixCache | None = None,
        stand_in: int = 0,
    ) -> None:
        """`stand_in`: the target's token that replaces each token of an image."""
        self.decoder = decoder
        self._stand_in = stand_in
        # drafts that would need a snapshot for each round are recomputed instead
        self._prefix_cache = (
            None if prefix_cache is not None and prefix_cache.needs_snapshots else prefix_cache
        )
        self._mapping = mapping
        # whether this text's use of records may be noted on disk
        self.persist = True
        self.held: list[int] = []
        self.good = 0
        self.offset = 0
        # candidates for its next tokens; heads, and drafts with checkpoints, do not use them
        self.second_stage = SecondStage(same=isinstance(mapping, SameTokens))
        self._two_stages = self.rows is None and decoder.facts.rollback == "exact"
        self._sampler: Sampler | None = None
        self._constraint: DraftRules | None = None
        self._next: Prediction | None = None
        self._context = decoder.facts.context_length
        # the most tokens that can be prefilled at once when it starts over
        self.window = max(1, (self._context - _ROOM) // 2)
        self.stop = NEVER

    # --- the text ------------------------------------------------------------------------

    def begin(
        self,
        tokens: Sequence[int],
        sampling: Sampling,
        seed: int,
        stop: StopSignal,
        rules: Constraint | None = None,
    ) -> None:
        """Begin a turn over the text `tokens`, and keep the held part of it. `rules`: those of the
        target's sampler."""
        self.end()
        self._mapping.begin(image_tokens.without(tokens, self._stand_in))
        self.stop = stop
        if self._mapping.greedy:
            sampling = changed(sampling, temperature=0.0, repeat_penalty=1.0, presence_penalty=0.0)
            # its vocabulary is entirely different
            rules = None
        names = self._mapping.names
        self._constraint = None if rules is None else DraftRules(rules, names)
        self._sampler = self.decoder.sampler(sampling, seed, names, self._constraint)
        self._sampler.see(self._mapping.tokens)
        if self._two_stages:
            self.second_stage.see(self._mapping.tokens)
        self.good = 0
        if self.offset and (
            self.offset >= len(self._mapping.tokens)
            or self.held[:1] != self._mapping.tokens[self.offset : self.offset + 1]
        ):
            self.forget()
        self._match()

    def extend(self, more: Sequence[int]) -> None:
        """Follow the grown text."""
        changed_from = self._mapping.extend(more)
        if self._sampler is not None:
            self._sampler.see(self._mapping.tokens[changed_from:])
        if self._two_stages:
            self.second_stage.see(self._mapping.tokens, changed_from)
        self.good = min(self.good, max(0, changed_from - self.offset))
        self._next = None
        self._match()

    def end(self) -> None:
        if self._sampler is not None:
            self._sampler.close()
            self._sampler = self._constraint = None
        self._next = None
        self.stop = NEVER

    def close(self) -> None:
        self.end()
        self.decoder.close()

    @property
    def lag(self) -> int:
        """Tokens to process before the next draft token."""
        if not self.fits():
            return min(self.window, len(self._mapping.tokens))
        return max(1, len(self._mapping.tokens) - self.offset - self.good)

    @property
    def ready(self) -> bool:
        return self._mapping.ready and len(self._mapping.tokens) > 0

    @property
    def sees_all(self) -> bool:
        """True if the draft sees the text from its first token on."""
        return not self.offset

    @property
    def unseen(self) -> int:
        """Tokens to process for the draft to see the whole text; 0 if it does, or cannot."""
        length = len(self._mapping.tokens)
        fits = length + _ROOM <= self._context
        return length if self.offset and fits else 0

    def fits(self) -> bool:
        """True if the text from `offset` on leaves room for draft tokens in the draft's context."""
        used = len(self._mapping.tokens) - self.offset
        return used + _ROOM <= self.decoder.facts.context_length

    # --- saved state ---------------------------------------------------------------------

    def join_seconds(self, tokens: Sequence[int]) -> float:
        """Estimated seconds of `begin` with the target's tokens and `restore` together."""
        seconds = self._mapping.seconds(image_tokens.without(tokens, self._stand_in))
        held = self._mapping.tokens
        if self._prefix_cache is not None and held and len(held) + _ROOM <= self._context:
            seconds += self._prefix_cache.seconds(self.held, held[:-1])
        return seconds

    def restore(self) -> None:
        """Restore saved state of the text, if that is faster than prefilling it."""
        tokens = self._mapping.tokens
        if self._prefix_cache is None or not tokens or len(tokens) + _ROOM > self._context:
            return
        if self.offset:
            self.forget()
        # a model decodes its last token again, for the logits; a head's last token comes with a new
        # row
        wanted = tokens if self.rows is not None else tokens[:-1]
        self._prefix_cache.restore(self.held, wanted, self.stop, self.persist)
        self.good = 0
        self._match()

    def enter(self, audience: Audience, chat_id: str | None) -> None:
        """Follow text of this chat next; see `PrefixCache.enter`."""
        if self._prefix_cache is not None:
            self._prefix_cache.enter(audience, chat_id)

    def forget_text(self) -> None:
        """Drop all that it knows of the text so far."""
        self.end()
        self.forget()
        self.second_stage.forget()

    def save(self, owner: str | None, tail: bool) -> Iterator[None]:
        """Save the held state, in short pieces of work; see `PrefixCache.save`."""
        if self._prefix_cache is None or self.offset or not self.good:
            return
        held = self.held[: self.good]
        if tail and owner is not None:
            yield from self._prefix_cache.save_tail(held, owner)
        else:
            yield from self._prefix_cache.save(held, owner)

    # --- prefill and drafting ------------------------------------------------------------

    def prefill(
        self, costs: Costs, window: int | None = None, score: int = 0
    ) -> list[tuple[float, bool]]:
        """Make the KV state hold the text; the next draft token is ready afterwards.

        `window`: start over with only the last `window` tokens if more are missing. Returns, for
        the last `score` processed tokens, the margin of each draft token and whether it was right.
        """
        tokens = self._mapping.tokens
        if window is not None and self.lag > window:
            self.forget()
            self.offset = len(tokens) - window
        elif not self.fits():
            self.forget()
            self.offset = max(0, len(tokens) - self.window)
        self._cut_to(self.good)
        at = self.offset + self.good
        if at >= len(tokens):
            # its logits are gone: decode the last token again
            self.good -= 1
            self._cut_to(self.good)
            at = self.offset + self.good
        scores: list[tuple[float, bool]] = []
        first_scored = max(at + 1, len(tokens) - score)
        batch = self.decoder.facts.batch
        while at < len(tokens):
            check(self.stop)
            end = min(len(tokens), at + batch)
            rows = [index for index in range(at, end) if index + 1 >= first_scored]
            rows = [index for index in rows if index + 1 < len(tokens) or index == end - 1]
            started = self.decoder.seconds()
            self._forward(tokens[at:end], [index - at for index in rows])
            self.good = len(self.held)
            for row, index in enumerate(rows):
                # the rules do not apply to earlier text
                prediction = self._predict(row, index + 1, free=index + 1 < len(tokens))
                if index + 1 < len(tokens):
                    scores.append((prediction.margin, prediction.token == tokens[index + 1]))
                else:
                    self._next = prediction
            costs.observe(end - at, at, self.decoder.seconds() - started)
            at = end
        self.decoder.checkpoint()
        return scores

    def time_steps(self, costs: Costs, steps: int, rows: int = 0) -> None:
        """Time forwards of one token, and one of `rows`; the held text is unchanged."""
        tokens = self.held[:1] or [0]
        for count in [1] * steps + ([rows] if rows > 1 else []):
            position = len(self.held)
            if position + count > self._context:
                break
            if self.decoder.facts.rollback == "checkpoint":
                self.decoder.checkpoint()
            began = self.decoder.seconds()
            try:
                self._forward(tokens * count, range(count))
                for row in range(count):
                    self.decoder.argmax(row)
                costs.observe(count, position, self.decoder.seconds() - began)
            except ContextFull:
                # a head at the end of the target's text has no more room than the target
                break
            finally:
                self._next = None
                self._cut_to(position)

    def score(
        self, tokens: Sequence[int], start: int, costs: Costs, stop: StopSignal
    ) -> Iterable[tuple[float, bool]]:
        """Score the draft model on the target's text `tokens` from `start` on: each token's margin
        and whether it was right; in pieces if it takes several forwards. Its held text is
        forgotten."""
        self.begin(tokens, Sampling(temperature=0), 0, stop)
        self.forget()
        try:
            if not self.ready:
                return []
            scores = self.prefill(costs, score=len(tokens) - start)
            if self._next is not None:
                # time single steps too, as drafting mostly consists of them
                for _ in range(4):
                    began = self.decoder.seconds()
                    self._forward([self._next.token], [0])
                    self._predict(0, len(self.held))
                    costs.observe(1, len(self.held), self.decoder.seconds() - began)
            return scores
        finally:
            self.end()

    def draft(
        self, costs: Costs, go_on: Callable[[Prediction, float], bool], most: int
    ) -> list[DraftToken]:
        """Draft a chain of at most `most` tokens after the text.

        `go_on(prediction, seconds)` gets each one and the time so far, and returns True to draft
        another.
        """
        assert self._sampler is not None
        began = self.decoder.seconds()
        if self._next is None:
            self.prefill(costs)
        predictions: list[Prediction] = []
        self._sampler.mark()
        try:
            for prediction in self._predictions(costs):
                predictions.append(prediction)
                if (
                    not go_on(prediction, self.decoder.seconds() - began)
                    or len(predictions) >= most
                    or self.decoder.is_end(prediction.token)
                ):
                    break
        finally:
            self._sampler.rewind()
            self._next = None
        return self._mapping.to_target(predictions)

    # --- inside --------------------------------------------------------------------------

    def _predictions(self, costs: Costs) -> Iterator[Prediction]:
        """Predictions after the text, token by token, each given the ones before it."""
        assert self._sampler is not None
        prediction, place = self._next, len(self._mapping.tokens)
        assert prediction is not None
        yield prediction
        while True:
            check(self.stop)
            at = len(self.held)
            drafted: list[int] = []
            if self._two_stages and at:
                drafted = self.second_stage.next(self.held[-1], prediction.token, costs, at)
            began, took = self.decoder.seconds(), 0.0
            self._sampler.accept([prediction.token])
            self._forward([prediction.token, *drafted], range(1 + len(drafted)))
            for right in range(1 + len(drafted)):
                place += 1
                prediction = self._predict(right, place)
                took += self.decoder.seconds() - began
                if right == len(drafted) or prediction.token != drafted[right]:
                    break
                yield prediction
                began = self.decoder.seconds()
                self._sampler.accept([prediction.token])
            # drop wrong tokens of the second stage
            self._cut_to(at + 1 + right)
            costs.observe(1 + len(drafted), at, took)
            if drafted:
                self.second_stage.learn(right)
            if self._two_stages:
                costs.observe_share(1 + right, took)
            yield prediction

    def _predict(self, row: int, position: int, free: bool = False) -> Prediction:
        assert self._sampler is not None
        if self._constraint is not None:
            self._constraint.off = free
        return self._sampler.predict(row, position + self._mapping.shift)

    def _forward(self, tokens: Sequence[int], outputs: Sequence[int]) -> None:
        try:
            self._decode(tokens, outputs)
        except BaseException:
            # after an abort the KV state may be longer or shorter than `held`
            kept = self.decoder.truncate(len(self.held))
            del self.held[kept:]
            self.good = min(self.good, kept)
            raise
        self.held.extend(tokens)

    def _decode(self, tokens: Sequence[int], outputs: Sequence[int]) -> None:
        self.decoder.forward(tokens, outputs)

    def _match(self) -> None:
        """Find the length of the held prefix that matches the text."""
        tokens, held, offset = self._mapping.tokens, self.held, self.offset
        good, end = self.good, min(len(held), len(tokens) - offset)
        while good < end and held[good] == tokens[offset + good]:
            good += 1
        self.good = good

    def _cut_to(self, length: int) -> None:
        if len(self.held) > length:
            left = self.decoder.truncate(length)
            del self.held[left:]
            self.good = min(self.good, left)

    def forget(self) -> None:
        """Drop all held tokens."""
        self.decoder.truncate(0)
        self.held.clear()
        self.good = self.offset = 0


def check(stop: StopSignal) -> None:
    """Raises DecodeAborted if stopped."""
    if stop.stopped:
        raise DecodeAborted
