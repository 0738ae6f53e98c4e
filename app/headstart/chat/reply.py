"""A reply while it is written: collects its text from events, and journals it at least once a
second.

One instance per turn, on the event loop's thread; storage calls go to the storage thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Protocol

from msgspec import Struct

from headstart.chat.reply_parts import parts_of
from headstart.core.chats.left_out import is_left_out, with_left_out
from headstart.core.chats.parts import LeftOutPart, Part, joined
from headstart.core.chats.values import FinishReason, Message, MessageStatus, TurnStats
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import (
    Failed,
    Finished,
    GenerationEvent,
    Notice,
    TextAdded,
    TextPiece,
    ToolDone,
)
from headstart.storage.worker import Storage

log = logging.getLogger(__name__)

# seconds before each retry, for a busy or briefly full disk
STORE_AGAIN = (0.2, 1.0)
# leaves room for a delayed write on a busy machine: at most a second of text is lost
JOURNAL_SECONDS = 0.6

_STATUS = {
    FinishReason.END: MessageStatus.COMPLETE,
    FinishReason.STOP_STRING: MessageStatus.COMPLETE,
    FinishReason.LENGTH: MessageStatus.STOPPED,
    FinishReason.CANCELLED: MessageStatus.STOPPED,
    FinishReason.CONTEXT_FULL: MessageStatus.STOPPED,
}


class ReplyStream(Protocol):
    """The events of one request. It ends with one `Finished` or `Failed`."""

    def cancel(self) -> None: ...

    def __aiter__(self) -> AsyncIterator[GenerationEvent]: ...


class Preceded:
    """A stream with events that were known before it."""

    def __init__(self, first: Sequence[GenerationEvent], stream: ReplyStream) -> None:
        self._first = first
        self._stream = stream

    def cancel(self) -> None:
        self._stream.cancel()

    async def __aiter__(self) -> AsyncIterator[GenerationEvent]:
        for event in self._first:
            yield event
        async for event in self._stream:
            yield event


class _End(Struct, frozen=True):
    """The end of a reply; `error`: a stored Told."""

    status: MessageStatus
    stats: TurnStats | None
    error: str | None


class Reply:
    """Follows one stream to its end and stores the reply."""

    def __init__(
        self,
        storage: Storage,
        answer: Message,
        stream: ReplyStream,
        tell: Callable[[GenerationEvent], None],
    ) -> None:
        """`answer` holds the existing parts, which the reply continues."""
        self.chat_id = answer.chat_id
        self.message_id = answer.id
        self.notices: list[Notice] = []
        # what its prompts lacked, and how many of that the journal has
        self._left_out: list[LeftOutPart] = []
        self._left_out_journaled = 0
        self._storage = storage
        self.before = answer.parts
        self.written: list[TextPiece | ToolDone] = []
        # pieces that the journal has
        self.journaled = 0
        self._stream = stream
        self._tell = tell
        self.last: GenerationEvent | None = None
        # its end, as it is stored
        self._end: _End | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """The reply so far, including the parts it continues."""
        parts = [*self.before, *parts_of(self.written, self.message_id)]
        return joined(with_left_out(parts, self._left_out))

    @property
    def status(self) -> MessageStatus:
        """Status of the reply, which has ended."""
        return MessageStatus.STOPPED if self._end is None else self._end.status

    def stop(self) -> None:
        self._stream.cancel()

    async def run(self) -> None:
        """Run until the reply is stored; never raises for failures of the engine."""
        stats: TurnStats | None = None
        error: str | None = None
        status = MessageStatus.FAILED
        journal = asyncio.ensure_future(self._journal_forever())
        try:
            async for event in self._stream:
                match event:
                    case TextAdded():
                        self.written.extend(event.pieces)
                    case ToolDone():
                        self.written.append(event)
                    case Notice():
                        self.notices.append(event)
                        if is_left_out(event.told):
                            self._leave_out(LeftOutPart(event.told.stored))
                    case Finished():
                        stats = event.stats
                        status = _STATUS[stats.finish]
                    case Failed():
                        error = event.told.stored
                        status = MessageStatus.FAILED
                self.last = event
                self._tell(event)
        except asyncio.CancelledError:
            # the program is closing: keep the reply so far, as the journal would
            self._stream.cancel()
            status = MessageStatus.INTERRUPTED
            raise
        finally:
            journal.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await journal
            await self._finish(status, stats, error)

    def _leave_out(self, part: LeftOutPart) -> None:
        # each step of a reply with tools tells it again
        if part not in self._left_out:
            self._left_out.append(part)

    async def _finish(
        self, status: MessageStatus, stats: TurnStats | None, error: str | None
    ) -> None:
        if error is not None and self.before and not self.written:
            # the continuation failed, the existing reply did not
            status = MessageStatus.STOPPED
        self._end = _End(status, stats, error)
        for pause in (*STORE_AGAIN, None):
            try:
                await self.store()
            except EnvironmentProblem:
                if pause is None:
                    raise
                await asyncio.sleep(pause)
            else:
                return

    async def store(self) -> None:
        """Store the whole reply, which has ended. Raises EnvironmentProblem."""
        assert self._end is not None
        parts, message_id, end = self.parts, self.message_id, self._end
        await self._storage.run(
            lambda store: store.messages.finish(message_id, parts, end.status, end.stats, end.error)
        )

    async def _journal_forever(self) -> None:
        while True:
            await asyncio.sleep(JOURNAL_SECONDS)
            upto = len(self.written)
            new = self.written[self.journaled : upto]
            if not new:
                continue
            parts, message_id = joined(parts_of(new, self.message_id)), self.message_id
            if not parts:
                # a call that is not whole yet
                continue
            noted = len(self._left_out)
            parts = (*self._left_out[self._left_out_journaled : noted], *parts)
            try:
                await self._storage.run(
                    lambda store, m=message_id, p=parts: store.messages.journal(m, p)  # type: ignore[misc]
                )
                self.journaled, self._left_out_journaled = upto, noted
            except Exception:
                # the text is still in memory and is stored at the end of the turn
                log.exception("journaling failed")
