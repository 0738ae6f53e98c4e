"""Questions to folders whose papers resemble each other, and to those without an answer:
the model is given the right paper or nothing, the user is asked where neither is sure, and the
question says for good what it was sent with. The model is a server that is scripted."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from headstart.assembly import App
from headstart.core.chats.parts import PassagePart, SearchOutcome, SearchPart
from headstart.core.chats.prompt_words import FOUND
from headstart.core.chats.values import Message
from headstart.core.knowledge.passages import passages_in
from headstart.ui.knowledge.doubted_sheet import DoubtedSheet
from headstart.ui.transcript.part_boxes import PassagesBox
from tests.conftest import OpenApp, until
from tests.e2e.test_tools_window import use
from tests.support import alike_papers
from tests.support.driver import ask, branch, reply_done
from tests.support.knowledge_window import picture, read, say, with_folder
from tests.support.scripted_server import ScriptedServer

# shares a word with the manuals, and asks for something else
DOUBTFUL = "How did tulips shake the Dutch stock exchange in Amsterdam?"


@pytest.fixture(autouse=True)
def quick(shallow_starter: None) -> None:
    """No test here needs the starter model's words."""


def search_of(message: Message) -> SearchPart:
    (found,) = [one for one in message.parts if isinstance(one, SearchPart)]
    return found


def line(app: App) -> str:
    """The line below the last question."""
    return app.window.transcript.findChildren(PassagesBox)[-1].accessibleName()


async def doubted(app: App) -> DoubtedSheet:
    def sheets() -> list[DoubtedSheet]:
        return [one for one in app.window.findChildren(DoubtedSheet) if one.isVisible()]

    await until(lambda: bool(sheets()))
    return sheets()[-1]


async def answered(app: App) -> None:
    """The question of the sheet is stored and answered."""
    await until(lambda: app.controllers.reply.writing)
    await reply_done(app)


def send(app: App, text: str) -> None:
    app.window.composer.set_text(text)
    app.window.composer.button.click()


async def test_the_right_one_of_papers_that_resemble_each_other_is_given_and_named_for_good(
    running: OpenApp, server: ScriptedServer, tmp_path: Path
) -> None:
    asked = alike_papers.write(tmp_path / "papers")
    folder = tmp_path / "papers" / "notes-en"
    questions = [one for one in asked if one.folder == "notes-en" and one.file]
    async with running() as app:
        await use(app, server)
        server.script = [say("So it is.")] * len(questions)
        app.controllers.knowledge.add(str(folder))
        await read(app)
        app.window.inspector.knowledge.switches[str(folder)].click()
        for one in questions:
            await ask(app, one.text)
            question = (await branch(app))[-2]
            # also those that an earlier question was given
            named = [part.name for part in question.parts if isinstance(part, PassagePart)]
            assert one.file in named[:3]
            assert search_of(question).outcome is SearchOutcome.GIVEN
            assert search_of(question).sources == ("notes-en",)
        sent = str(server.asked[-1].body)
        assert FOUND in sent
        assert "Searched" not in sent
        await picture(app, "alike")
        chat_id = app.controllers.open.id
    async with running() as app:
        app.window.open_chat(chat_id)
        # the line is there after a restart
        await until(lambda: bool(app.window.transcript.findChildren(PassagesBox)))
        assert "from notes-en:" in line(app)


async def test_nothing_found_is_said_for_good_and_nothing_is_given(
    running: OpenApp, server: ScriptedServer, folder: Path
) -> None:
    async with running() as app:
        await use(app, server)
        server.script = [say("I do not know.")]
        await with_folder(app, folder)
        await ask(app, "Who composed the ninth symphony?")
        question, _ = await branch(app)
        assert passages_in(question.parts) == []
        assert search_of(question).outcome is SearchOutcome.NOTHING
        assert FOUND not in str(server.asked[-1].body)
        assert "Nothing found" in line(app)
        await picture(app, "nothing")
        chat_id = app.controllers.open.id
    async with running() as app:
        app.window.open_chat(chat_id)
        await until(lambda: bool(app.window.transcript.findChildren(PassagesBox)))
        assert line(app).startswith("Nothing found")
        assert line(app).endswith("Searched: Manuals & more.")


