"""One answer: the engine's events become bytes of a dialect, as they come. The server's thread.

A program that hangs up ends its request within a token. Until the engine has something to say, the
program gets a sign of life every few seconds, because programs give up after five minutes.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from headstart.chat.serving.admission import Admitted
from headstart.chat.serving.office import Office
from headstart.core.chats.parts import PartKind
from headstart.core.chats.values import FinishReason
from headstart.core.events import (
    Failed,
    Finished,
    GenerationEvent,
    Loading,
    Prefilling,
    TextAdded,
    TextPiece,
    Waiting,
)
from headstart.core.serving.line import LineState
from headstart.core.serving.reasons import without_words
from headstart.core.told import Told
from headstart.server.dialects.declined import Declined, too_long
from headstart.server.dialects.reply import AnswerWriter, Ended

log = logging.getLogger(__name__)

# a request that is refused within these seconds gets a status of its own; later ones are refused
# in the stream, whose headers are out
FIRST_SECONDS = 0.9
# the same for an answer that is no stream
WHOLE_SECONDS = 20.0
# between two signs of life; programs wait 10 s for the first byte and 300 s between two
ALIVE_SECONDS = 5.0
_TOO_LONG = ("chat-too-long", "message-too-long", "system-prompt-too-long", "reply-too-long")
_REFUSED = (
    "template-refuses",
    "format-not-possible",
    "format-is-no-json",
    "format-is-no-schema",
    "format-too-large",
    "images-not-seen",
    "text-too-long",
    "no-embedding-model",
)
# installed, and unable to do what is asked
_NOT_THIS_MODEL = ("cannot-run", "model-makes-no-vectors", "no-chat-model")
# the model for programs cannot answer until the user chooses another one
_NO_MODEL = ("model-gone", "model-missing", "no-model-yet", "server-model-not-served")
_SSE = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}


# not a status after which programs send a request again
STOPPED = Declined("The user stopped this request in Headstart.", code="stopped")


class Gone(Exception):
    """The program hung up."""


class Run:
    """The events of one request, with its line in the list."""

    def __init__(self, admitted: Admitted, office: Office, program: str) -> None:
        self._admitted = admitted
        self._office = office
        self._stream = admitted.begin()
        self.stopped = False
        self._line = office.log.begin(program, admitted.model, self._stop)
        self._events = self._stream.__aiter__()
        self._next: asyncio.Task[GenerationEvent] | None = None
        self.done, self.total, self.reused = 0, 0, 0
        self.reasoning_tokens = 0
        self._tokens = 0
        self._ended = False

    def _stop(self) -> None:
        """From any thread: the user stops the request."""
        self.stopped = True
        self._stream.cancel()

    def hang_up(self) -> None:
        """The program is gone."""
        self._stream.cancel()
        self._end(LineState.GONE)

    async def next(self, seconds: float) -> GenerationEvent | None:
        """The next event, or None after so many seconds without one."""
        if self._next is None:
            self._next = asyncio.ensure_future(anext(self._events))
        done, _ = await asyncio.wait((self._next,), timeout=seconds)
        if not done:
            return None
        task, self._next = self._next, None
        event = _quiet(task.result())
        self._note(event)
        return event

    def _note(self, event: GenerationEvent) -> None:
        self._admitted.follow(event)
        change = functools.partial(self._office.log.change, self._line)
        match event:
            case Waiting():
                change(state=LineState.PAUSED if self._tokens or self.total else LineState.WAITING)
            case Loading():
                change(state=LineState.LOADING)
            case Prefilling():
                self.done, self.total, self.reused = event.done, event.total, event.reused
                change(state=LineState.PROCESSING, prompt=event.total, done=event.done)
            case TextAdded():
                if all(piece.kind is PartKind.REASONING for piece in event.pieces):
                    self.reasoning_tokens += event.tokens - self._tokens
                self._tokens = event.tokens
                speed = event.tokens / event.seconds if event.seconds > 0 else None
                change(state=LineState.WRITING, written=event.tokens, speed=speed)
            case Finished():
                self._finish(event)
            case Failed():
                self._end(LineState.FAILED, why=event.told)

    def _finish(self, event: Finished) -> None:
        stats = event.stats
        speculation = stats.speculation
        state = LineState.DONE
        if stats.finish is FinishReason.CANCELLED:
            state = LineState.STOPPED if self.stopped else LineState.GONE
        self._end(
            state,
            prompt=stats.prompt_tokens,
            done=stats.prompt_tokens,
            reused=stats.reused_tokens,
            from_memory=stats.prefix.from_memory,
            from_disk=stats.prefix.from_disk,
            recomputed=stats.prefix.recomputed,
            written=stats.generated_tokens,
            prefill_seconds=stats.prefill_seconds,
            first_seconds=stats.first_token_seconds,
            speed=stats.tokens_per_second,
            verified=0 if speculation is None else speculation.verified,
            accepted=0 if speculation is None else speculation.accepted,
            why=stats.prefix.reason,
        )

    def _end(self, state: LineState, **changes: Any) -> None:
        if not self._ended:
            self._ended = True
            self._office.log.end(self._line, state=state, **changes)

    def close(self) -> None:
        """However it ended: the engine is free."""
        self._stream.cancel()
        if self._next is not None:
            self._next.cancel()
        self._end(LineState.GONE)
        self._office.ended(self._admitted)


def _quiet(event: GenerationEvent) -> GenerationEvent:
    """The end of a reply without words of its prompt."""
    if not isinstance(event, Finished):
        return event
    stats = event.stats
    prefix = replace(stats.prefix, reason=without_words(stats.prefix.reason))
    return replace(event, stats=replace(stats, prefix=prefix))


class Outgoing(Struct, frozen=True):
    """An answer that may be sent: a status, headers, and bytes as they come."""

    status: int
    headers: Mapping[str, str]
    parts: AsyncIterator[bytes]


def refusal(told: Told) -> Declined:
    """A problem of the engine, for a program."""
    facts = told.facts
    if told.code in _TOO_LONG:
        size = int(facts.get("size", 0))
        return too_long(int(facts.get("tokens", size)), size - size // 8, size)
    if told.code in _REFUSED:
        return Declined(told.text)
    if told.code == "model-not-offered":
        return Declined(told.text, status=404, code="model_not_found", param="model")
    if told.code in _NOT_THIS_MODEL:
        return Declined(told.text, param="model")
    if told.code in _NO_MODEL:
        return Declined(told.text, status=503)
    return Declined(told.text, status=500)


async def answer(run: Run, writer: AnswerWriter, streams: bool) -> Outgoing:
    """Wait a moment for a refusal, then begin the answer; raises Declined."""
    kept: list[GenerationEvent] = []
    until = time.monotonic() + (FIRST_SECONDS if streams else WHOLE_SECONDS)
    while (left := until - time.monotonic()) > 0:
        event = await run.next(left)
        if event is None:
            break
        if isinstance(event, Failed):
            raise refusal(event.told)
        kept.append(event)
        # the prompt fits, or the answer is there
        if isinstance(event, Finished) or (streams and isinstance(event, Prefilling | TextAdded)):
            if run.stopped:
                raise STOPPED
            break
    if streams:
        return Outgoing(200, _SSE, _streamed(run, writer, kept))
    return Outgoing(200, {"content-type": "application/json"}, _whole(run, writer, kept))


async def _events(run: Run, kept: list[GenerationEvent]) -> AsyncIterator[GenerationEvent | None]:
    """The events, with None after each silence; ends with the last one."""
    spoke = time.monotonic()
    for known in kept:
        yield known
        if isinstance(known, Finished | Failed):
            return
    while True:
        event = await run.next(max(0.0, spoke + ALIVE_SECONDS - time.monotonic()))
        if event is None or isinstance(event, TextAdded):
            spoke = time.monotonic()
        yield event
        if isinstance(event, Finished | Failed):
            return


async def _streamed(
    run: Run, writer: AnswerWriter, kept: list[GenerationEvent]
) -> AsyncIterator[bytes]:
    yield writer.begin(run.total, run.reused)
    async for event in _events(run, kept):
        if event is None:
            yield writer.alive(run.done, run.total)
        elif isinstance(event, TextAdded):
            data = writer.take(event.pieces)
            if data:
                yield data
        elif isinstance(event, Failed):
            yield writer.fail(refusal(event.told))
        elif isinstance(event, Finished):
            yield writer.fail(STOPPED) if run.stopped else writer.end(_ended(run, event))


async def _whole(
    run: Run, writer: AnswerWriter, kept: list[GenerationEvent]
) -> AsyncIterator[bytes]:
    """A body in one piece. Spaces before it are signs of life, which JSON permits."""
    pieces: list[TextPiece] = []
    async for event in _events(run, kept):
        if event is None:
            yield b" "
        elif isinstance(event, TextAdded):
            pieces += event.pieces
        elif isinstance(event, Failed) or run.stopped:
            # the status is out: a body that breaks off is the only way to say so
            raise Gone
        elif isinstance(event, Finished):
            body = writer.whole(pieces, _ended(run, event))
            yield json.dumps(body, ensure_ascii=True).encode()


def _ended(run: Run, event: Finished) -> Ended:
    return Ended(event.stats, run.reasoning_tokens, event.stop or None)


async def until_gone(receive: Callable[[], Any]) -> None:
    """Wait until the program hangs up."""
    with contextlib.suppress(Exception):
        while (await receive())["type"] != "http.disconnect":
            pass
