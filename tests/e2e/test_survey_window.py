"""A question asked of every document, as the user meets it: the sheet with its cost, the progress,
notes with places, one answer; stopped, asked once more, and read from stored state by real weights.
"""

from __future__ import annotations

import asyncio
from array import array
from pathlib import Path

import pytest
from llama_cpp import Llama

from headstart.assembly import App
from headstart.chat.answering.loading import Loader
from headstart.chat.changes import ReplyEvent
from headstart.core.chats.parts import CoveragePart
from headstart.core.chats.values import MessageStatus
from headstart.core.events import DocumentsRead, GenerationEvent, Prefilling
from headstart.core.knowledge.citations import Cited
from headstart.core.knowledge.passages import passages_in
from headstart.core.knowledge.survey import document_owner, is_document, shared_texts
from headstart.core.models.ref import ModelRef
from headstart.core.requests import LoadRequest
from headstart.ui.knowledge.survey_sheet import SurveySheet
from headstart.ui.transcript.part_boxes import PassagesBox
from tests.conftest import OpenApp, until
from tests.e2e.test_tools_window import use
from tests.support.driver import ask, branch, reply_done, use_sampling
from tests.support.knowledge_window import marks, picture, say, with_folder
from tests.support.scripted_server import Answer, Asked, Handler, ScriptedServer

QUESTION = "How much does the tank hold?"
PUMP = "“The tank holds 20 litres of coolant” and “Change it each spring”. It holds 20 litres."
WRONG = "“The garden holds a tank of 500 litres”. So 500."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "Manuals & more"
    root.mkdir()
    filler = "The pump was built in 1987. It stands in the cellar.\n" * 30
    (root / "a pump.md").write_text(
        f"# Pump P-7\n\n{filler}\n## Coolant\n\nThe tank holds 20 litres of coolant. "
        "Change it each spring.\n",
        encoding="utf-8",
    )
    tulips = "Tulips are planted in autumn, ten centimetres deep.\n"
    (root / "b garden.txt").write_text(tulips * 40, encoding="utf-8")
    (root / "c ドア.md").write_text("# 扉\n\n扉の鍵は箱の中にあります。\n", encoding="utf-8")
    return root


async def opened(app: App, question: str = QUESTION) -> SurveySheet:
    """The sheet for a question that is typed in the composer, with its documents."""
    app.window.composer.set_text(question)
    app.window.composer.source_chips.every.click()
    sheet = app.window.knowledge.survey
    assert sheet is not None
    await until(lambda: sheet.list.count() > 0)
    return sheet


async def asked_every(app: App, question: str = QUESTION) -> None:
    sheet = await opened(app, question)
    assert sheet.field.toPlainText() == question
    sheet.ask_button.click()
    await until(lambda: app.controllers.reply.writing)


def coverage(parts: tuple[object, ...]) -> CoveragePart:
    (found,) = (one for one in parts if isinstance(one, CoveragePart))
    return found


async def test_each_document_is_asked_and_one_reply_answers(
    running: OpenApp, server: ScriptedServer, folder: Path, shallow_starter: None
) -> None:
    async with running() as app:
        await use(app, server)
        await with_folder(app, folder)
        sheet = await opened(app)
        assert sheet.list.count() == 3
        await picture(app, "survey-sheet")
        sheet.reject()
        final = say(
            "It “holds 20 litres of coolant” [1], changed “each spring” [1]. “500 litres” [2]."
        )
        server.script = [say(PUMP), say("Nothing."), say(WRONG), final]
        told: list[DocumentsRead] = []
        app.services.broadcast.on(
            ReplyEvent,
            lambda one: told.append(one.event) if isinstance(one.event, DocumentsRead) else None,
        )
        await asked_every(app)
        await until(lambda: any(one.done == 1 for one in told))
        await picture(app, "survey-progress")
        await reply_done(app)
        question, reply = await branch(app)
        assert question.text == QUESTION
        assert coverage(question.parts) == CoveragePart(3, 3, 2)
        notes = passages_in(question.parts)
        assert [one.name for one in notes] == ["a pump.md", "c ドア.md"]
        text = (folder / "a pump.md").read_text("utf-8")
        assert notes[0].note == PUMP
        assert notes[0].text == "The tank holds 20 litres of coolant. Change it each spring"
        assert text[notes[0].start : notes[0].end] == notes[0].text
        assert text.split("\n")[notes[0].line - 1].startswith("The tank")
        assert (notes[1].note, notes[1].text) == (WRONG, ""), "what it does not say has no place"
        # each document is first in its own prompt, and the last prompt has the notes only
        prompts = [one.body["messages"] for one in server.asked if "messages" in one.body]
        assert len(prompts) == 4
        assert "stands in the cellar" in prompts[0][0]["content"]
        assert prompts[0][-1]["content"] == prompts[1][-1]["content"] == QUESTION
        last = str(prompts[3])
        assert "stands in the cellar" not in last
        assert "3 of 3 documents were read whole" in last
        assert PUMP in last
        assert [one.state for one in marks(app)] == [Cited.FOUND, Cited.FOUND, Cited.NOT_FOUND]
        box = app.window.transcript.findChild(PassagesBox)
        assert box is not None
        assert "3 of 3 documents read, 2 with an answer" in box.text()
        await picture(app, "survey-reply")
        app.window.knowledge.open_passage(notes[0])
        window = app.window.knowledge.passage
        assert window is not None
        await until(lambda: window.marked != "")
        assert window.marked == notes[0].text
        await picture(app, "survey-passage")
        window.reject()
        app.window.knowledge.open_passage(notes[1])
        window = app.window.knowledge.passage
        assert window is not None
        await until(lambda: "扉の鍵" in window.text.toPlainText())
        assert "500" in window.told.text()
        window.reject()
        # another reply is written over the same notes, and nothing is read
        server.script = [say("20 litres.")]
        await app.services.conversation.regenerate(reply.chat_id, reply.id)
        await reply_done(app)
        again = [one.body["messages"] for one in server.asked if "messages" in one.body]
        assert len(again) == 5
        assert again[4] == prompts[3]


