"""One local turn: prompt -> common prefix -> prefill the rest -> generate -> stats.

Runs on the engine thread over a `Decoder`. The token list `Resident.tokens` always equals the
tokens in the KV state; the last drawn token joins it once it is decoded.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

from msgspec import Struct

from headstart.core.chats.parts import Origin
from headstart.core.chats.values import FinishReason, SpeculationStats
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import (
    ContextUse,
    Emit,
    Finished,
    Notice,
    NoticeKind,
    Prefilling,
    Speculating,
)
from headstart.core.requests import GenerationRequest, WrittenSoFar
from headstart.core.settings.schema import Sampling
from headstart.core.told import told
from headstart.engine.call_memory import WrittenStep, call_key, numbered, prompt_key, reasoning_key
from headstart.engine.constraints.rules import RuleMaker
from headstart.engine.constraints.tool_rules import AllRules
from headstart.engine.decoder import Constraint, ContextFull, DecodeAborted, Decoder, Sampler
from headstart.engine.fitting import Fitting
from headstart.engine.markup.formats import UNMARKED
from headstart.engine.markup.text_stream import TextStream
from headstart.engine.prefill import Prefiller
from headstart.engine.prefix.tracer import Tracer
from headstart.engine.prompt import PromptEncoder
from headstart.engine.reply_emitter import ReplyEmitter
from headstart.engine.shared_texts import share_beginning
from headstart.engine.snapshot_positions import snapshot_positions
from headstart.engine.speculation.loop import Emitted, Speculator
from headstart.engine.speculation.sources import Drawing
from headstart.engine.speculation.state import SpeculationState
from headstart.engine.stop import StopSignal
from headstart.engine.turn_account import PausedTurn, TurnAccount, TurnPaused

# drafting stats are emitted less often than text
SPECULATING_SECONDS = 0.25
# from this share on the user is warned that the context is nearly full
WARN_SHARE = 0.85
# seconds for keeping what a turn computed since it last kept anything, before it gives way
PAUSE_SECONDS = 0.1


class TurnParts(Struct, frozen=True):
    """Parts of a loaded model that its turns run on."""

    decoder: Decoder
    encoder: PromptEncoder
    prefiller: Prefiller
    speculation: SpeculationState
    rules: RuleMaker
    tracer: Tracer | None = None
    # the template's stop strings
    template_stop: Sequence[str] = ()


class Turn:
    """The state of one generation; `run` is called once."""

    def __init__(
        self,
        parts: TurnParts,
        request: GenerationRequest,
        emit: Emit,
        stop: StopSignal,
        paused: PausedTurn | None = None,
    ) -> None:
        """`paused`: the turn where it gave way."""
        self._decoder = decoder = parts.decoder
        self._encoder = encoder = parts.encoder
        self._prefiller = prefiller = parts.prefiller
        self._resident = prefiller.resident
        self._tracer = None if request.beginning_only else parts.tracer
        self._rules = parts.rules
        self._request = request
        self._emit = emit
        self._signal = stop
        self._speculation = parts.speculation
        self._speculator: Speculator | None = None
        self._size = decoder.facts.context_length
        self._ends = () if request.plain else parts.template_stop
        seed = request.sampling.seed
        self._paused = paused or PausedTurn(
            random.getrandbits(32) % (2**32 - 1) if seed is None else seed, TurnAccount()
        )
        self._seed = self._paused.seed
        self._account = self._paused.account
        self._prompt: tuple[str, list[int]] | None = None
        self._marks = {} if request.plain else encoder.marks_with(request.tools)
        self._reply = ReplyEmitter(emit, self._paused.began, len(self._paused.generated))
        self._last_told = 0.0
        self._generated: list[int] = list(self._paused.generated)
        self._warned = False
        self._fitting = Fitting(encoder, prefiller.resident, request, self._size)

    def run(self, on_read: Callable[[], None] = lambda: None) -> None:
        """Emit the whole turn; raises EnvironmentProblem when the prompt cannot fit, and GaveWay
        where it paused. `on_read` is called once the prompt is prefilled."""
        finish = FinishReason.CANCELLED
        stream = self._stream()
        self._signal.set_abort(self._abort)
        try:
            request = self._request
            self._prefiller.enter(request.chat_id, request.retention, request.audience)
            rendered, prompt = self._prompt = self._begin(stream)
            self._prefill([*prompt, *self._generated], first=self._paused.prompt is None)
            on_read()
            finish = self._generate(rendered, prompt, stream)
        except DecodeAborted:
            pass
        finally:
            # however the turn ended: no word is lost, and the token list matches the KV state
            self._signal.set_abort(None)
            self._decoder.clear_abort()
            self._speculation.clear_abort()
            self._prefiller.synchronize()
            pauses = self._gives_way and finish is FinishReason.CANCELLED
            if not pauses:
                self._reply.add(stream.finish(ended=finish is FinishReason.END))
            self._flush(force=True)
        if pauses:
            raise self._pause()
        self._emit(ContextUse(len(self._resident.tokens), self._size))
        curve = self._speculation.curve(len(self._resident.tokens))
        if curve is not None and self._request.load.draft is not None:
            self._emit(curve)
        seed = self._seed if self._request.sampling.temperature > 0 else None
        stats = self._account.stats(finish, self._reply, self._speculated, seed)
        self._emit(Finished(stats, stream.stopped_by))

    def _begin(self, stream: TextStream) -> tuple[str, list[int]]:
        """The prompt as text and tokens, with `stream` at the position of the next token."""
        found = self._paused.prompt
        if found is None:
            found = self._fitting.fit(self._request.reply_so_far, self._emit)
            self._account.rendered(len(found[1]))
        else:
            self._fitting.begin_at(self._paused.start)
        share_beginning(self._prefiller, self._encoder, self._request, self._fitting.kept, found)
        stream.follow(*self._fitting.start)
        for token in self._generated:
            # its text was passed on before the turn gave way
            stream.push(self._decoder.piece(token), Origin.TARGET, self._marks.get(token))
        return found

    @property
    def _gives_way(self) -> bool:
        return self._signal.gives_way and not self._signal.stopped

    def _pause(self) -> TurnPaused:
        """Keep what is computed, and all that decides the next token."""
        self._prefiller.save(StopSignal(PAUSE_SECONDS))
        account = self._account.paused(self._reply, self._speculated)
        start, began = self._fitting.start, self._reply.began
        return TurnPaused(
            PausedTurn(self._seed, account, self._prompt, start, tuple(self._generated), began)
        )

    def _abort(self) -> None:
        self._decoder.abort()
        self._speculation.abort()

    def _prefill(self, prompt: list[int], first: bool = False) -> None:
        """Make the KV state hold `prompt`; the last row's logits are ready afterwards. `first`: the
        stats describe this prompt."""
        began = time.perf_counter()
        # the last token is always decoded, to get its logits
        common = self._prefiller.reuse(prompt[:-1], self._signal)
        total = len(prompt)
        if first:
            self._account.restored(common, self._resident)
        self._emit(Prefilling(common, total, common))
        self._emit(ContextUse(total, self._size))
        self._prefiller.prefill(
            prompt,
            self._emit,
            self._signal,
            positions=self._positions(prompt),
            keeps=self._request.served,
        )
        self._account.prefill_seconds += time.perf_counter() - began

    def _positions(self, prompt: Sequence[int]) -> list[int]:
        request, others = self._request, list[Sequence[int]]()
        if request.served and self._tracer is not None:
            others = self._tracer.others(request)
        kept = self._fitting.kept
        return snapshot_positions(self._prefiller, self._encoder, request, kept, prompt, others)

    def _stream(self) -> TextStream:
        encoder, tools, stop = self._encoder, self._request.tools, self._request.sampling.stop
        if self._request.plain:
            return TextStream(stop, UNMARKED)
        marks = frozenset(encoder.marks_with(tools).values())
        schemas = tools.schemas if tools else None
        return TextStream(stop, encoder.form_with(tools), marks, schemas, self._ends)

    def _generate(self, rendered: str, prompt: list[int], stream: TextStream) -> FinishReason:
        tokens, kept = self._resident.tokens, self._fitting.kept
        rules = self._all_rules()
        sampler = self._decoder.sampler(self._request.sampling, self._seed, constraint=rules)
        finish: FinishReason | None = None
        try:
            sampler.see(tokens[: len(tokens) - len(self._generated)])
            sampler.accept(self._generated)
            self._speculator = self._speculation.begin(
                self._request,
                tokens,
                Drawing(sampler, self._seed, rules),
                self._emit,
                self._signal,
            )
            finish = self._loop(sampler, self._speculator, stream)
        finally:
            sampler.close()
            self._speculation.end()
            ended = finish not in (None, FinishReason.CANCELLED) or not self._gives_way
            if ended:
                # however the reply ended: the next turn finds these tokens again
                self._remember_reply(rendered, stream, finish is FinishReason.END)
            if ended and self._tracer is not None:
                found = self._tracer.explain(
                    self._request, kept, rendered, prompt, self._account.reused
                )
                self._account.explained(found)
                text = self._so_far(stream).text
                self._tracer.remember(self._request, self._fitting.kept, text, tokens)
        return finish

    def _all_rules(self) -> Constraint | None:
        """The rules of the reply's text and of its calls."""
        encoder, tools = self._encoder, self._request.tools
        found: list[Constraint | None] = [self._rules.make(*self._beginning())]
        if tools:
            _, stream, _ = self._beginning()
            found.append(self._rules.for_tools(tools, encoder.way, stream, self._marks))
        rules = [one for one in found if one is not None]
        return AllRules(rules) if len(rules) > 1 else next(iter(rules), None)

    def _beginning(self) -> tuple[Sampling, TextStream, str]:
        """Sampling, stream and earlier text from which the reply's rules begin."""
        stream = self._stream()
        stream.follow(*self._fitting.start)
        return self._request.sampling, stream, self._request.reply_so_far.text

    def _remember_reply(self, rendered: str, stream: TextStream, ended: bool) -> None:
        """Have the encoder remember the reply's tokens, without those of an incomplete last
        character."""
        tokens, cut = list(self._generated), stream.incomplete
        # some calls are known only now
        self._reply.add(stream.finish(ended))
        while tokens and cut > 0:
            cut -= len(self._decoder.piece(tokens.pop()))
        self._remember_calls(rendered, tokens, stream)
        owner = self._request.owner
        stop = stream.stopped_by
        other = self._encoder.remember_reply(rendered, tokens, stop) if cut == 0 else []
        if self._tracer is not None and owner is not None:
            self._tracer.reply_tokens.keep_all(owner, other)
            self._tracer.reply_tokens.keep_long(owner, self._encoder.long_texts(rendered))

    def _remember_calls(self, rendered: str, tokens: Sequence[int], stream: TextStream) -> None:
        """Have the encoder remember a step that ended with calls as the model wrote it."""
        request, encoder = self._request, self._encoder
        if not stream.calls or not request.tools or request.reply_so_far:
            return
        calls = tuple(map(encoder.safe_call, numbered(request, stream.calls)))
        text, reasoning = encoder.guard(stream.text), encoder.guard(stream.reasoning)
        raw = encoder.as_written(tokens)
        seen = encoder.seen(self._fitting.kept, request.thinking, request.tools)
        encoder.tools.calls.keep(WrittenStep(calls, text, reasoning, raw, rendered, seen))
        if self._tracer is not None and request.owner is not None:
            keep = self._tracer.reply_tokens.keep
            keep(request.owner, call_key(calls, text), tuple(tokens))
            if self._prompt is not None:
                name, before = prompt_key(calls, text, seen), tuple(self._prompt[1])
                self._tracer.reply_tokens.keep_last(request.owner, name, before)
            if reasoning:
                thought = tuple(self._decoder.encode(stream.reasoning))
                keep(request.owner, reasoning_key(calls, text), thought)

    def _so_far(self, stream: TextStream) -> WrittenSoFar:
        """The whole reply up to now."""
        before, now = self._request.reply_so_far, stream.so_far
        return WrittenSoFar(
            before.reasoning + now.reasoning, before.text + now.text, before.closed or now.closed
        )

    def _loop(self, sampler: Sampler, speculator: Speculator, stream: TextStream) -> FinishReason:
        resident = self._resident.tokens
        # the position of the first of `emitted`
        position, emitted = len(resident), self._first(sampler)
        while True:
            for count, (token, origin) in enumerate(emitted, 1):
                finish = self._take(token, origin, stream)
                if finish is not None:
                    # the reader comes first, the bookkeeping second
                    self._flush()
                    speculator.cut(position + count)
                    return finish
            self._flush()
            if self._signal.stopped or self._signal.gives_way:
                return FinishReason.CANCELLED
            try:
                position = speculator.position
                emitted = speculator.step(emitted[-1][0], self._room())
            except ContextFull:
                if not self._make_room(stream):
                    return FinishReason.CONTEXT_FULL
                speculator.restart()
                position, emitted = len(resident), self._first(sampler)
            self._warn_when_nearly_full()

    def _first(self, sampler: Sampler) -> Emitted:
        """The first token after the prefilled ones."""
        token = sampler.draw(0, len(self._resident.tokens))
        sampler.accept((token,))
        self._reply.begin()
        return [(token, Origin.TARGET)]

    def _take(self, token: int, origin: Origin, stream: TextStream) -> FinishReason | None:
        """Add a token to the reply; returns how the reply ended, if it did."""
        if self._decoder.is_end(token):
            return FinishReason.END
        self._generated.append(token)
        self._reply.tokens += 1
        mark = self._marks.get(token)
        self._reply.add(stream.push(self._decoder.piece(token), origin, mark))
        if stream.stopped:
            return FinishReason.STOP_STRING
        limit = self._request.sampling.max_tokens
        if limit and len(self._generated) >= limit:
            return FinishReason.LENGTH
        return None

    def _room(self) -> int:
        """Number of draft tokens that still fit the longest allowed reply."""
        limit = self._request.sampling.max_tokens
        return limit - len(self._generated) - 1 if limit else self._size

    def _make_room(self, stream: TextStream) -> bool:
        """In the middle of a reply: drop older turns and prefill the shorter chat."""
        if not self._fitting.can_drop:
            return False
        self._flush(force=True)
        try:
            _, prompt = self._fitting.fit(self._so_far(stream), self._emit)
        except EnvironmentProblem:
            return False
        self._prefill(prompt)
        # the stats describe the original prompt
        TurnAccount().take_sources(self._resident)
        return True

    def _warn_when_nearly_full(self) -> None:
        used = len(self._resident.tokens)
        if self._warned or used < self._size * WARN_SHARE:
            return
        self._warned = True
        rule = "drop" if self._request.when_full == "drop_oldest" else "stop"
        said = told(f"context-nearly-full-{rule}", used=used, size=self._size)
        self._emit(Notice(NoticeKind.CONTEXT_NEARLY_FULL, said))

    def _flush(self, force: bool = False) -> None:
        since_first = self._reply.flush(force)
        now = time.perf_counter()
        if since_first is None or (now - self._last_told < SPECULATING_SECONDS and not force):
            return
        self._last_told = now
        self._tell_speculation(since_first)

    def _tell_speculation(self, seconds: float) -> None:
        speculator = self._speculator
        if speculator is not None and speculator.tally.rounds:
            self._emit(
                Speculating(
                    speculator.tally.last_depth,
                    speculator.tally.last_source,
                    len(self._generated),
                    speculator.tally.stats,
                    seconds,
                    speculator.activity,
                )
            )

    @property
    def _speculated(self) -> SpeculationStats | None:
        return None if self._speculator is None else self._speculator.tally.stats
