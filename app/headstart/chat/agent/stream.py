"""A reply of several steps as one stream: the model calls tools, they run, it goes on.

On the event loop's thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from headstart.chat.agent.permissions import Permissions
from headstart.chat.agent.toolbox import Toolbox, ToolOutcome
from headstart.chat.reply import ReplyStream
from headstart.chat.reply_parts import parts_of
from headstart.chat.requests import Asked
from headstart.core.chats.parts import Part, PartKind, ToolCallPart, joined
from headstart.core.chats.values import FinishReason, TurnStats
from headstart.core.events import (
    CallStep,
    Finished,
    GenerationEvent,
    Notice,
    NoticeKind,
    TextAdded,
    TextPiece,
    ToolAsked,
    ToolDone,
    ToolStarted,
)
from headstart.core.told import told

log = logging.getLogger(__name__)

# steps of a reply before the user is asked to go on
MOST_STEPS = 10
T = TypeVar("T")

# to the model
DENIED = "The user denied this call."
STOPPED = "The user stopped this call."


class AgentStream:
    """A `ReplyStream`. `again` asks the same model once more, with the parts so far."""

    def __init__(
        self,
        asked: Asked,
        first: ReplyStream,
        again: Callable[[Asked], Awaitable[ReplyStream]],
        toolbox: Toolbox,
        permissions: Permissions,
    ) -> None:
        self._asked = asked
        self._stream = first
        self._again = again
        self._toolbox = toolbox
        self._permissions = permissions
        self._events: list[TextPiece | ToolDone] = []
        # numbers go on after the calls that the reply had before
        self._base = sum(isinstance(part, ToolCallPart) for part in asked.written)
        self._running: asyncio.Future[Any] | None = None
        self._cancelled = False

    def cancel(self) -> None:
        self._cancelled = True
        self._stream.cancel()
        if self._running is not None:
            self._running.cancel()

    @property
    def _parts(self) -> tuple[Part, ...]:
        return joined([*self._asked.written, *parts_of(self._events, self._asked.reply_id)])

    async def __aiter__(self) -> AsyncIterator[GenerationEvent]:
        done: list[TurnStats] = []
        for step in range(1, MOST_STEPS + 1):
            calls: list[TextPiece] = []
            async for event in self._stream:
                if isinstance(event, Finished):
                    done.append(event.stats)
                    continue
                if isinstance(event, TextAdded):
                    event = self._numbered(event)
                    self._events += event.pieces
                    calls += [one for one in event.pieces if _is_call(one)]
                yield event
            if len(done) < step:
                # it failed, and said so
                return
            ended = done[-1].finish in (FinishReason.END, FinishReason.STOP_STRING)
            if not calls or not ended or self._cancelled:
                break
            self._base += len(calls)
            for call in calls:
                async for event in self._run(call):
                    yield event
            if self._cancelled:
                done[-1] = replace(done[-1], finish=FinishReason.CANCELLED)
                break
            if step == MOST_STEPS:
                yield Notice(NoticeKind.TOOLS, told("tool-steps", steps=MOST_STEPS))
                done[-1] = replace(done[-1], finish=FinishReason.CANCELLED)
                break
            self._stream = await self._again(replace(self._asked, written=self._parts))
        yield Finished(_together(done))

    def _numbered(self, event: TextAdded) -> TextAdded:
        """The event with calls numbered through all steps."""
        pieces = tuple(
            replace(one, call=one.call + self._base) if one.kind is PartKind.TOOL_CALL else one
            for one in event.pieces
        )
        return replace(event, pieces=pieces)

    async def _run(self, call: TextPiece) -> AsyncIterator[GenerationEvent]:
        """Ask the user, run the tool; whatever happens, the call gets a result."""
        chat_id, name = self._asked.chat.id, call.name
        if not self._permissions.given(chat_id, name):
            yield ToolAsked(call.call, name, call.text)
        allowed = await self._wait(self._permissions.ask(chat_id, name, call.call))
        outcome: ToolOutcome | None = ToolOutcome(DENIED, failed=True)
        if allowed:
            yield ToolStarted(call.call, name)
            outcome = await self._wait(self._outcome(call))
        if outcome is None or self._cancelled:
            outcome = ToolOutcome(STOPPED, failed=True)
        done = ToolDone(call.call, name, outcome.text, outcome.failed)
        self._events.append(done)
        yield done

    async def _outcome(self, call: TextPiece) -> ToolOutcome:
        try:
            return await self._toolbox.run(call.name, call.text, self._asked.branch)
        except Exception as error:
            # our fault, or a full disk: the reply goes on without
            log.exception("a tool failed")
            return ToolOutcome(f"The tool failed: {type(error).__name__}", failed=True)

    async def _wait(self, work: Coroutine[Any, Any, T]) -> T | None:
        """The result of something that `cancel` ends; None then."""
        if self._cancelled:
            work.close()
            return None
        task = self._running = asyncio.ensure_future(work)
        try:
            done: T = await task
        except asyncio.CancelledError:
            if not self._cancelled:
                raise
            return None
        finally:
            self._running = None
        return done


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