async def test_what_only_resembles_a_question_is_asked_for_once_in_a_chat(
    running: OpenApp, server: ScriptedServer, folder: Path
) -> None:
    async with running() as app:
        await use(app, server)
        server.script = [say("Much."), say("Little.")]
        await with_folder(app, folder)
        send(app, DOUBTFUL)
        sheet = await doubted(app)
        await picture(app, "doubted")
        # Esc sends nothing and keeps the words
        QTest.keyClick(sheet, Qt.Key.Key_Escape)
        await app.controllers.settle()
        assert not app.controllers.open.stored
        assert app.window.composer.text() == DOUBTFUL
        app.window.composer.button.click()
        sheet = await doubted(app)
        assert "1 passage resembles it" in sheet.findChildren(type(sheet.word()))[1].text()
        sheet.give.click()
        await answered(app)
        question, _ = await branch(app)
        assert search_of(question).outcome is SearchOutcome.RESEMBLING
        assert [part.name for part in passages_in(question.parts)] == ["garden.txt"]
        assert line(app).endswith("They only resemble the question.")
        assert app.window.composer.text() == ""
        # not asked again in this chat
        await ask(app, "And how did tulips raise the price of houses in Rotterdam?")
        assert search_of((await branch(app))[-2]).outcome is SearchOutcome.RESEMBLING
        assert not [one for one in app.window.findChildren(DoubtedSheet) if one.isVisible()]
        await picture(app, "resembling")


async def test_the_choice_is_remembered_and_changed_in_the_panel(
    running: OpenApp, server: ScriptedServer, folder: Path
) -> None:
    async with running() as app:
        await use(app, server)
        server.script = [say("Much."), say("Little.")]
        await with_folder(app, folder)
        send(app, DOUBTFUL)
        (await doubted(app)).without.click()
        await answered(app)
        question, _ = await branch(app)
        assert search_of(question).outcome is SearchOutcome.LEFT_OUT
        assert passages_in(question.parts) == []
        assert "as you chose" in line(app)
        chat_id = app.controllers.open.id
    async with running() as app:
        app.window.open_chat(chat_id)
        panel = app.window.inspector.knowledge
        await until(lambda: panel.doubtful.currentData() == "leave_out")
        panel.doubtful.setCurrentIndex(panel.doubtful.findData("give"))
        panel.doubtful.activated.emit(panel.doubtful.currentIndex())
        await app.controllers.settle()
        await ask(app, "How did tulips raise the price of houses in Rotterdam?")
        assert search_of((await branch(app))[-2]).outcome is SearchOutcome.RESEMBLING


async def test_a_queued_question_is_asked_for_and_sent_once(
    running: OpenApp, server: ScriptedServer, folder: Path
) -> None:
    async with running() as app:
        await use(app, server)
        server.script = [say("It holds 20 litres."), say("Much.")]
        await with_folder(app, folder)
        send(app, "How much coolant does the pump hold?")
        await until(lambda: app.controllers.reply.writing)
        app.controllers.queue.add(DOUBTFUL)
        sheet = await doubted(app)
        # meanwhile it waits where it was
        assert [one.text for one in app.controllers.open.queue.of(app.controllers.open.id)] == [
            DOUBTFUL
        ]
        sheet.give.click()
        await until(lambda: len(server.asked) == 2 and not app.controllers.reply.writing)
        await app.controllers.settle()
        assert app.controllers.open.queue.of(app.controllers.open.id) == ()
        assert [one.text for one in (await branch(app))[::2]] == [
            "How much coolant does the pump hold?",
            DOUBTFUL,
        ]
