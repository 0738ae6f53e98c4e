"""Questions answered from folders, as the user meets them: added, switched on by # or a switch,
asked, cited, opened, searched without a model, taken away. The model is a server that is scripted.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from headstart.core.chats.parts import PassagePart
from headstart.core.chats.prompt_words import FOUND
from headstart.core.knowledge.citations import Cited
from headstart.core.knowledge.passages import passages_in
from headstart.ui.kit.asking import Question
from headstart.ui.knowledge.passage_window import PassageWindow
from headstart.ui.transcript.part_boxes import PassagesBox
from tests.conftest import OpenApp, until
from tests.e2e.test_tools_window import use
from tests.support.driver import ask, branch
from tests.support.knowledge_window import marks, picture, read, say, with_folder
from tests.support.scripted_server import ScriptedServer

REPLY = (
    "It holds 20 litres: “holds 20 litres of coolant” [1]. It was “painted green in Dublin” [1]. "
    "See [1] and [77]."
)


@pytest.fixture(autouse=True)
def quick(shallow_starter: None) -> None:
    """No test here needs the starter model's words."""


async def test_a_folder_is_added_asked_cited_and_opened(
    running: OpenApp, server: ScriptedServer, folder: Path
) -> None:
    async with running() as app:
        page = app.window.settings.open("knowledge").knowledge
        await picture(app, "page-empty")
        page.add_requested.emit(str(folder), False)
        await read(app)
        row = page.sources.rows[str(folder)]
        assert "3 files" in row.state.text()
        assert "1 file without text by kind" in row.state.text()
        await picture(app, "page")
        app.window.settings.closed.emit()
        await use(app, server)
        server.script = [say(REPLY), say("It is so."), say("Yes.")]
        await with_folder(app, folder)
        assert len(app.window.composer.source_chips.chips) == 1
        await ask(app, "How much coolant does the pump hold?")
        question, reply = await branch(app)
        found = passages_in(question.parts)
        assert found[0].name == "pump.md"
        assert "holds 20 litres" in found[0].text
        assert question.text == "How much coolant does the pump hold?"
        assert FOUND in str(server.asked[-1].body)
        box = app.window.transcript.findChild(PassagesBox)
        assert box is not None
        assert "pump.md" in box.text()
        states = [one.state for one in marks(app)]
        assert states == [Cited.FOUND, Cited.NOT_FOUND, Cited.PLAIN]
        await picture(app, "reply")
        box.linkActivated.emit("0")
        window = app.window.knowledge.passage
        assert isinstance(window, PassageWindow)
        await until(lambda: window.marked != "")
        assert window.marked == found[0].text
        await picture(app, "passage")
        window.reject()
        # a mark with a quote leads to the quoted words
        app.window.transcript.host.open_citation(marks(app)[0])
        window = app.window.knowledge.passage
        assert window is not None
        await until(lambda: window.marked != "")
        assert window.marked == "holds 20 litres of coolant"
        await picture(app, "quote")
        window.reject()
        # the same passage is not given twice, and nothing earlier changes
        await ask(app, "And when is the coolant of the pump changed?")
        before, after = [one.body["messages"] for one in server.asked if "messages" in one.body]
        assert after[: len(before)] == before
        again = [one for one in (await branch(app))[2].parts if isinstance(one, PassagePart)]
        assert [(one.number, one.again) for one in again] == [(found[0].number, True)]
        assert reply.text == REPLY


async def test_rules_that_would_hold_a_start_are_followed_and_what_is_not_is_said(
    running: OpenApp, folder: Path
) -> None:
    (folder / ".gitignore").write_text("*a*a*a*a*a*a*a*a*a*b\n[z-a]\ndraft-*\n")
    (folder / ("a" * 200 + ".md")).write_text("The gauge of the boiler reads nine bars.\n")
    (folder / "draft-1.md").write_text("The gauge of the boiler reads ten bars.\n")
    inner = folder / "inner"
    inner.mkdir()
    (inner / ".gitignore").symlink_to(folder / "pump.md")
    async with running() as app:
        page = app.window.settings.open("knowledge").knowledge
        page.add_requested.emit(str(folder), False)
        await read(app)
        said = page.sources.rows[str(folder)].state.text()
        assert "4 files" in said
        assert "1 entry named by .gitignore" in said
        assert "1 .gitignore file not followed in full" in said
    # and at the next start it is there again
    async with running() as app:
        await read(app)
        found = await app.services.knowledge.knowledge.searching.find("gauge of the boiler")
        assert [hit.place.name for hit in found.hits] == ["a" * 200 + ".md"]