async def test_a_stopped_question_keeps_the_notes_so_far(
    running: OpenApp, server: ScriptedServer, folder: Path, shallow_starter: None
) -> None:
    waits = asyncio.Event()

    async def hang(_asked: Asked, answer: Answer) -> None:
        await answer.stream()
        waits.set()
        await asyncio.sleep(60)

    async with running() as app:
        await use(app, server)
        await with_folder(app, folder)
        script: list[Handler] = [say(PUMP), hang]
        server.script = script
        await asked_every(app)
        await until(lambda: len(server.asked) >= 3 and not server.script)
        await asyncio.sleep(0.1)
        app.controllers.conversation.stop()
        reply = await reply_done(app)
        assert reply.status is MessageStatus.STOPPED
        question = (await branch(app))[0]
        assert coverage(question.parts) == CoveragePart(3, 1, 1)
        assert passages_in(question.parts)[0].note == PUMP
        box = app.window.transcript.findChild(PassagesBox)
        assert box is not None
        assert "1 of 3 documents read" in box.text()
        await picture(app, "survey-stopped")
        # the answer over what was read
        server.script = [say("20, of what was read.")]
        await app.services.conversation.regenerate(reply.chat_id, reply.id)
        await reply_done(app)
        assert "1 of 3 documents were read" in str(server.asked[-1].body)
        # asked once more, every document is read
        server.script = [say(PUMP), say("NOTHING"), say("nothing!"), say("20.")]
        await app.services.conversation.search_again(question.chat_id, question.id)
        await reply_done(app)
        now = (await branch(app))[0]
        assert now.versions == 2
        assert coverage(now.parts) == CoveragePart(3, 3, 1)


@pytest.mark.logs("a request failed")
async def test_a_failure_is_said_and_keeps_what_was_read(
    running: OpenApp, server: ScriptedServer, folder: Path, shallow_starter: None
) -> None:
    async def fail(_asked: Asked, answer: Answer) -> None:
        await answer.json({"error": {"message": "out of order"}}, "500 Internal Server Error")

    async with running() as app:
        await use(app, server)
        await with_folder(app, folder)
        server.script = [say(PUMP), fail]
        await asked_every(app)
        reply = await reply_done(app)
        assert reply.status is MessageStatus.FAILED
        assert reply.error
        question = (await branch(app))[0]
        assert coverage(question.parts).read == 1


async def test_notes_survive_a_restart_and_an_export(
    running: OpenApp, server: ScriptedServer, folder: Path, tmp_path: Path, shallow_starter: None
) -> None:
    async with running() as app:
        await use(app, server)
        await with_folder(app, folder)
        server.script = [say(PUMP), say("NOTHING"), say("NOTHING"), say("It holds 20.")]
        await asked_every(app)
        await reply_done(app)
        before = await branch(app)
        chat_id = app.controllers.open.id
    async with running() as app:
        after = await app.services.branches.whole(chat_id)
        assert [one.parts for one in after] == [one.parts for one in before]
        assert coverage(after[0].parts) == CoveragePart(3, 3, 1)


