"""One reply from a server: request, stream of text, stats; on the remote thread's event loop.

The turn ends whatever the server does: each event has a timeout, and received text is passed on
before a problem is reported.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING, Any

from headstart.core.answers import AnswerTooLong
from headstart.core.chats.parts import Origin
from headstart.core.chats.values import FinishReason, TurnStats
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import (
    ContextUse,
    Emit,
    Finished,
    Notice,
    NoticeKind,
)
from headstart.core.requests import RemoteRequest
from headstart.core.told import about, told
from headstart.engine.remote import problems
from headstart.engine.remote.echoed import as_sent
from headstart.engine.remote.fields import fields_of, plain_stats, whole_reply
from headstart.engine.remote.incoming import Incoming
from headstart.engine.remote.messages import about_images, messages_of
from headstart.engine.remote.parameters import Parameters
from headstart.engine.remote.stats import Reported, prefilling_in
from headstart.engine.reply_emitter import ReplyEmitter
from headstart.engine.stop import StopSignal

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from headstart.engine.remote.draft import RemoteDrafting

# events up to the first token may take this many times the timeout: servers prefill in silence
FIRST_TIMES = 10
TRIES = 4
# seconds to wait for stats after the end of a reply
LAST_SECONDS = 5.0
# finish reasons of a broken reply
_BROKEN = ("abort", "error")
_FINISHES = {
    "stop": FinishReason.END,
    "eos": FinishReason.END,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
}


class RemoteTurn:
    """One reply; `run` is called once, on the client's event loop."""

    def __init__(
        self,
        client: AsyncOpenAI,
        request: RemoteRequest,
        emit: Emit,
        stop: StopSignal,
        drafting: RemoteDrafting | None = None,
    ) -> None:
        self._client = client
        self._drafting = drafting
        self._model = request.model
        self._connection = request.model.connection
        self._request = request
        self._emit = emit
        self._signal = stop
        # the beginning of the reply: before this turn, and as sent with the present request
        self._before = self._sent = request.reply_so_far.text
        self._incoming = Incoming(self._connection, request.sampling.stop, self._sent)
        self._text = self._incoming.text
        self.thought = False
        # whether the stream was ever left for drafts; the number of tokens when it was last opened
        self.left = False
        self._opened_with = 0
        self._started = time.perf_counter()
        self._reply = ReplyEmitter(emit)
        self._last_at = self._started
        self._finish: FinishReason | None = None
        # the server left words out
        self._left_out = False
        self._reported = Reported()
        self._parameters = Parameters(request)
        self.with_images = any(message.images for message in request.messages)

    async def run(self) -> TurnStats:
        """Emit the whole turn; raises EnvironmentProblem after the received text."""
        finish = FinishReason.CANCELLED
        try:
            finish = await self._write()
        except asyncio.CancelledError:
            if not self._signal.stopped:
                raise
        finally:
            ended = finish is FinishReason.END and not self._left_out
            self._reply.add(self._incoming.rest(ended))
            self._reply.flush(force=True)
        stats = self._stats(finish)
        read = self.prompt_tokens
        if self._model.context_length and read:
            self._emit(ContextUse(read + stats.generated_tokens, self._model.context_length))
        self._emit(Finished(stats))
        return stats

    @property
    def text(self) -> str:
        """The written text, without reasoning."""
        return self._text.text

    @property
    def _has_come(self) -> bool:
        """True if the last opened stream has brought any text."""
        return self._reply.tokens > self._opened_with

    @property
    def _as_text(self) -> bool:
        """True if the reply is continued as plain text, not as a chat."""
        return bool(self._sent) and self._drafting is not None and self._drafting.goes_on_as_text

    @property
    def reasoned(self) -> bool:
        return self.thought or bool(self._text.reasoning)

    @property
    def prompt_tokens(self) -> int | None:
        """The server's reported prompt tokens, if any."""
        if self._drafting is not None and self.left:
            # a resumed stream counts the reply so far as prompt
            return self._drafting.prompt_tokens
        return self._reported.prompt_tokens

    async def _write(self) -> FinishReason:
        for attempt in range(1, TRIES + 1):
            try:
                return await self._go_on()
            except problems.ServerProblem as problem:
                if problem.again is None or attempt == TRIES or self._has_come:
                    raise
                wait = problem.again * attempt
                if not wait:
                    if attempt > 1:
                        raise
                    continue
                retry = about("server-retry", problem.told, seconds=math.ceil(wait))
                self._emit(Notice(NoticeKind.SERVER, retry))
                await asyncio.sleep(wait)
        raise AssertionError("unreachable")

    async def _go_on(self) -> FinishReason:
        """Run the stream, and rounds of drafts whenever it is left for them."""
        while True:
            self._opened_with = self._reply.tokens
            finish = await self._stream()
            if finish is not None:
                return finish
            assert self._drafting is not None
            self.left = True
            finish = await self._drafting.rounds(self._written, self._take_text)
            self._reply.flush()
            if finish is not None:
                return finish
            self._sent = self._written
            self._incoming.begin_again("" if self._as_text else self._sent)

    async def _stream(self) -> FinishReason | None:
        """Run the stream to its end; None: it was left for drafts."""
        timeout = float(self._connection.timeout)
        limit = timeout * FIRST_TIMES
        events = self._events()
        try:
            while True:
                try:
                    async with asyncio.timeout(limit):
                        event = await anext(events, None)
                except TimeoutError as error:
                    if self._finish is not None:
                        break
                    raise problems.silent(self._connection, limit) from error
                except problems.ServerProblem:
                    if self._finish is not None:
                        # the reply is complete; only stats are missing
                        break
                    raise
                if event is None:
                    break
                self._take(event)
                if self._text.stopped:
                    return FinishReason.STOP_STRING
                if self._finish is not None:
                    limit = min(timeout, LAST_SECONDS)
                elif self._reply.first_at is not None:
                    limit = timeout
                self._reply.flush()
                if self._is_left():
                    return None
        finally:
            # closing tells the server to stop writing; one that does not react is abandoned
            try:
                async with asyncio.timeout(1.0):
                    await events.aclose()
            except TimeoutError:
                pass
        if self._finish is None:
            raise problems.cut(self._connection)
        return self._finish

    async def _events(self) -> AsyncGenerator[Mapping[str, Any], None]:
        """The events of the stream as plain dictionaries; raises EnvironmentProblem."""
        import openai

        try:
            stream = await self._open_as_taken()
            async with stream:
                kind = stream.response.headers.get("content-type", "")
                if "event-stream" not in kind:
                    yield await whole_reply(stream.response, kind, self._connection)
                    return
                async for chunk in stream:
                    if not isinstance(chunk, openai.BaseModel):
                        raise problems.unreadable(self._connection)
                    yield fields_of(chunk)
        except EnvironmentProblem:
            raise
        except AnswerTooLong as error:
            raise problems.too_long(self._connection) from error
        except (ValueError, RecursionError) as error:
            # invalid JSON, or bytes that are not text
            raise problems.unreadable(self._connection) from error
        except OSError as error:
            raise problems.cut(self._connection) from error
        except Exception as error:
            # whatever the client and the layers below raise, the server caused it
            secret = self._client.api_key
            raise problems.explain(error, self._connection, self._model.id, secret) from error

    async def _open_as_taken(self) -> Any:
        """Open the stream, dropping the parameters that the server refuses."""
        import openai

        while True:
            try:
                return await self._open()
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                # each attempt drops something, until nothing is left to drop
                if not self._gives_way(error) and not self._without_images(error):
                    raise
            except (openai.NotFoundError, openai.InternalServerError) as error:
                if not self._without_images(error):
                    raise

    async def _open(self) -> Any:
        request = self._request
        if self._drafting is not None and self._as_text:
            return await self._drafting.open_text(
                self._sent, self._parameters.left(self._reply.tokens)
            )
        messages = messages_of(request.messages, self.with_images)
        extra: dict[str, Any] = {}
        kind = self._connection.kind
        if self._sent:
            sent = as_sent(self._connection, self._sent)
            messages.append({"role": "assistant", "content": sent})
            if kind in ("vllm", "sglang"):
                extra |= {"continue_final_message": True, "add_generation_prompt": False}
        if kind == "llama.cpp":
            extra["return_progress"] = True
        if self._parameters.with_usage:
            extra["stream_options"] = {"include_usage": True}
        return await self._client.chat.completions.create(
            model=self._model.id,
            messages=messages,  # type: ignore[arg-type]
            stream=True,
            extra_body=self._parameters.left(self._reply.tokens) | extra,
        )

    def _gives_way(self, error: Any) -> bool:
        """Drop the settings that the server refuses; False if it names none."""
        refused = self._parameters.give_way(error)
        if refused:
            less = told("server-takes-less", host=self._model.host, settings=", ".join(refused))
            self._emit(Notice(NoticeKind.SERVER, less))
        return refused is not None

    def _without_images(self, error: Any) -> bool:
        """Drop images if the server says that its model has no vision; True if so."""
        if not self.with_images or not about_images(f"{error.message} {error.body}"):
            return False
        self.with_images = False
        if self._drafting is not None:
            self._drafting.off = True
        self._emit(Notice(NoticeKind.IMAGES, told("images-refused", name=self._model.name)))
        return True

    def _take(self, event: Mapping[str, Any]) -> None:
        self._incoming.event()
        self._reported.take(plain_stats(event))
        if (progress := prefilling_in(event)) is not None:
            self._emit(progress)
        choices = event.get("choices")
        if not isinstance(choices, list) or not choices:
            return
        choice = fields_of(choices[0])
        delta = fields_of(choice.get("delta") or choice.get("message"))
        reasoning = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(reasoning, str) and reasoning:
            self._count()
            self.thought = True
            self._reply.add(self._incoming.reasoning(reasoning))
        content = delta.get("content") or delta.get("refusal") or choice.get("text")
        if isinstance(content, str) and content:
            self._count()
            if self._drafting is not None:
                self._drafting.streamed(len(content))
            self._reply.add(self._incoming.content(content))
        if called := self._incoming.called(delta):
            self._count()
            self._reply.add(called)
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and finish:
            if finish in _BROKEN:
                raise problems.cut(self._connection)
            self._finish = _FINISHES.get(finish, FinishReason.END)
            if finish == "content_filter":
                self._left_out = True
                less = told("server-left-out", host=self._model.host)
                self._emit(Notice(NoticeKind.SERVER, less))

    @property
    def _written(self) -> str:
        """The whole reply, with the text from before this turn."""
        return self._before + self._text.so_far.text

    def _is_left(self) -> bool:
        """True if the stream should be left for drafts now."""
        return (
            self._drafting is not None
            and self._drafting.may_want
            and self._finish is None
            and not self.thought
            and not self._text.reasoning
            and self._text.all_shown
            and self._drafting.wants(self._written)
        )

    def _take_text(self, text: str, origin: Origin, tokens: int) -> FinishReason | None:
        """Show confirmed text; returns the finish reason if the reply ended with it."""
        self._reply.tokens += tokens
        self._last_at = time.perf_counter()
        self._reply.add(self._incoming.drafted(text, origin))
        self._reply.flush()
        if self._text.stopped:
            return FinishReason.STOP_STRING
        limit = self._request.sampling.max_tokens
        return FinishReason.LENGTH if limit and self._reply.tokens >= limit else None

    def _count(self) -> None:
        """Count an event as a token, as most servers send one per token; the exact number comes at
        the end."""
        self._reply.tokens += 1
        self._reply.begin()
        self._last_at = time.perf_counter()

    def _stats(self, finish: FinishReason) -> TurnStats:
        said, first = self._reported, self._reply.first_at
        generated = self._reply.tokens if said.generated_tokens is None else said.generated_tokens
        if said.hidden_tokens and not self.thought:
            # hidden reasoning before the first word: not part of the speed of the visible text
            generated = max(self._reply.tokens, generated - said.hidden_tokens)
        # reuse is unknown for a server that does not report its cache
        prompt = 0 if said.cached_tokens is None else self.prompt_tokens or 0
        seconds = 0.0 if first is None else self._last_at - first
        speculation = said.speculation
        if self._drafting is not None:
            if self.left:
                # each request reported only its own part
                generated = self._reply.tokens
            speculation = self._drafting.final_stats(generated) or speculation
        if self._reply.tokens <= 1 and said.generate_seconds is not None:
            seconds = said.generate_seconds
        return TurnStats(
            finish=finish,
            prompt_tokens=prompt,
            reused_tokens=min(said.cached_tokens or 0, prompt),
            prefill_seconds=said.prefill_seconds or 0.0,
            first_token_seconds=self._reply.first_token_seconds,
            reasoning_seconds=self._reply.reasoning_seconds,
            generated_tokens=generated,
            generate_seconds=seconds,
            seed=self._request.sampling.seed,
            speculation=speculation,
        )
