"""Places in files, as the user meets them: pages of PDFs, documents of folders of chats, single
files, passages from long ago. The model is a server that is scripted.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QToolButton

from headstart.core.chats.parts import text_part
from headstart.core.chats.values import Message, MessageStatus, Role, new_id, now_ms
from headstart.core.knowledge.citations import Cited
from headstart.core.knowledge.passages import passages_in
from headstart.ui.models.page import ModelsPage
from tests.conftest import OpenApp, until
from tests.e2e.test_tools_window import use
from tests.support.documents import pdf
from tests.support.driver import ask, branch
from tests.support.knowledge_window import marks, picture, read, say, with_folder
from tests.support.scripted_server import ScriptedServer


@pytest.fixture(autouse=True)
def quick(shallow_starter: None) -> None:
    """No test here needs the starter model's words."""


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
        # as fast as anyone clicks
        for _ in range(5):
            window.before.click()
        await until(lambda: "Page 1 of 3" in window.number.text())
        assert not window.before.isEnabled()
        for _ in range(5):
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
        # a document that is read for one folder is not another's
        other = await app.services.folders.make("Other")
        app.window.order.add_documents([str(folder / "garden.txt")])
        folders.open(other)
        await app.controllers.settle()
        kept = {one.path: one.options.pinned for one in await app.services.folders.all()}
        assert [one.name for one in kept[path]] == ["pump.md", "garden.txt"]
        assert kept[other] == ()
        app.window.order.settings.reject()
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
        await app.parts.storage.run(lambda store: store.messages.add(more))
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


async def test_a_small_embedding_model_is_offered_by_name(running: OpenApp, folder: Path) -> None:
    """The search for it waits for the user: nothing is asked of the network unasked."""
    async with running() as app:
        page = app.window.settings.open("knowledge").knowledge
        page.add_requested.emit(str(folder), False)
        await read(app)
        assert page.small_model.isVisible()
        page.small_model.click()
        await app.controllers.settle()
        models = app.window.findChild(ModelsPage)
        assert models is not None
        assert models.tabs.currentWidget() is models.discover
        assert "all-MiniLM-L6-v2" in models.discover.row.field.text()