async def test_stored_documents_are_read_once_by_real_weights(
    running: OpenApp, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a restart, a second question processes its own words and nothing of the documents."""
    async with running() as app:
        use_sampling(app)
        await with_folder(app, folder)
        await asked_every(app)
        await reply_done(app)
        question, reply = await branch(app)
        assert coverage(question.parts).read == 3
        assert reply.status in (MessageStatus.COMPLETE, MessageStatus.STOPPED)
        chat = app.controllers.open.chat
        model = await app.services.models.of_chat(chat)
        surveying = app.services.knowledge.surveying
        documents = await surveying.documents(chat, model.key)
        owner = document_owner(documents[0].digest, model.key)

        async def kept() -> bool:
            use_ = await app.services.prefixes.use()
            return use_ is not None and use_.by_chat.get(owner, 0) > 0

        for _ in range(100):
            if await kept():
                break
            await asyncio.sleep(0.1)
        assert await kept()
        use_ = await app.services.prefixes.use()
        assert use_ is not None
        assert use_.names[owner].startswith("a pump.md")
        plan = await surveying.plan(chat)
        assert documents[0].digest in plan.kept
        chat_id = chat.id
    async with running() as app:
        # the engine's own events, before the reply makes progress of them
        seen: list[Prefilling] = []
        follow = Loader.follow

        def watched(loader: Loader, event: GenerationEvent, wanted: LoadRequest) -> None:
            if isinstance(event, Prefilling) and event.done == event.reused:
                seen.append(event)
            follow(loader, event, wanted)

        monkeypatch.setattr(Loader, "follow", watched)
        await app.services.conversation.send(chat_id, "When is it changed?", every=True)
        await until(lambda: app.services.replies.reply_in(chat_id) is None)
        assert len(seen) >= 3
        longest = max(seen[:3], key=lambda one: one.total)
        assert longest.total > 300
        assert longest.total - longest.reused < 40
        # a removed folder leaves nothing of its documents
        knowledge = app.services.knowledge.knowledge
        await knowledge.indexing.settled()
        assert owner in (await app.services.prefixes.owners())
        await knowledge.remove(str(folder))
        owners: set[str] = {owner}
        for _ in range(100):
            owners = set(await app.services.prefixes.owners())
            if not any(map(is_document, owners)):
                break
            await asyncio.sleep(0.05)
        assert not any(map(is_document, owners))
        use_ = await app.services.prefixes.use()
        assert use_ is not None
        assert not any(map(is_document, use_.names))


async def test_the_prompt_cache_lists_whole_documents(running: OpenApp, folder: Path) -> None:
    """Of two documents that stand first in two chats, each has its own part of the state."""
    (folder / "b garden.txt").write_text("Tulips are planted in autumn, quite deep.\n" * 90)
    async with running() as app:
        use_sampling(app)
        pinning = app.services.knowledge.pinning
        paths = [str(folder / "a pump.md"), str(folder / "b garden.txt")]
        for _ in range(2):
            app.window.new_chat()
            await app.controllers.settle()
            pins = tuple([await pinning.read(path) for path in paths])
            app.window.inspector.knowledge.pins_chosen.emit(pins)
            await app.controllers.settle()
            await ask(app, "How much?")
        chat = app.controllers.open.chat
        model = await app.services.models.of_chat(chat)
        texts = await pinning.texts(chat)
        owners = [one.owner for one in shared_texts(texts, model.key)]
        assert owners[0] == document_owner(pins[0].digest, model.key), "as a question to it alone"
        sizes: dict[str, int] = {}
        for _ in range(100):
            use_ = await app.services.prefixes.use()
            assert use_ is not None
            sizes = {one: use_.by_chat.get(one, 0) for one in (*owners, chat.id)}
            if all(sizes.values()):
                break
            await asyncio.sleep(0.1)
        assert all(sizes.values())
        assert sum(sizes[one] for one in owners) <= sizes[chat.id]
        app.window.sizes.open()
        window = app.window.sizes.window
        assert window is not None
        await until(lambda: window.list.topLevelItemCount() >= 4)
        rows = [window.list.topLevelItem(n).text(0) for n in range(window.list.topLevelItemCount())]
        assert sum("a pump.md" in one for one in rows) == 1
        assert sum("b garden.txt" in one for one in rows) == 1
        await picture(app, "sizes")


async def test_a_private_chat_leaves_nothing_of_its_questions(
    running: OpenApp, folder: Path
) -> None:
    """Neither by itself nor under the name of the chat that asks the same documents next."""
    async with running() as app:
        use_sampling(app)
        await with_folder(app, folder)
        app.window.new_chat(private=True)
        await app.controllers.settle()
        app.window.knowledge.switch_on(str(folder))
        await app.controllers.settle()
        await asked_every(app, "zyzzyva quokka axolotl?")
        await reply_done(app)
        assert (await app.services.prefixes.owners()) == set()
        use_ = await app.services.prefixes.use()
        assert use_ is not None
        assert use_.names == {}
        app.window.new_chat()
        await app.controllers.settle()
        app.window.knowledge.switch_on(str(folder))
        await app.controllers.settle()
        await asked_every(app, "How much does the tank hold?")
        await reply_done(app)
        private = [one for one in await app.services.prefixes.owners() if ":alone:" in one]
        assert private == []
    async with running() as app:
        state = await app.parts.storage.run(lambda store: store.prefixes.load())
        model = await app.services.models.of_chat(app.controllers.open.chat)
        assert isinstance(model, ModelRef)
        secret, open_words = (
            _tokens(model, words) for words in ("zyzzyva quokka axolotl", " does the tank hold")
        )
        stored = b"".join(one.tokens for one in state.records)
        assert open_words in stored
        assert secret not in stored


def _tokens(model: ModelRef, words: str) -> bytes:
    """The tokens of words, as records have them."""
    vocabulary = Llama(str(model.path), vocab_only=True, verbose=False)
    found = vocabulary.tokenize(words.encode(), add_bos=False, special=False)
    return array("i", found).tobytes()
