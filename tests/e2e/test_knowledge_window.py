"""Questions answered from folders, as the user meets them: added, switched on by # or a switch,
asked, cited, opened, searched without a model, taken away. The model is a server that is scripted.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QToolButton

from headstart.assembly import App
from headstart.core.chats.parts import PassagePart, text_part
from headstart.core.chats.prompt_words import FOUND
from headstart.core.chats.values import Message, MessageStatus, Role, new_id, now_ms
from headstart.core.knowledge.citations import Cited
from headstart.core.knowledge.passages import passages_in
from headstart.ui.kit.asking import Question
from headstart.ui.knowledge.passage_window import PassageWindow
from headstart.ui.transcript.cited import CitedMark
from headstart.ui.transcript.part_boxes import PassagesBox
from tests.conftest import OpenApp, until
from tests.e2e.test_tools_window import use
from tests.support.documents import pdf
from tests.support.driver import ask, branch
from tests.support.scripted_server import Answer, Asked, Handler, ScriptedServer

PICTURES = os.environ.get("KNOWLEDGE_PICTURES", "")
REPLY = (
    "It holds 20 litres: “holds 20 litres of coolant” [1]. It was “painted green in Dublin” [1]. "
    "See [1] and [77]."
)


def say(words: str) -> Handler:
    """A reply that takes long enough to be seen being written."""

    async def answer(_asked: Asked, answer: Answer) -> None:
        await answer.stream()
        half = len(words) // 2
        await answer.words([words[:half], words[half:]], pause=0.15)
        await answer.end()

    return answer


@pytest.fixture(autouse=True)
def quick(shallow_starter: None) -> None:
    """No test here needs the starter model's words."""


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "Manuals & more"
    root.mkdir()
    (root / "pump.md").write_text(
        "# Pump P-7\n\nThe pump was built in 1987.\n\n## Coolant\n\nThe tank holds 20 litres of "
        "coolant. Change it each spring.\n",
        encoding="utf-8",
    )
    (root / "garden.txt").write_text(
        "Tulips are planted in autumn, ten centimetres deep.\n" * 3, encoding="utf-8"
    )
    (root / "ドア.md").write_text("# 扉\n\n扉の鍵は箱の中にあります。\n", encoding="utf-8")
    (root / "photo.png").write_bytes(b"\x89PNG")
    return root


async def picture(app: App, name: str) -> None:
    """A picture of the window, where pictures are wanted."""
    if PICTURES:
        await asyncio.sleep(0.4)
        app.window.grab().save(f"{PICTURES}/{name}.png")


async def read(app: App) -> None:
    await app.controllers.settle()
    await app.services.knowledge.knowledge.indexing.settled()
    app.controllers.knowledge.list()
    await app.controllers.settle()


async def with_folder(app: App, folder: Path) -> None:
    """The folder is indexed, and searched by the open chat."""
    app.controllers.knowledge.add(str(folder))
    await read(app)
    edit = app.window.composer.edit
    edit.setFocus()
    QTest.keyClicks(edit, "#man")
    menu = app.window.composer.source_menu
    await until(lambda: menu.isVisible())
    assert menu.titles == ["Manuals & more"]
    QTest.keyClick(edit, Qt.Key.Key_Return)
    await app.controllers.settle()
    assert edit.toPlainText() == ""


def marks(app: App) -> list[CitedMark]:
    host = app.window.transcript.host
    shown = app.window.transcript.column.shown_blocks()
    return [mark for _message, _number, block in shown for mark in host.cited_in(block)]


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


async def test_nothing_found_is_said_and_nothing_is_given(
    running: OpenApp, server: ScriptedServer, folder: Path
) -> None:
    async with running() as app:
        await use(app, server)
        server.script = [say("I do not know.")]
        await with_folder(app, folder)
        await ask(app, "Who composed the ninth symphony?")
        question, _ = await branch(app)
        assert passages_in(question.parts) == []
        assert FOUND not in str(server.asked[-1].body)
        assert app.window.toast.isVisible()
        assert "Nothing found" in app.window.toast.findChild(QLabel).text()


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


async def test_a_page_of_a_pdf_is_shown_as_it_looks(
    running: OpenApp, server: ScriptedServer, folder: Path
) -> None:
    lines = [f"Filler of line {number}, with words of no interest." for number in range(44)]
    second = [*lines[:20], "The boiler holds 77 litres of water.", *lines[21:]]
    (folder / "boiler.pdf").write_bytes(pdf(["\n".join(lines), "\n".join(second), "The end."]))
    async with running() as app:
        await use(app, server)
        server.script = [say("It “holds 77 litres of water” [1].")]
        await with_folder(app, folder)
        await ask(app, "How many litres does the boiler hold?")
        found = passages_in((await branch(app))[0].parts)
        assert (found[0].name, found[0].page) == ("boiler.pdf", 2)
        app.window.transcript.host.open_citation(marks(app)[0])
        window = app.window.knowledge.passage
        assert window is not None
        await until(lambda: window.bar.isVisible())
        assert window.shown.currentWidget() is window.view
        assert len(window.view.page.marks) == 1
        assert "Page 2 of 3" in window.number.text()
        await picture(app, "page-of-pdf")
        window.after.click()
        await until(lambda: "Page 3 of 3" in window.number.text())
        assert window.view.page.marks == ()
        assert not window.after.isEnabled()
        window.kind.buttons["text"].click()
        assert window.shown.currentWidget() is window.text
        assert window.marked == "holds 77 litres of water"
        window.reject()
        # the file has changed: its text as it was read is shown, and nothing is drawn
        (folder / "boiler.pdf").write_bytes(pdf(["Another text altogether."]))
        app.window.transcript.host.open_citation(marks(app)[0])
        window = app.window.knowledge.passage
        assert window is not None
        await until(lambda: window.marked != "")
        await app.controllers.settle()
        assert not window.bar.isVisible()


