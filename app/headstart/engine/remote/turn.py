"""One reply from a server: request, stream of text, figures; on the remote thread's event loop.

Whatever the server does, the turn ends: each event has a time by which it must have come, and
text that came is given on before a problem is told.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING, Any

from headstart.core.events import (
    CancelToken,
    ContextUse,
    Emit,
    Finished,
    GenerationRequest,
    Notice,
    Reading,
    TextAdded,
    TextPiece,
)
from headstart.core.servers import ServerModel, parameter_names
from headstart.core.values import FinishReason, Origin, PartKind, TurnFigures
from headstart.engine.remote import problems
from headstart.engine.remote.figures import Reported
from headstart.engine.text_stream import THINK_CLOSE, THINK_OPEN, TextStream

if TYPE_CHECKING:
    from openai import AsyncOpenAI

# text goes up at most this often, as from a local turn
EMIT_SECONDS = 0.033
# the first word may take so many times the patience: the prompt is read in silence
FIRST_TIMES = 10
TRIES = 4
# these go on without saying again what they were given
_NO_ECHO = ("vllm", "sglang")
_FINISHES = {
    "stop": FinishReason.END,
    "eos": FinishReason.END,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
}


class RemoteTurn:
    """`run` is called once, on the loop that the client belongs to."""

    def __init__(
        self,
        client: AsyncOpenAI,
        model: ServerModel,
        request: GenerationRequest,
        emit: Emit,
        cancel: CancelToken,
    ) -> None:
        self._client = client
        self._model = model
        self._connection = model.connection
        self._request = request
        self._emit = emit
        self._cancel = cancel
        self._text = TextStream(request.sampling.stop, at_start=not request.reply_so_far)
        # what was sent as the beginning of the reply, and may come back in front of the rest
        self._sent = _without_reasoning(request)
        self._echo = "" if model.connection.kind in _NO_ECHO else self._sent
        self._echoed = ""
        self._waiting: list[TextPiece] = []
        self._tokens = 0
        self._started = time.perf_counter()
        self._first_at: float | None = None
        self._last_at = self._started
        self._last_emit = 0.0
        self._finish: FinishReason | None = None
        self._reported = Reported()
        self._parameters = self._chosen()
        self._with_usage = True

    async def run(self) -> None:
        """Emit the whole turn; raises EnvironmentProblem after the text that came."""
        finish = FinishReason.CANCELLED
        try:
            finish = await self._write()
        except asyncio.CancelledError:
            if not self._cancel.cancelled:
                raise
        finally:
            self._waiting.extend(self._text.finish(ended=finish is FinishReason.END))
            self._flush(force=True)
        figures = self._figures(finish)
        if self._model.context_length and figures.prompt_tokens:
            used = figures.prompt_tokens + figures.generated_tokens
            self._emit(ContextUse(used, self._model.context_length))
        self._emit(Finished(figures))

    async def _write(self) -> FinishReason:
        for attempt in range(1, TRIES + 1):
            try:
                return await self._stream()
            except problems.ServerProblem as problem:
                if problem.again is None or attempt == TRIES or self._tokens:
                    raise
                wait = problem.again * attempt
                if not wait:
                    if attempt > 1:
                        raise
                    continue
                self._emit(
                    Notice("server", f"{problem.message} Trying again in {wait:.0f} seconds.")
                )
                await asyncio.sleep(wait)
        raise AssertionError("unreachable")

    async def _stream(self) -> FinishReason:
        patience = float(self._connection.patience)
        limit = patience * FIRST_TIMES
        events = self._events()
        try:
            while True:
                try:
                    async with asyncio.timeout(limit):
                        event = await anext(events, None)
                except TimeoutError as error:
                    raise problems.silent(self._connection, limit) from error
                if event is None:
                    break
                self._take(event)
                if self._text.stopped:
                    return FinishReason.STOP_STRING
                if self._first_at is not None:
                    limit = patience
                self._flush()
        finally:
            # closing tells the server to stop writing; a server that does not hear it is left
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
            try:
                stream = await self._open()
            except openai.BadRequestError as error:
                if not self._give_way(error):
                    raise
                stream = await self._open()
            async with stream:
                kind = stream.response.headers.get("content-type", "")
                if "event-stream" not in kind:
                    yield await self._whole(stream.response, kind)
                    return
                async for chunk in stream:
                    if not isinstance(chunk, openai.BaseModel):
                        raise problems.unreadable(self._connection)
                    yield chunk.__dict__ | (chunk.model_extra or {})
        except ValueError as error:
            # JSON that is none, bytes that are no text
            raise problems.unreadable(self._connection) from error
        except openai.OpenAIError as error:
            raise problems.explain(error, self._connection, self._model.id) from error
        except OSError as error:
            raise problems.cut(self._connection) from error

    async def _open(self) -> Any:
        request = self._request
        messages = [
            {"role": message.role.value, "content": message.text} for message in request.messages
        ]
        extra: dict[str, Any] = {}
        kind = self._connection.kind
        if request.reply_so_far:
            messages.append({"role": "assistant", "content": self._sent})
            if kind in ("vllm", "sglang"):
                extra |= {"continue_final_message": True, "add_generation_prompt": False}
        if kind == "llama.cpp":
            extra["return_progress"] = True
        if self._with_usage:
            extra["stream_options"] = {"include_usage": True}
        return await self._client.chat.completions.create(
            model=self._model.id,
            messages=messages,  # type: ignore[arg-type]
            stream=True,
            extra_body=self._parameters | extra,
        )

    def _chosen(self) -> dict[str, Any]:
        """The chat's sampling by the names that this server has for it."""
        sampling, names = self._request.sampling, parameter_names(self._connection.kind)
        chosen = {names[name]: getattr(sampling, name) for name in names}
        for name in ("seed", "max_tokens", "stop", "presence_penalty"):
            if not chosen.get(name):
                chosen.pop(name, None)
        if sampling.seed == 0:
            chosen["seed"] = 0
        if chosen.get("top_k") == 0:
            # off is -1 for some, and what every server does with as many as there are
            chosen["top_k"] = -1 if self._connection.kind in ("vllm", "sglang") else 0
        if "stop" in chosen:
            chosen["stop"] = list(sampling.stop)
        return chosen

    def _give_way(self, error: Any) -> bool:
        """Leave out what the server says it does not take; False when it names nothing."""
        said = f"{getattr(error, 'param', '')} {error.message}"
        if self._with_usage and "stream_options" in said:
            self._with_usage = False
            return True
        if "max_completion_tokens" in said and "max_tokens" in self._parameters:
            self._parameters["max_completion_tokens"] = self._parameters.pop("max_tokens")
            return True
        refused = [name for name in self._parameters if name in said]
        for name in refused:
            del self._parameters[name]
        if refused:
            words = ", ".join(refused)
            self._emit(Notice("server", f"{self._model.host} does not take {words}."))
        return bool(refused)

    async def _whole(self, response: Any, kind: str) -> Mapping[str, Any]:
        """A reply that came in one piece instead of a stream."""
        body = await response.aread()
        if "json" not in kind or len(body) > 50_000_000:
            raise problems.foreign(self._connection, kind.partition(";")[0])
        answer = response.json()
        if not isinstance(answer, dict) or not isinstance(answer.get("choices"), list):
            raise problems.foreign(self._connection)
        return answer

    # --- what comes ----------------------------------------------------------------------

    def _take(self, event: Mapping[str, Any]) -> None:
        self._reported.take(_plain(event))
        progress = event.get("prompt_progress")
        if isinstance(progress, dict):
            self._show_progress(progress)
        choices = event.get("choices")
        if not isinstance(choices, list) or not choices:
            return
        choice = _fields(choices[0])
        delta = _fields(choice.get("delta") or choice.get("message"))
        reasoning = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(reasoning, str) and reasoning:
            self._count()
            self._waiting.append(TextPiece(PartKind.REASONING, reasoning, Origin.TARGET))
        content = delta.get("content") or delta.get("refusal")
        if isinstance(content, str) and content:
            self._count()
            content = self._without_echo(content)
            self._waiting.extend(self._text.push(content.encode("utf-8", "replace")))
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and finish:
            self._finish = _FINISHES.get(finish, FinishReason.END)
            if finish == "content_filter":
                self._emit(Notice("server", f"{self._model.host} left out a part of the reply."))

    def _without_echo(self, content: str) -> str:
        """New text only: some servers say again what they were given to go on from, and others
        begin anew with the same words."""
        if not self._echo:
            return content
        said = self._echoed + content
        if said.startswith(self._echo):
            self._echo, new = "", said[len(self._echo) :]
            return new
        if self._echo.startswith(said):
            self._echoed = said
            return ""
        # other words: nothing was said again
        self._echo = ""
        return said

    def _count(self) -> None:
        """Most servers send an event for each token; the right number comes at the end."""
        self._tokens += 1
        self._last_at = time.perf_counter()
        if self._first_at is None:
            self._first_at = self._last_at

    def _show_progress(self, progress: Mapping[str, Any]) -> None:
        numbers = [progress.get(name) for name in ("processed", "total", "cache")]
        done, total, cached = (value if isinstance(value, int) else 0 for value in numbers)
        if total > 0:
            self._emit(Reading(min(done, total), total, min(cached, total)))

    def _flush(self, force: bool = False) -> None:
        now = time.perf_counter()
        if not self._waiting or (not force and now - self._last_emit < EMIT_SECONDS):
            return
        pieces, self._waiting = _joined(self._waiting), []
        self._last_emit = now
        since = now - self._first_at if self._first_at is not None else 0.0
        self._emit(TextAdded(pieces, self._tokens, since))

    def _figures(self, finish: FinishReason) -> TurnFigures:
        said, first = self._reported, self._first_at
        generated = self._tokens if said.generated_tokens is None else said.generated_tokens
        prompt = said.prompt_tokens or 0
        return TurnFigures(
            finish=finish,
            prompt_tokens=prompt,
            reused_tokens=min(said.cached_tokens or 0, prompt),
            read_seconds=said.read_seconds or 0.0,
            first_token_seconds=None if first is None else first - self._started,
            generated_tokens=generated,
            generate_seconds=0.0 if first is None else self._last_at - first,
            seed=self._request.sampling.seed,
            speculation=said.speculation,
        )


