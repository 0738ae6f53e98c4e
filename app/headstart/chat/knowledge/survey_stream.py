"""The reply to a question that is asked of every document: one after the other, then one answer.
On the event loop's thread."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from headstart.chat.knowledge.survey import Surveying, without_files
from headstart.chat.reply import ReplyStream
from headstart.chat.requests import Asked
from headstart.core.chats.parts import CoveragePart, Part, PartKind, PassagePart
from headstart.core.chats.values import FinishReason, TurnStats
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import (
    DocumentsRead,
    Failed,
    Finished,
    GenerationEvent,
    Loading,
    Prefilling,
    TextAdded,
    Waiting,
)
from headstart.core.knowledge.passages import passages_in
from headstart.core.knowledge.survey import (
    NOTE_TOKENS,
    Stretch,
    SurveyDocument,
    fitted,
    noted,
    smaller_stretch,
    stretch_tokens,
    stretches,
)
from headstart.core.models.ref import AnyModel
from headstart.core.servers import ServerModel

# tokens of a stretch below which a document is given up
_LEAST_STRETCH = 400
# tokens of an answer for a model that cannot but think, and seconds between two storings
_THINKING, _STORED = 2_048, 1.0
# problems of a prompt that one with a smaller stretch may not have; a server's, too
_TOO_LONG = frozenset(
    ("message-too-long", "chat-too-long", "system-prompt-too-long", "request-refused")
)

Ask = Callable[[Asked], Awaitable[ReplyStream]]


class SurveyStream:
    """A `ReplyStream`."""

    def __init__(
        self,
        desk: Surveying,
        asked: Asked,
        model: AnyModel,
        documents: Sequence[SurveyDocument],
        asks: tuple[Ask, Ask],
    ) -> None:
        """The question is the last message of `asked`. `asks`: how one document is asked, and how
        the answer over all notes is."""
        self._desk = desk
        self._asked = asked
        self._model = model
        self._documents = documents
        self._ask, self._answer = asks
        self._stream: ReplyStream | None = None
        self._cancelled = False
        # tokens of an answer, and the time of the last storing
        self._most, self._stored_at = NOTE_TOKENS, time.monotonic()
        self._notes: list[PassagePart] = []
        self._read = self._found = 0
        self._unread: list[str] = []
        given = (one for message in asked.branch[:-1] for one in passages_in(message.parts))
        self._number = max((one.number for one in given), default=0) + 1

    def cancel(self) -> None:
        self._cancelled = True
        if self._stream is not None:
            self._stream.cancel()

    async def __aiter__(self) -> AsyncIterator[GenerationEvent]:
        try:
            async for event in self._events():
                yield event
        except EnvironmentProblem as problem:
            yield Failed(problem.told)

    async def _events(self) -> AsyncIterator[GenerationEvent]:
        total = len(self._documents)
        for number, document in enumerate(self._documents):
            yield DocumentsRead(number, total, document.name)
            async for event in self._read_whole(document):
                if isinstance(event, Prefilling):
                    share = event.done / max(1, event.total)
                    yield DocumentsRead(number, total, document.name, share)
                    continue
                if isinstance(event, Failed):
                    await self._store()
                yield event
                if isinstance(event, Failed):
                    return
            if self._cancelled:
                break
            if time.monotonic() - self._stored_at > _STORED:
                await self._store()
        await self._store()
        # a folder may have been removed meanwhile
        await self._desk.tidy()
        if self._cancelled:
            yield Finished(TurnStats(FinishReason.CANCELLED, 0, 0, 0.0, None, 0, 0.0))
            return
        yield DocumentsRead(total, total)
        self._stream = await self._answer(self._asked)
        if self._cancelled:
            # meanwhile
            self._stream.cancel()
        async for event in self._stream:
            yield event

    async def _read_whole(self, document: SurveyDocument) -> AsyncIterator[GenerationEvent]:
        """Read a document, in stretches if it is longer than the context. Its notes count once all
        of it was read."""
        text = await self._desk.text(self._asked.chat, document)
        if not text:
            self._unread.append(document.name)
            return
        counted = not isinstance(self._model, ServerModel)
        most = stretch_tokens(self._desk.context(self._model), counted)
        while not self._cancelled:
            notes: list[PassagePart] = []
            ended = True
            failed: Failed | None = None
            for stretch in await asyncio.to_thread(stretches, text, most, document.paged):
                reading = _Reading()
                async for event in self._read_stretch(document, stretch, reading):
                    yield event
                failed = reading.failed
                if failed is not None or self._cancelled:
                    break
                # one that thought until its last token did not say that there is nothing
                ended = ended and reading.ended
                at = self._number + len(notes)
                notes += await asyncio.to_thread(noted, document, text, stretch, reading.text, at)
            if self._cancelled:
                return
            if failed is None:
                self._keep(document, notes if ended else None)
                return
            if failed.told.code not in _TOO_LONG:
                yield failed
                return
            most = smaller_stretch(stretch, failed.told.facts)
            if most < _LEAST_STRETCH:
                self._keep(document, None)
                return

    async def _read_stretch(
        self, document: SurveyDocument, stretch: Stretch, reading: _Reading
    ) -> AsyncIterator[GenerationEvent]:
        """Ask one stretch; `reading` takes the note. A model that only thinks gets more room, from
        then on."""
        while True:
            reading.text, reading.ended = "", True
            asked = await self._desk.request(
                self._asked, self._model, document, stretch, self._most
            )
            self._stream = await self._ask(asked)
            if self._cancelled:
                # meanwhile
                self._stream.cancel()
            async for event in self._stream:
                match event:
                    case TextAdded(pieces=pieces):
                        said = (one.text for one in pieces if one.kind is PartKind.TEXT)
                        reading.text += "".join(said)
                    case Failed():
                        reading.failed = event
                    case Finished(stats=stats):
                        cut = stats.finish in (FinishReason.LENGTH, FinishReason.CONTEXT_FULL)
                        reading.ended = bool(reading.text.strip()) or not cut
                    case Loading() | Waiting() | Prefilling():
                        # the rest describes the document's prompt, not the chat's
                        yield event
            if reading.ended or reading.failed or self._cancelled or self._most > NOTE_TOKENS:
                return
            self._most = _THINKING

    def _keep(self, document: SurveyDocument, notes: Sequence[PassagePart] | None) -> None:
        """Count a document; None: it could not be read."""
        if notes is None:
            self._unread.append(document.name)
            return
        self._read += 1
        self._found += bool(notes)
        self._notes += notes
        self._number += len(notes)

    async def _store(self) -> None:
        """Store the notes so far with the question, as far as there is room for them."""
        self._stored_at = time.monotonic()
        room = self._desk.room(self._asked, self._model, self._documents)
        notes, short = fitted(self._notes, room)
        coverage = CoveragePart(
            len(self._documents), self._read, self._found, tuple(self._unread), short
        )
        branch = self._asked.branch
        parts: tuple[Part, ...] = (coverage, *notes, *without_files(branch[-1].parts))
        question = replace(branch[-1], parts=parts)
        self._asked = replace(self._asked, branch=(*branch[:-1], question))
        await self._desk.store(self._asked.chat, question)


class _Reading(Struct):
    """The answer of one stretch. `ended`: False if it has no words, and was cut."""

    text: str = ""
    ended: bool = True
    failed: Failed | None = None