async def test_an_edited_file_is_found_as_it_is_now_and_old_places_say_so(
    running: OpenApp, server: ScriptedServer, folder: Path
) -> None:
    async with running() as app:
        await use(app, server)
        server.script = [say("20."), say("30.")]
        await with_folder(app, folder)
        await ask(app, "How much coolant does the pump hold?")
        text = (folder / "pump.md").read_text("utf-8").replace("20 litres", "30 litres")
        (folder / "pump.md").write_text(text, encoding="utf-8")
        app.controllers.knowledge.look_everywhere()
        await read(app)
        question = (await branch(app))[0]
        await app.services.conversation.search_again(question.chat_id, question.id)
        await until(lambda: not app.controllers.reply.writing)
        await app.controllers.settle()
        now = (await branch(app))[0]
        assert now.versions == 2
        assert "30 litres" in passages_in(now.parts)[0].text
        assert "20 litres" in passages_in(question.parts)[0].text
        app.window.knowledge.open_passage(passages_in(question.parts)[0])
        window = app.window.knowledge.passage
        assert window is not None
        await until(lambda: window.told.isVisible())
        assert "changed" in window.told.text()
        assert "20 litres" in window.text.toPlainText()


async def test_files_are_searched_without_a_model(running: OpenApp, folder: Path) -> None:
    async with running() as app:
        app.controllers.knowledge.add(str(folder))
        await read(app)
        app.window.commands.run("files.search")
        sheet = app.window.knowledge.search
        assert sheet is not None
        QTest.keyClicks(sheet.field, "coolant")
        await until(lambda: sheet.list.count() == 1)
        assert "pump.md" in sheet.list.item(0).text()
        await picture(app, "search")
        sheet.field.clear()
        sheet.field.insert("鍵は箱")
        sheet.field.textEdited.emit("鍵は箱")
        await until(lambda: sheet.list.count() == 1 and "ドア.md" in sheet.list.item(0).text())
        sheet.ask_button.click()
        await app.controllers.settle()
        assert app.window.composer.text() == "鍵は箱"
        assert len(app.window.composer.source_chips.chips) == 1


async def test_a_removed_folder_leaves_nothing_in_the_index(running: OpenApp, folder: Path) -> None:
    async with running() as app:
        await with_folder(app, folder)
        app.controllers.knowledge.remove(str(folder))
        await app.controllers.settle()
        assert app.window.composer.source_chips.chips == []
        assert (await app.services.knowledge.knowledge.searching.find("coolant")).hits == ()
        home = app.home.knowledge
    assert b"coolant" not in home.read_bytes()


async def test_sources_and_index_survive_a_restart(running: OpenApp, folder: Path) -> None:
    async with running() as app:
        app.controllers.knowledge.add(str(folder))
        await read(app)
    (folder / "garden.txt").unlink()
    async with running() as app:
        await read(app)
        state = app.services.knowledge.knowledge.indexing.states[str(folder)]
        assert state.files == 2
        found = await app.services.knowledge.knowledge.searching.find("coolant")
        assert found.hits[0].place.name == "pump.md"


async def test_a_whole_document_stands_first_in_every_chat_over_it(
    running: OpenApp, server: ScriptedServer, folder: Path
) -> None:
    async with running() as app:
        await use(app, server)
        server.script = [say("20."), say("Again 20."), say("30?")]
        prompts = []
        for instructions in ("Be brief.", "Answer in verse."):
            app.window.new_chat()
            await app.controllers.settle()
            app.services.preferences.update(system_prompt=instructions)
            app.window.knowledge.pin([str(folder / "pump.md")])
            await until(lambda: app.window.findChild(Question) is not None)
            app.window.findChild(Question).yes.click()
            await app.controllers.settle()
            app.window.show_sources()
            await picture(app, "pinned")
            await ask(app, "How much does the tank hold?")
            prompts.append(server.asked[-1].body["messages"][0])
        first, second = prompts
        assert first["role"] == second["role"] == "system"
        begin = first["content"].removesuffix("Be brief.")
        assert begin != first["content"]
        assert "holds 20 litres" in begin
        assert second["content"] == f"{begin}Answer in verse."
        # the file changes: the chat keeps the text that it has read, and says so
        text = (folder / "pump.md").read_text("utf-8").replace("20 litres", "30 litres")
        (folder / "pump.md").write_text(text, encoding="utf-8")
        app.controllers.knowledge.look_everywhere()
        await read(app)
        app.controllers.knowledge.pinning.show_pinned()
        await app.controllers.settle()
        said = [one.text() for one in app.window.inspector.knowledge.pinned.findChildren(QLabel)]
        assert any("changed since" in one for one in said)
        await ask(app, "And now?")
        assert server.asked[-1].body["messages"][0]["content"] == second["content"]