def _without_reasoning(request: GenerationRequest) -> str:
    """What the server gets as the beginning of its own reply."""
    so_far = request.reply_so_far
    if not so_far.startswith(THINK_OPEN):
        return so_far
    _, closed, text = so_far.partition(THINK_CLOSE)
    return text.lstrip("\n") if closed else ""


def _fields(value: Any) -> Mapping[str, Any]:
    """The fields of a part of an event; none of something that is no such part."""
    if isinstance(value, dict):
        return value
    extra = getattr(value, "model_extra", None)
    own = getattr(value, "__dict__", None)
    return {**own, **(extra or {})} if isinstance(own, dict) else {}


def _plain(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """Figures as dictionaries: the client makes objects of those that it knows."""
    found = {}
    for name in ("usage", "timings", "stats"):
        value = event.get(name)
        dump = getattr(value, "model_dump", None)
        found[name] = dump() if dump is not None else value
    return found


def _joined(pieces: list[TextPiece]) -> tuple[TextPiece, ...]:
    result: list[TextPiece] = []
    for piece in pieces:
        if result and (result[-1].kind, result[-1].origin) == (piece.kind, piece.origin):
            piece = TextPiece(piece.kind, result.pop().text + piece.text, piece.origin)
        result.append(piece)
    return tuple(result)
