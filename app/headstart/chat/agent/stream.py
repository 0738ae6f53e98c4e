"""A reply of several steps as one stream: the model calls tools, they run, it goes on.

On the event loop's thread.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from typing import Any, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from headstart.chat.agent.permissions import Permissions, ToolKey
from headstart.chat.agent.running import RunningCalls
from headstart.chat.agent.shortening import Shortening
from headstart.chat.agent.toolbox import Caller, Toolbox, ToolOutcome
from headstart.chat.reply import ReplyStream
from headstart.chat.reply_parts import parts_of
from headstart.chat.requests import Asked
from headstart.chat.tool_servers.lending import Lending, LentCall
from headstart.core.chats.parts import (
    CallEnd,
    FilePart,
    ImagePart,
    Part,
    PartKind,
    ToolCallPart,
    joined,
)
from headstart.core.chats.values import FinishReason, TurnStats
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import (
    CallStep,
    ContextUse,
    Failed,
    Finished,
    GenerationEvent,
    Notice,
    NoticeKind,
    TextAdded,
    TextPiece,
    ToolAsked,
    ToolDone,
    ToolProgressed,
    ToolsStarting,
    ToolStarted,
)
from headstart.core.text.whole import whole as entire
from headstart.core.told import about, told
from headstart.tools.wire import CallProgressed

log = logging.getLogger(__name__)

# steps of a reply, and seconds without those that the user took, before the user is asked to go on
MOST_STEPS, MOST_SECONDS = 10, 1_800.0
# seconds of one call
CALL_SECONDS = 300.0
# tokens of a result where the room in the context is not known, and its share where it is
USUAL_TOKENS, SHARE = 2_000, 4
_COUNTED = (CallStep.WHOLE, CallStep.CUT)
T = TypeVar("T")

# to the model
DENIED = "The user denied this call."
STOPPED = "The user stopped this call."
ENDLESS = "The tool did not end within {seconds:.0f} seconds."


class AskedModel(Protocol):
    """The model that writes the reply."""

    async def answer(self, asked: Asked) -> ReplyStream:
        """Ask it once more, with the parts so far."""
        ...

    async def count(self, texts: Sequence[str]) -> Sequence[int] | None:
        """Tokens of texts; None where it cannot count."""
        ...

    @property
    def key(self) -> str:
        """The key of the model."""
        ...


class ToolDesk(Struct, frozen=True):
    """All that carries out calls."""

    toolbox: Toolbox
    lending: Lending
    permissions: Permissions
    running: RunningCalls
    shortening: Shortening
    clock: Callable[[], float] = time.monotonic


class AgentStream:
    """A `ReplyStream`."""

    def __init__(
        self,
        asked: Asked,
        first: ReplyStream | None,
        model: AskedModel,
        desk: ToolDesk,
        missing: Sequence[str] = (),
    ) -> None:
        """`first`: the model's first answer, None where tool servers `missing` must start before it
        can be asked."""
        self._asked = asked
        self._missing = missing
        self._stream = first
        self._model = model
        self._desk = desk
        self._began = desk.clock()
        # tokens left in the context, if known
        self._room: int | None = None
        self._events: list[TextPiece | ToolDone] = []
        # numbers go on after the calls that the reply had before
        self._base = sum(isinstance(part, ToolCallPart) for part in asked.written)
        self._running: asyncio.Future[Any] | None = None
        self._cancelled = False

    def cancel(self) -> None:
        self._cancelled = True
        if self._stream is not None:
            self._stream.cancel()
        if self._running is not None:
            self._running.cancel()

    @property
    def _parts(self) -> tuple[Part, ...]:
        return joined([*self._asked.written, *parts_of(self._events, self._asked.reply_id)])

    async def __aiter__(self) -> AsyncIterator[GenerationEvent]:
        done: list[TurnStats] = []
        if self._stream is None:
            async for event in self._begin():
                yield event
        if self._stream is None:
            return
        for step in range(1, MOST_STEPS + 1):
            calls: list[TextPiece] = []
            numbers = [self._base]
            async for event in self._stream:
                if isinstance(event, Finished):
                    done.append(event.stats)
                    continue
                if isinstance(event, TextAdded):
                    event = self._numbered(event)
                    self._events += event.pieces
                    calls += [one for one in event.pieces if _is_call(one)]
                    numbers += [one.call for one in event.pieces if one.step in _COUNTED]
                elif isinstance(event, ContextUse):
                    self._room = event.size - event.used
                yield event
            # a call that was cut has a number, one that was withdrawn has none
            self._base = max(numbers)
            if len(done) < step:
                # it failed, and said so
                return
            ended = done[-1].finish in (FinishReason.END, FinishReason.STOP_STRING)
            if not calls or not ended or self._cancelled:
                break
            for call in calls:
                async for event in self._run(call):
                    yield event
            if self._cancelled:
                done[-1] = replace(done[-1], finish=FinishReason.CANCELLED)
                break
            notice = self._enough(step)
            if notice is not None:
                yield notice
                done[-1] = replace(done[-1], finish=FinishReason.CANCELLED)
                break
            self._stream = await self._model.answer(replace(self._asked, written=self._parts))
            if self._cancelled:
                # meanwhile
                self._stream.cancel()
        yield Finished(_together(done))

    async def _begin(self) -> AsyncIterator[GenerationEvent]:
        """Wait for servers that start for the first time, then ask the model. A server that does
        not start is told of, and left out."""
        lending, chat = self._desk.lending, self._asked.chat
        yield ToolsStarting(tuple(lending.name_of(one) for one in self._missing))
        waits = asyncio.gather(
            *(lending.ready(one) for one in self._missing), return_exceptions=True
        )
        for found in await self._wait(_all_of(waits)) or ():
            if isinstance(found, EnvironmentProblem):
                yield Notice(NoticeKind.TOOLS, about("tool-server-left-out", found.told))
        lent = await lending.specs(chat, self._model.key)
        self._asked = replace(self._asked, lent=lent)
        try:
            self._stream = await self._model.answer(self._asked)
        except EnvironmentProblem as problem:
            yield Failed(problem.told)
            return
        if self._cancelled:
            # meanwhile
            self._stream.cancel()

    def _enough(self, step: int) -> Notice | None:
        """The question to go on, after many steps or a long time."""
        seconds = self._desk.clock() - self._began
        if step == MOST_STEPS:
            return Notice(NoticeKind.TOOLS, told("tool-steps", steps=MOST_STEPS))
        if seconds > MOST_SECONDS:
            return Notice(NoticeKind.TOOLS, told("tool-time", minutes=round(seconds / 60)))
        return None

    def _numbered(self, event: TextAdded) -> TextAdded:
        """The event with calls numbered through all steps."""
        pieces = tuple(
            replace(one, call=one.call + self._base) if one.kind is PartKind.TOOL_CALL else one
            for one in event.pieces
        )
        return replace(event, pieces=pieces)

    async def _run(self, call: TextPiece) -> AsyncIterator[GenerationEvent]:
        """Ask the user, run the tool; whatever happens, the call gets a result."""
        chat, name, desk = self._asked.chat, call.name, self._desk
        lent = await self._wait(desk.lending.prepare(chat, self._model.key, name, call.text))
        key = ToolKey(name) if lent is None else lent.key
        asked_at = desk.clock()
        allowed: bool | None = True
        if key is not None:
            if not desk.permissions.given(chat.id, key):
                desk.permissions.expect(chat.id, key, call.call)
                ground = None if lent is None else lent.ground
                yield ToolAsked(call.call, name, call.text, ground)
            allowed = await self._wait(desk.permissions.ask(chat.id, key, call.call))
        # the user's time is not the loop's
        self._began += desk.clock() - asked_at
        if allowed and lent is not None:
            desk.lending.allowed(lent)
        outcome, end = ToolOutcome(DENIED, failed=True), CallEnd.DENIED
        seconds = 0.0
        if allowed and not self._cancelled:
            yield ToolStarted(call.call, name)
            began = desk.clock()
            found: ToolOutcome | None = None
            async for event in self._stoppable(call, lent):
                if isinstance(event, ToolProgressed):
                    yield event
                else:
                    found = event
            seconds = desk.clock() - began
            outcome = found or ToolOutcome(STOPPED, failed=True)
            end = CallEnd.STOPPED if found is None else CallEnd.RETURNED
        elif allowed is None or self._cancelled:
            outcome, end = ToolOutcome(STOPPED, failed=True), CallEnd.STOPPED
        text, whole = outcome.text, outcome.whole
        if self._room is not None:
            # other results of this step need room, too
            self._room -= self._room // SHARE if whole is not None else len(text) // SHARE
        done = ToolDone(
            call.call, name, text, outcome.failed, end, seconds, whole, outcome.source, outcome.more
        )
        self._events.append(done)
        yield done

    @property
    def _most(self) -> int:
        """Tokens of the next result."""
        return USUAL_TOKENS if self._room is None else max(0, self._room) // SHARE

    async def _stoppable(
        self, call: TextPiece, lent: LentCall | None
    ) -> AsyncIterator[ToolProgressed | ToolOutcome]:
        """The progress of a call and its outcome; no outcome if the user stopped it."""
        chat_id, running = self._asked.chat.id, self._desk.running
        stopped = False
        told: asyncio.Queue[ToolProgressed | None] = asyncio.Queue()

        def stop() -> None:
            nonlocal stopped
            stopped = True
            if self._running is not None:
                self._running.cancel()

        running.begin(chat_id, call.call, stop)
        work = asyncio.ensure_future(
            self._wait(self._outcome(call, lent, told.put_nowait), lambda: stopped)
        )
        work.add_done_callback(lambda _work: told.put_nowait(None))
        try:
            while (progress := await told.get()) is not None:
                yield progress
            outcome = await work
            if outcome is not None:
                yield outcome
        finally:
            running.end(chat_id, call.call)
            work.cancel()

    @property
    def _caller(self) -> Caller:
        return Caller(self._asked.chat, self._model.key, self._asked.branch)

    async def _outcome(
        self, call: TextPiece, lent: LentCall | None, tell: Callable[[ToolProgressed], None]
    ) -> ToolOutcome:
        def progressed(news: CallProgressed) -> None:
            tell(ToolProgressed(call.call, news.done, news.total, news.message))

        desk, chat_id = self._desk, self._asked.chat.id
        try:
            async with asyncio.timeout(CALL_SECONDS):
                if lent is None:
                    outcome = await desk.toolbox.run(call.name, call.text, self._caller)
                    outcome = replace(outcome, text=entire(outcome.text))
                else:
                    outcome = await desk.lending.run(chat_id, lent, progressed)
                text, whole = await desk.shortening.fit(
                    chat_id, outcome.text, self._most, self._model.count
                )
                more = [await self._fitted(part) for part in outcome.more]
                return replace(outcome, text=text, whole=whole, more=tuple(more))
        except TimeoutError:
            return ToolOutcome(ENDLESS.format(seconds=CALL_SECONDS), failed=True)
        except EnvironmentProblem as problem:
            # a full disk: the reply goes on without
            return ToolOutcome(f"The tool failed: {problem.told.message}", failed=True)
        except Exception as error:
            # our fault: the reply goes on without
            log.exception("a tool failed")
            return ToolOutcome(f"The tool failed: {type(error).__name__}", failed=True)

    async def _fitted(self, part: FilePart | ImagePart) -> FilePart | ImagePart:
        """A file of a result, its text cut to the same room; all of it stays in the file."""
        if isinstance(part, ImagePart):
            return part
        fit = self._desk.shortening.fit
        text, _whole = await fit(self._asked.chat.id, part.text, self._most, self._model.count)
        return replace(part, text=text)

    async def _wait(
        self, work: Coroutine[Any, Any, T], stopped: Callable[[], bool] = lambda: False
    ) -> T | None:
        """The result of something that `cancel` ends, or the user where `stopped`; None then."""
        if self._cancelled:
            work.close()
            return None
        task = self._running = asyncio.ensure_future(work)
        try:
            done: T = await task
        except asyncio.CancelledError:
            if not (self._cancelled or stopped()):
                raise
            return None
        finally:
            self._running = None
        return done


async def _all_of(waits: Awaitable[list[T]]) -> list[T]:
    return await waits


def _is_call(piece: TextPiece) -> bool:
    return piece.kind is PartKind.TOOL_CALL and piece.step is CallStep.WHOLE


def _together(steps: Sequence[TurnStats]) -> TurnStats:
    """The stats of all steps: the last prompt, all that was written."""
    last = steps[-1]
    if len(steps) == 1:
        return last
    return replace(
        last,
        generated_tokens=sum(one.generated_tokens for one in steps),
        generate_seconds=sum(one.generate_seconds for one in steps),
        prefill_seconds=sum(one.prefill_seconds for one in steps),
        first_token_seconds=steps[0].first_token_seconds,
    )
