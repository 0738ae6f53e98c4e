"""A draft model beside the target: its KV state, kept equal to the text, and its guesses.

Engine thread. `held` is what is in the draft's KV state; of it the first `good` tokens are the
text's, from `offset` on (a draft may see only the last part of a text).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter

from headstart.core.settings import Sampling, changed
from headstart.engine.decoder import DecodeAborted, Decoder, Guess, Sampler
from headstart.engine.prefix.keeper import Keeper
from headstart.engine.speculation.bridge import Bridge, Guessed
from headstart.engine.speculation.costs import Costs
from headstart.engine.stop import NEVER, StopSignal

# room that must be left in the draft's context for a round of guesses
_ROOM = 40


class DraftModel:
    """One loaded draft for one target. `begin` opens a turn; `close` frees the model."""

    def __init__(self, decoder: Decoder, bridge: Bridge, keeper: Keeper | None = None) -> None:
        self.decoder = decoder
        # snapshots would be needed for each round of guesses: such drafts are read again
        self._keeper = None if keeper is not None and keeper.needs_snapshots else keeper
        self._bridge = bridge
        # whether what this text needs of the disk may be noted there
        self.persist = True
        self._held: list[int] = []
        self._good = 0
        self._offset = 0
        self._sampler: Sampler | None = None
        self._next: Guess | None = None
        self._context = decoder.facts.context_length
        self._stop = NEVER

    # --- the text ------------------------------------------------------------------------

    def begin(self, tokens: Sequence[int], sampling: Sampling, seed: int, stop: StopSignal) -> None:
        """A new turn over the text `tokens`; what was read of it before is kept."""
        self.end()
        self._bridge.begin(tokens)
        self._stop = stop
        if self._bridge.greedy:
            sampling = changed(sampling, temperature=0.0, repeat_penalty=1.0, presence_penalty=0.0)
        self._sampler = self.decoder.sampler(sampling, seed, self._bridge.names)
        self._sampler.accept(self._bridge.tokens)
        self._good = 0
        if self._offset and (
            self._offset >= len(self._bridge.tokens)
            or self._held[:1] != self._bridge.tokens[self._offset : self._offset + 1]
        ):
            self.forget()
        self._match()

    def extend(self, more: Sequence[int]) -> None:
        """The text grew."""
        changed_from = self._bridge.extend(more)
        if self._sampler is not None:
            self._sampler.accept(self._bridge.tokens[changed_from:])
        self._good = min(self._good, max(0, changed_from - self._offset))
        self._next = None
        self._match()

    def end(self) -> None:
        if self._sampler is not None:
            self._sampler.close()
            self._sampler = None
        self._next = None
        self._stop = NEVER

    def close(self) -> None:
        self.end()
        self.decoder.close()

    @property
    def lag(self) -> int:
        """Tokens to be read before the next guess."""
        if not self.fits():
            return min(self.window, len(self._bridge.tokens))
        return max(1, len(self._bridge.tokens) - self._offset - self._good)

    @property
    def ready(self) -> bool:
        return self._bridge.ready and len(self._bridge.tokens) > 0

    @property
    def sees_all(self) -> bool:
        """Whether it reads the text from its first token on."""
        return not self._offset

    @property
    def unseen(self) -> int:
        """How much there is to read to see the whole text; 0 where that is so, or cannot be."""
        length = len(self._bridge.tokens)
        fits = length + _ROOM <= self._context
        return length if self._offset and fits else 0

    def fits(self) -> bool:
        """Whether the text from `offset` on leaves room for guesses in the draft's context."""
        used = len(self._bridge.tokens) - self._offset
        return used + _ROOM <= self.decoder.facts.context_length

    @property
    def window(self) -> int:
        """The most tokens that can be read anew."""
        return max(1, (self.decoder.facts.context_length - _ROOM) // 2)

    # --- what was read before ------------------------------------------------------------

    def join_seconds(self, tokens: Sequence[int]) -> float:
        """About what `begin` with the target's tokens and `restore` will take together."""
        seconds = self._bridge.seconds(tokens)
        held = self._bridge.tokens
        if self._keeper is not None and held and len(held) + _ROOM <= self._context:
            seconds += self._keeper.seconds(self._held, held[:-1])
        return seconds

    def restore(self) -> None:
        """Have back what was kept of the text, where that is faster than reading it."""
        tokens = self._bridge.tokens
        if self._keeper is None or not tokens or len(tokens) + _ROOM > self._context:
            return
        if self._offset:
            self.forget()
        self._keeper.restore(self._held, tokens[:-1], self._stop, self.persist)
        self._good = 0
        self._match()

    def begin_chat(self) -> None:
        if self._keeper is not None:
            self._keeper.begin_chat()

    def save(self, owner: str | None, leave: bool) -> Iterator[None]:
        """Keep what is held, in short pieces of work; see `Keeper.save`."""
        if self._keeper is None or self._offset or not self._good:
            return
        held = self._held[: self._good]
        if leave and owner is not None:
            yield from self._keeper.leave(held, owner)
        else:
            yield from self._keeper.save(held, owner)

    # --- reading and guessing ------------------------------------------------------------

    def read(
        self, costs: Costs, window: int | None = None, score: int = 0
    ) -> list[tuple[float, bool]]:
        """Make the KV state that of the text; the next guess is ready afterwards.

        `window`: begin anew with only the last so many tokens when more are missing. Returns,
        for the last `score` tokens that were read, the margin of the guess for each one and
        whether it was right.
        """
        tokens = self._bridge.tokens
        if window is not None and self.lag > window:
            self.forget()
            self._offset = len(tokens) - window
        elif not self.fits():
            self.forget()
            self._offset = max(0, len(tokens) - self.window)
        self._cut_to_good()
        at = self._offset + self._good
        if at >= len(tokens):
            # its logits are gone: the last token is decoded once more
            self._good -= 1
            self._cut_to_good()
            at = self._offset + self._good
        scores: list[tuple[float, bool]] = []
        first_scored = max(at + 1, len(tokens) - score)
        batch = self.decoder.facts.batch
        while at < len(tokens):
            self._check()
            end = min(len(tokens), at + batch)
            rows = [index for index in range(at, end) if index + 1 >= first_scored]
            rows = [index for index in rows if index + 1 < len(tokens) or index == end - 1]
            started = perf_counter()
            self._forward(tokens[at:end], [index - at for index in rows])
            self._good = len(self._held)
            for row, index in enumerate(rows):
                guess = self._guess(row, index + 1)
                if index + 1 < len(tokens):
                    scores.append((guess.margin, guess.token == tokens[index + 1]))
                else:
                    self._next = guess
            costs.observe(end - at, at, perf_counter() - started)
            at = end
        self.decoder.checkpoint()
        return scores

    def time_steps(self, costs: Costs, steps: int, rows: int = 0) -> None:
        """Time forwards of one token, and one of `rows`; what is held stays as it is."""
        tokens = self._held[:1] or [0]
        for count in [1] * steps + ([rows] if rows > 1 else []):
            place = len(self._held)
            if place + count > self._context:
                break
            if self.decoder.facts.rollback == "checkpoint":
                self.decoder.checkpoint()
            began = perf_counter()
            try:
                self._forward(tokens * count, range(count))
                for row in range(count):
                    self.decoder.argmax(row)
                costs.observe(count, place, perf_counter() - began)
            finally:
                self._next = None
                self._cut_to(place)

    def score(
        self, tokens: Sequence[int], start: int, costs: Costs, stop: StopSignal
    ) -> list[tuple[float, bool]]:
        """How the draft guesses the text `tokens` of the target from `start` on: margin and
        whether it was right, token by token. What it held before is forgotten."""
        self.begin(tokens, Sampling(temperature=0), 0, stop)
        self.forget()
        try:
            scores = self.read(costs, score=len(tokens) - start)
            if self._next is not None:
                # time single steps too: they are what guessing mostly does
                for _ in range(4):
                    began = perf_counter()
                    self._forward([self._next.token], [0])
                    self._guess(0, len(self._held))
                    costs.observe(1, len(self._held), perf_counter() - began)
            return scores
        finally:
            self.end()

    def guess(
        self, costs: Costs, go_on: Callable[[Guess, float], bool], most: int
    ) -> list[Guessed]:
        """A chain of guesses after the text, at most `most`.

        `go_on(guess, seconds)` is told each guess and the time so far, and says whether to make
        another one.
        """
        assert self._sampler is not None
        began = perf_counter()
        if self._next is None:
            self.read(costs)
        guesses: list[Guess] = []
        self._sampler.mark()
        try:
            guess = self._next
            assert guess is not None
            while True:
                guesses.append(guess)
                if (
                    not go_on(guess, perf_counter() - began)
                    or len(guesses) >= most
                    or self.decoder.is_end(guess.token)
                ):
                    break
                self._check()
                started = perf_counter()
                self._sampler.accept([guess.token])
                self._forward([guess.token], [0])
                guess = self._guess(0, len(self._bridge.tokens) + len(guesses))
                costs.observe(1, len(self._held), perf_counter() - started)
        finally:
            self._sampler.rewind()
            self._next = None
        return self._bridge.back(guesses)

    # --- inside --------------------------------------------------------------------------

    def _guess(self, row: int, position: int) -> Guess:
        assert self._sampler is not None
        return self._sampler.guess(row, position + self._bridge.shift)

    def _forward(self, tokens: Sequence[int], outputs: Sequence[int]) -> None:
        try:
            self.decoder.forward(tokens, outputs)
        except BaseException:
            self._synchronize()
            raise
        self._held.extend(tokens)

    def _synchronize(self) -> None:
        """After an abort the KV state may be longer or shorter than `held`."""
        kept = self.decoder.truncate(len(self._held))
        del self._held[kept:]
        self._good = min(self._good, kept)

    def _check(self) -> None:
        if self._stop.stopped:
            raise DecodeAborted

    def _match(self) -> None:
        """Find how much of what is held is the text's."""
        tokens, held, offset = self._bridge.tokens, self._held, self._offset
        good, end = self._good, min(len(held), len(tokens) - offset)
        while good < end and held[good] == tokens[offset + good]:
            good += 1
        self._good = good

    def _cut_to_good(self) -> None:
        self._cut_to(self._good)

    def _cut_to(self, length: int) -> None:
        if len(self._held) > length:
            left = self.decoder.truncate(length)
            del self._held[left:]
            self._good = min(self._good, left)

    def forget(self) -> None:
        """Nothing is held any more."""
        self.decoder.truncate(0)
        self._held.clear()
        self._good = self._offset = 0
