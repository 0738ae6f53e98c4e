"""One local turn: prompt -> common prefix -> read the rest -> generate -> figures.

Runs on the engine thread over a `Decoder`. The token list `Resident.tokens` always equals what
is in the KV state; the last drawn token is not in it until it is decoded.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from headstart.core.errors import EnvironmentProblem
from headstart.core.events import (
    CancelToken,
    ContextUse,
    Emit,
    Finished,
    GenerationRequest,
    Guessing,
    Notice,
    PromptMessage,
    Reading,
    TextAdded,
    TextPiece,
)
from headstart.core.values import FinishReason, Origin, TurnFigures
from headstart.engine.decoder import ContextFull, DecodeAborted, Decoder, Sampler
from headstart.engine.prompt import (
    PromptEncoder,
    common_prefix,
    drop_oldest,
    droppable_turns,
)
from headstart.engine.speculation.loop import Emitted, Speculator
from headstart.engine.speculation.state import SpeculationState
from headstart.engine.text_stream import THINK_CLOSE, THINK_OPEN, TextStream

# text goes up at most this often: fluent to read, and on few cores painting takes from decoding
EMIT_SECONDS = 0.033
# figures of guessing go up less often than text
GUESSING_SECONDS = 0.25
# from this share on the user hears that the context is about to be full
WARN_SHARE = 0.85
# what a prompt must leave free for the reply, in tokens, at most a quarter of the context
REPLY_ROOM = 256
# dropping turns makes room down to this share, so that the next turns find their prefix again
DROP_TO_SHARE = 0.7


@dataclass(slots=True)
class Resident:
    """What the decoder's live sequence holds, and what was left out of which chat so far."""

    tokens: list[int] = field(default_factory=list)
    # chat id -> key of the oldest user message still kept
    kept_from: dict[str, str] = field(default_factory=dict)