async def test_a_folder_of_chats_gives_its_documents_to_all_of_them(
    running: OpenApp, server: ScriptedServer, folder: Path
) -> None:
    async with running() as app:
        await use(app, server)
        folders = app.controllers.folders
        path = await app.services.folders.make("Plant")
        folders.open(path)
        await app.controllers.settle()
        settings = app.window.order.settings
        assert settings is not None
        assert settings.documents is not None
        app.window.order.add_documents([str(folder / "pump.md"), str(folder / "garden.txt")])
        await app.controllers.settle()
        assert [one.name for one in settings.documents.documents] == ["pump.md", "garden.txt"]
        await picture(app, "folder-documents")
        settings.documents.rows[1].findChild(QToolButton).click()
        await app.controllers.settle()
        stored = (await app.services.folders.get(path)).options.pinned
        assert [one.name for one in stored] == ["pump.md"]
        settings.reject()
        # the file changes, and the folder has another name: the text stays
        await app.services.folders.rename(path, "Works")
        text = (folder / "pump.md").read_text("utf-8").replace("20 litres", "30 litres")
        (folder / "pump.md").write_text(text, encoding="utf-8")
    async with running() as app:
        await until(lambda: not app.services.knowledge.knowledge.indexing.busy)
        await read(app)
        (works,) = [one for one in await app.services.folders.all() if one.path == "Works"]
        app.window.new_chat(folder=works)
        await app.controllers.settle()
        server.script = [say("20.")]
        await ask(app, "How much does the tank hold?")
        assert "holds 20 litres" in server.asked[-1].body["messages"][0]["content"]
        app.window.show_sources()
        await app.controllers.settle()
        said = [one.text() for one in app.window.inspector.knowledge.pinned.findChildren(QLabel)]
        assert any("folder" in one for one in said), said


async def test_a_file_inside_a_folder_is_named_in_a_message(
    running: OpenApp, server: ScriptedServer, folder: Path
) -> None:
    async with running() as app:
        app.controllers.knowledge.add(str(folder))
        await read(app)
        edit, menu = app.window.composer.edit, app.window.composer.source_menu
        edit.setFocus()
        QTest.keyClicks(edit, "see #pum")
        await until(lambda: menu.titles == ["pump.md"])
        QTest.keyClicks(edit, "p")
        assert menu.titles == ["pump.md"]
        await picture(app, "menu-of-files")
        QTest.keyClick(edit, Qt.Key.Key_Return)
        await app.controllers.settle()
        await read(app)
        assert edit.toPlainText() == "see "
        chips = [one.text() for one in app.window.composer.source_chips.chips]
        assert len(chips) == 1
        assert "pump.md" in chips[0]
        await use(app, server)
        server.script = [say("20.")]
        await ask(app, "tulips coolant litres")
        found = passages_in((await branch(app))[0].parts)
        assert {one.name for one in found} == {"pump.md"}, "the rest of the folder is not searched"


async def test_a_passage_given_long_ago_is_still_opened_by_its_mark(
    running: OpenApp, server: ScriptedServer, folder: Path
) -> None:
    async with running() as app:
        await use(app, server)
        server.script = [say("20.")]
        await with_folder(app, folder)
        await ask(app, "How much coolant does the pump hold?")
        chat_id = app.controllers.open.id
        last = (await branch(app))[-1]
        more, parent = list[Message](), last.id
        for number in range(90):
            role = Role.ASSISTANT if number % 2 else Role.USER
            text = "As said, it “holds 20 litres of coolant” [1]." if number == 89 else "And?"
            parts, status = text_part(text), MessageStatus.COMPLETE
            more.append(Message(new_id(), chat_id, parent, role, status, parts, now_ms()))
            parent = more[-1].id
        await app.services.branches._databases.run(chat_id, lambda store: store.messages.add(more))
        app.controllers.branch.refresh(chat_id)
        await app.controllers.settle()
        app.window.new_chat()
        await app.controllers.settle()
        app.controllers.branch.open_chat(chat_id)
        await app.controllers.settle()
        items = app.window.transcript.column.items
        assert len(items) < 90
        await until(lambda: bool(marks(app)))
        (mark,) = marks(app)
        assert mark.state is Cited.FOUND
        assert mark.part.name == "pump.md"
