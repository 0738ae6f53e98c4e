"""Questions to every document, over a real index and database, with answers from a queue."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from headstart.chat.answering.answerer import Answering
from headstart.chat.changes import What
from headstart.chat.conversation import Conversation
from headstart.chat.knowledge.making import KnowledgeWork, make_knowledge
from headstart.core.chats.parts import CoveragePart
from headstart.core.chats.values import FinishReason, Message, MessageStatus
from headstart.core.knowledge.passages import passages_in
from headstart.core.knowledge.survey import NOTE_TOKENS
from headstart.core.settings.schema import ChatOptions
from headstart.core.told import Told, told
from tests.support.answers import MODEL, Answer, OneModel, Talk

NAMES = ("a.md", "b.md", "c.md")
NOTE = "“The tank holds 20 litres”. So 20."


class Desk:
    """A chat over a folder of three documents, and what it takes to ask them."""

    def __init__(self, talk: Talk, folder: Path) -> None:
        self.talk, self.folder = talk, folder / "docs"
        self.folder.mkdir()
        knowledge = replace(talk.preferences.current.knowledge, meaning=False)
        talk.preferences.update(knowledge=knowledge)
        for name in NAMES:
            body = f"# {name}\n\nThe tank holds 20 litres.\n\n" + "Words of no interest.\n\n" * 200
            (self.folder / name).write_text(body, encoding="utf-8")
        self.contexts: dict[str, int] = {}
        engine: Any = SimpleNamespace(working=False)
        self.work: KnowledgeWork = make_knowledge(
            folder / "knowledge.db",
            OneModel(),  # type: ignore[arg-type]
            (talk.databases, talk.branches),
            (talk.preferences, talk.broadcast, talk.background),
            (engine, lambda: self.contexts, talk.prefixes),
        )
        answering = Answering(
            OneModel(),  # type: ignore[arg-type]
            talk.answerer,
            talk.answerer,  # type: ignore[arg-type]
            talk.desk,
            self.work,
        )
        self.conversation = Conversation(
            talk.databases, talk.branches, talk.replies, answering, talk.broadcast
        )
        self.chat = talk.databases.begin()

    async def begin(self) -> None:
        self.work.knowledge.add(str(self.folder))
        await self.work.knowledge.indexing.settled()
        options = ChatOptions(files_from=(str(self.folder),))
        self.talk.databases.change_begun(replace(self.chat, options=options), What.OPTIONS)

    async def ask(self, *answers: Answer) -> list[Message]:
        self.talk.answerer.answers = list(answers)
        await self.conversation.send(self.chat.id, "How much?", every=True)
        await self.talk.written(self.chat.id)
        return await self.talk.branches.whole(self.chat.id)


@pytest.fixture
def desk(talk: Talk, loop: asyncio.AbstractEventLoop, tmp_path: Path) -> Iterator[Desk]:
    async def make() -> Desk:
        found = Desk(talk, tmp_path)
        await found.begin()
        return found

    desk = loop.run_until_complete(make())
    yield desk
    loop.run_until_complete(desk.work.close())


def coverage(message: Message) -> CoveragePart:
    return next(one for one in message.parts if isinstance(one, CoveragePart))


async def test_a_model_that_only_thinks_gets_more_room_and_is_not_taken_for_a_no(
    desk: Desk,
) -> None:
    thinks = [Answer([], ends=FinishReason.LENGTH) for _ in range(2)]
    question, reply = await desk.ask(
        thinks[0], Answer([NOTE]), thinks[1], Answer([]), Answer(["20."])
    )
    sampling = [one.chat.options.sampling for one in desk.talk.answerer.asked[:4]]
    sizes = [0 if one is None else one.max_tokens or 0 for one in sampling]
    assert sizes[0] == NOTE_TOKENS
    assert sizes[1] == sizes[2] == sizes[3] > 1_000
    # the second has no word at all; the third says that there is nothing
    assert coverage(question) == CoveragePart(3, 2, 1, ("b.md",))
    assert reply.text == "20."


@pytest.mark.parametrize(
    "problem",
    [
        told("system-prompt-too-long", tokens=300, size=4_096),
        told("message-too-long", tokens=9_000, size=4_096),
        told("request-refused", host="h", status=400, said=""),
    ],
    ids=lambda one: one.code,
)
async def test_a_document_that_never_fits_is_named_and_the_others_are_read(
    desk: Desk, problem: Told
) -> None:
    """What was counted may be smaller than the context: parts get smaller all the same."""

    class Refusing(Answer):
        async def __aiter__(self) -> AsyncIterator[Any]:
            async for event in Answer([], ends=problem):
                yield event

    asked = desk.talk.answerer

    async def answer(_model: object, one: Any) -> Answer:
        asked.asked.append(one)
        assert len(asked.asked) < 60, "it is asked for ever"
        first = one.documents[0].name if one.documents else ""
        return Refusing() if first.startswith("b.md") else Answer([NOTE])

    asked.answer = answer  # type: ignore[method-assign, assignment]
    question, _ = await desk.ask()
    assert coverage(question) == CoveragePart(3, 2, 2, ("b.md",))


async def test_a_failure_at_the_first_document_leaves_a_question_to_all(desk: Desk) -> None:
    question, reply = await desk.ask(Answer([], ends=told("engine-restarted")))
    assert reply.status is MessageStatus.FAILED
    assert coverage(question) == CoveragePart(3)
    # asked once more, it is a question to every document again
    desk.talk.answerer.answers = [Answer([NOTE]), Answer([NOTE]), Answer([NOTE]), Answer(["20."])]
    await desk.conversation.search_again(desk.chat.id, question.id)
    await desk.talk.written(desk.chat.id)
    now = (await desk.talk.branches.whole(desk.chat.id))[0]
    assert coverage(now) == CoveragePart(3, 3, 3)


async def test_an_edit_without_its_documents_is_a_usual_question(desk: Desk) -> None:
    question, _ = await desk.ask(Answer([NOTE]), Answer([NOTE]), Answer([NOTE]), Answer(["20."]))
    await desk.work.knowledge.remove(str(desk.folder))
    desk.talk.answerer.answers = [Answer(["Who knows."])]
    await desk.conversation.edit(desk.chat.id, question.id, "How many?")
    await desk.talk.written(desk.chat.id)
    now, reply = await desk.talk.branches.whole(desk.chat.id)
    assert (now.text, reply.text) == ("How many?", "Who knows.")
    assert not [one for one in now.parts if isinstance(one, CoveragePart)]


async def test_a_folder_that_is_removed_meanwhile_is_not_read_on(desk: Desk) -> None:
    asked = desk.talk.answerer
    usual = asked.answer

    async def answer(model: Any, one: Any) -> Answer:
        if one.documents:
            await desk.work.knowledge.remove(str(desk.folder))
        return await usual(model, one)

    asked.answer = answer  # type: ignore[method-assign, assignment]
    question, _ = await desk.ask(Answer([NOTE]), Answer(["20."]))
    assert coverage(question) == CoveragePart(3, 1, 1, ("b.md", "c.md"))


async def test_notes_that_do_not_fit_are_left_out_also_after_a_stop(desk: Desk) -> None:
    desk.contexts[MODEL.key] = 600
    for name, number in zip(NAMES, "123", strict=True):
        (desk.folder / name).write_text(f"The tank holds 20 litres. {number}", encoding="utf-8")
    desk.work.knowledge.look()
    await desk.work.knowledge.indexing.settled()
    long = NOTE + " And so on." * 200
    stopped = Answer([long], hold=True)
    desk.talk.answerer.answers = [Answer([long]), Answer([long]), stopped]
    await desk.conversation.send(desk.chat.id, "How much?", every=True)
    while len(desk.talk.answerer.asked) < 3:
        await asyncio.sleep(0.01)
    desk.talk.replies.stop(desk.chat.id)
    await desk.talk.written(desk.chat.id)
    question, reply = await desk.talk.branches.whole(desk.chat.id)
    assert reply.status is MessageStatus.STOPPED
    kept = passages_in(question.parts)
    assert coverage(question).read == 2
    assert sum(len(one.note) for one in kept) < 2_000