class Turn:
    """The state of one generation; `run` is called once."""

    def __init__(
        self,
        decoder: Decoder,
        encoder: PromptEncoder,
        resident: Resident,
        request: GenerationRequest,
        emit: Emit,
        cancel: CancelToken,
        template_stop: Sequence[str],
        speculation: SpeculationState,
    ) -> None:
        self._decoder = decoder
        self._encoder = encoder
        self._resident = resident
        self._request = request
        self._emit = emit
        self._cancel = cancel
        self._speculation = speculation
        self._speculator: Speculator | None = None
        self._size = decoder.facts.context_length
        self._stop = (*request.sampling.stop, *template_stop)
        self._seed = (
            random.getrandbits(32) % (2**32 - 1)
            if request.sampling.seed is None
            else request.sampling.seed
        )
        self._started = time.perf_counter()
        self._first_at: float | None = None
        self._last_emit = 0.0
        self._last_guessing = 0.0
        self._waiting: list[TextPiece] = []
        self._generated: list[int] = []
        self._prompt_tokens = 0
        self._reused = 0
        self._read_seconds = 0.0
        self._warned = False
        self._dropped = 0

    def run(self) -> None:
        """Emit the whole turn; raises EnvironmentProblem when the prompt cannot fit."""
        finish = FinishReason.CANCELLED
        stream = TextStream(self._stop)
        self._cancel.set_hook(self._abort)
        try:
            rendered, prompt = self._fit(self._request.reply_so_far)
            self._prompt_tokens = len(prompt)
            stream = TextStream(
                self._stop,
                reasoning=self._reasoning_open(rendered),
                at_start=not self._request.reply_so_far,
            )
            self._read(prompt)
            finish = self._generate(rendered, stream)
        except DecodeAborted:
            pass
        finally:
            # whatever ended the turn: no word is lost, and the token list is what the KV holds
            self._cancel.set_hook(None)
            self._decoder.clear_abort()
            self._speculation.clear_abort()
            self._synchronize()
            self._waiting.extend(stream.finish(ended=finish is FinishReason.END))
            self._flush(force=True)
        self._emit(ContextUse(len(self._resident.tokens), self._size))
        curve = self._speculation.curve(len(self._resident.tokens))
        if curve is not None and self._request.draft is not None:
            self._emit(curve)
        self._emit(Finished(self._figures(finish)))

    def _abort(self) -> None:
        self._decoder.abort()
        self._speculation.abort()

    def _fit(self, reply_so_far: str) -> tuple[str, list[int]]:
        """The prompt as text and tokens, older turns left out if the user's rule says so."""
        messages = self._request.messages
        limit = self._size - min(REPLY_ROOM, self._size // 4)
        rendered, tokens = self._encode(messages, self._dropped, reply_so_far)
        if len(tokens) <= limit:
            return rendered, tokens
        remembered = self._remembered_drop(messages)
        if remembered > self._dropped:
            # what was left out last time stays out, so that the prefix is found again
            self._dropped = remembered
            rendered, tokens = self._encode(messages, self._dropped, reply_so_far)
            if len(tokens) <= limit:
                self._tell_dropped()
                return rendered, tokens
        droppable = droppable_turns(messages)
        if self._request.when_full == "stop" or droppable == 0:
            alone = droppable == 0
            what = "This message is" if alone else "This chat has become"
            if reply_so_far:
                what = "Together with its question, this reply is"
            raise EnvironmentProblem(
                f"{what} too long for the model's context: {len(tokens):,} of "
                f"{self._size:,} tokens, and the reply needs room too.",
                "Shorten it, or choose a larger context length in the settings."
                if alone
                else "Let the oldest turns be left out (chat settings), choose a larger context "
                "length, or start a new chat.",
            )
        while self._dropped < droppable and len(tokens) > self._size * DROP_TO_SHARE:
            self._dropped += 1
            rendered, tokens = self._encode(messages, self._dropped, reply_so_far)
        if len(tokens) > limit:
            self._dropped = 0
            raise EnvironmentProblem(
                f"Even alone, the last message is too long for the model's context of "
                f"{self._size:,} tokens.",
                "Shorten it, or choose a larger context length in the settings.",
            )
        self._remember_drop(messages)
        self._tell_dropped()
        return rendered, tokens

    def _tell_dropped(self) -> None:
        plural = "turn is" if self._dropped == 1 else "turns are"
        self._emit(
            Notice(
                "context-dropped",
                f"The context is full: the {self._dropped} oldest {plural} left out of what the "
                "model reads. The system prompt stays, and nothing is deleted here.",
            )
        )

    def _encode(
        self, messages: Sequence[PromptMessage], dropped: int, reply_so_far: str
    ) -> tuple[str, list[int]]:
        kept = drop_oldest(messages, dropped)
        rendered = self._encoder.render(kept)
        if rendered.rstrip().endswith(THINK_OPEN):
            # the template has opened the block that the reply so far begins with
            reply_so_far = reply_so_far.removeprefix(THINK_OPEN).lstrip("\n")
        rendered += self._encoder.guard(reply_so_far)
        return rendered, self._encoder.encode(rendered)

    def _remembered_drop(self, messages: Sequence[PromptMessage]) -> int:
        """How many turns an earlier turn of this chat left out, if they are still its first."""
        if self._request.when_full != "drop_oldest":
            return 0
        key = self._resident.kept_from.get(self._request.chat_id)
        users = [message.key for message in messages if message.role.value == "user"]
        return users.index(key) if key and key in users else 0

    def _remember_drop(self, messages: Sequence[PromptMessage]) -> None:
        users = [message.key for message in messages if message.role.value == "user"]
        if self._request.chat_id and self._dropped < len(users):
            self._resident.kept_from[self._request.chat_id] = users[self._dropped]

    def _read(self, prompt: list[int]) -> None:
        """Make the KV state hold `prompt`; the last row's logits are ready afterwards."""
        began = time.perf_counter()
        resident = self._resident.tokens
        # the last token is always decoded, to get its logits
        common = common_prefix(resident, prompt[:-1])
        common = self._decoder.truncate(common)
        del resident[common:]
        self._reused = common
        total = len(prompt)
        self._emit(Reading(common, total, common))
        self._emit(ContextUse(total, self._size))
        batch = self._decoder.facts.batch
        at = common
        while at < total:
            if self._cancel.cancelled:
                raise DecodeAborted
            # slices end at multiples of the batch, so that their borders do not depend on what
            # was resident before
            end = min(total, (at // batch + 1) * batch)
            self._forward(prompt[at:end], [end - at - 1] if end == total else [])
            at = end
            self._emit(Reading(at, total, common))
        self._read_seconds += time.perf_counter() - began

    def _forward(self, tokens: Sequence[int], outputs: Sequence[int]) -> None:
        self._decoder.forward(tokens, outputs)
        self._resident.tokens.extend(tokens)

    def _reasoning_open(self, rendered: str) -> bool:
        """Whether the reply goes on, or begins, within a reasoning block."""
        so_far = self._request.reply_so_far
        if so_far:
            return so_far.startswith(THINK_OPEN) and THINK_CLOSE not in so_far
        return rendered.rstrip().endswith(THINK_OPEN)

    def _generate(self, rendered: str, stream: TextStream) -> FinishReason:
        tokens = self._resident.tokens
        sampler = self._decoder.sampler(self._request.sampling, self._seed)
        try:
            sampler.accept(tokens)
            self._speculator = self._speculation.begin(
                self._request, tokens, sampler, self._seed, self._emit, self._cancel
            )
            finish = self._loop(sampler, self._speculator, stream)
        finally:
            sampler.close()
            self._speculation.end()
            # whatever ended the reply: the next turn finds these tokens again
            self._remember_reply(rendered, stream)
        return finish

    def _remember_reply(self, rendered: str, stream: TextStream) -> None:
        """Have the encoder know the reply's tokens, without those of a character cut in two."""
        tokens, cut = list(self._generated), stream.incomplete
        while tokens and cut > 0:
            cut -= len(self._decoder.piece(tokens.pop()))
        if cut == 0:
            self._encoder.remember_reply(rendered, stream.raw, tokens)

    def _loop(self, sampler: Sampler, speculator: Speculator, stream: TextStream) -> FinishReason:
        resident = self._resident.tokens
        # the place in the text of the first of `emitted`
        place, emitted = len(resident), self._first(sampler)
        while True:
            for count, (token, origin) in enumerate(emitted, 1):
                finish = self._take(token, origin, stream)
                if finish is not None:
                    speculator.cut(place + count)
                    return finish
            self._flush()
            if self._cancel.cancelled:
                return FinishReason.CANCELLED
            try:
                place = speculator.place
                emitted = speculator.step(emitted[-1][0], self._room())
            except ContextFull:
                if not self._make_room(stream):
                    return FinishReason.CONTEXT_FULL
                speculator.restart()
                place, emitted = len(resident), self._first(sampler)
            self._warn_when_nearly_full()

    def _first(self, sampler: Sampler) -> Emitted:
        """The token after what was read."""
        token = sampler.draw(0, len(self._resident.tokens))
        sampler.accept((token,))
        if self._first_at is None:
            self._first_at = time.perf_counter()
        return [(token, Origin.TARGET)]

    def _take(self, token: int, origin: Origin, stream: TextStream) -> FinishReason | None:
        """Make a token part of the reply; says how the reply ended, if it did."""
        if self._decoder.is_end(token):
            return FinishReason.END
        self._generated.append(token)
        self._waiting.extend(stream.push(self._decoder.piece(token), origin))
        if stream.stopped:
            return FinishReason.STOP_STRING
        limit = self._request.sampling.max_tokens
        if limit and len(self._generated) >= limit:
            return FinishReason.LENGTH
        return None

    def _room(self) -> int:
        """How many guesses the longest reply leaves room for."""
        limit = self._request.sampling.max_tokens
        return limit - len(self._generated) - 1 if limit else self._size

    def _make_room(self, stream: TextStream) -> bool:
        """In the middle of a reply: leave out older turns and read the shorter chat again."""
        messages = self._request.messages
        if self._request.when_full == "stop" or self._dropped >= droppable_turns(messages):
            return False
        self._flush(force=True)
        written = self._request.reply_so_far + stream.raw
        try:
            _, prompt = self._fit(written)
        except EnvironmentProblem:
            return False
        self._read(prompt)
        return True

    def _warn_when_nearly_full(self) -> None:
        used = len(self._resident.tokens)
        if self._warned or used < self._size * WARN_SHARE:
            return
        self._warned = True
        rule = (
            "the oldest turns will be left out"
            if self._request.when_full == "drop_oldest"
            else "the reply will stop"
        )
        self._emit(
            Notice(
                "context-nearly-full",
                f"This chat uses {used:,} of the model's {self._size:,} tokens. "
                f"When it is full, {rule}.",
            )
        )

    def _flush(self, force: bool = False) -> None:
        now = time.perf_counter()
        if not self._waiting or (not force and now - self._last_emit < EMIT_SECONDS):
            return
        pieces, self._waiting = tuple(self._waiting), []
        self._last_emit = now
        since_first = now - self._first_at if self._first_at is not None else 0.0
        self._emit(TextAdded(pieces, len(self._generated), since_first))
        if now - self._last_guessing >= GUESSING_SECONDS or force:
            self._last_guessing = now
            self._tell_guessing(since_first)

    def _tell_guessing(self, seconds: float) -> None:
        speculator = self._speculator
        if speculator is not None and speculator.rounds:
            self._emit(
                Guessing(
                    speculator.last_depth,
                    speculator.last_source,
                    len(self._generated),
                    speculator.figures,
                    seconds,
                )
            )

    def _synchronize(self) -> None:
        """After an abort the KV state may be shorter than the list of what was asked for."""
        del self._resident.tokens[self._decoder.n_past() :]
        if len(self._resident.tokens) != self._decoder.n_past():
            # more cells than tokens: an aborted slice left part of itself
            kept = self._decoder.truncate(len(self._resident.tokens))
            del self._resident.tokens[kept:]

    def _figures(self, finish: FinishReason) -> TurnFigures:
        ended = time.perf_counter()
        return TurnFigures(
            finish=finish,
            prompt_tokens=self._prompt_tokens,
            reused_tokens=self._reused,
            read_seconds=self._read_seconds,
            first_token_seconds=None if self._first_at is None else self._first_at - self._started,
            generated_tokens=len(self._generated),
            generate_seconds=0.0 if self._first_at is None else ended - self._first_at,
            seed=self._seed if self._request.sampling.temperature > 0 else None,
            speculation=None if self._speculator is None else self._speculator.figures,
        )
