"""Chats in and out, as a user does it in the window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from headstart.assembly import App
from headstart.ui.transcript.column import message_of
from tests.conftest import OpenApp, until
from tests.support import conversation_files as files
from tests.support.driver import ask, stored_chat, use_sampling
from tests.support.large_export import write_export
from tests.support.plain import plain


async def import_file(app: App, path: Path) -> None:
    """Through the window's dialog, to its end."""
    app.window.transfer.import_files([str(path)])
    await app.controllers.settle()
    window = app.window.transfer.importing
    assert window is not None
    QTest.mouseClick(window.take, Qt.MouseButton.LeftButton)
    await app.controllers.settle()


def lines(app: App) -> list[str]:
    model = app.window.sidebar.model
    return [str(model.index(row).data()) for row in range(model.rowCount())]


async def test_a_dropped_export_is_shown_first_and_then_comes_in(
    running: OpenApp, tmp_path: Path
) -> None:
    path = tmp_path / "conversations.json"
    path.write_bytes(files.dumps([files.chatgpt(), {"mapping": 3}]))
    async with running() as app:
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path))])
        event = QDropEvent(
            QPointF(50, 50),
            Qt.DropAction.CopyAction,
            data,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        app.window.dropEvent(event)
        await app.controllers.settle()
        window = app.window.transfer.importing
        assert window is not None
        assert plain(window.summary.text()) == "1 new chat can be imported."
        assert window.chats.topLevelItem(0).text(0) == "A vector, please"
        assert window.chats.topLevelItem(0).text(1) == "ChatGPT"
        assert "Left out 1" in plain(window.tabs.tabText(1))
        assert "A vector, please" not in lines(app)
        QTest.mouseClick(window.take, Qt.MouseButton.LeftButton)
        await until(lambda: "A vector, please" in lines(app))
        await until(
            lambda: plain(window.summary.text()).startswith("Imported 1 new chat: 4 messages")
        )
        window.end.click()
        assert app.window.transfer.importing is None
        # once more: nothing is new
        app.window.transfer.import_files([str(path)])
        await app.controllers.settle()
        window = app.window.transfer.importing
        assert window is not None
        assert "here already" in plain(window.summary.text())
        assert not window.take.isEnabled()
        window.end.click()


async def test_an_imported_chat_is_opened_and_goes_on(running: OpenApp, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(files.dumps([files.claude()]))
    async with running() as app:
        use_sampling(app)
        await import_file(app, path)
        chats = await app.services.chat_list.summaries()
        app.window.open_chat(chats[0].id)
        await app.controllers.settle()
        reply = await ask(app, "And now?")
        assert reply.parent_id is not None
        page = await app.services.branches.whole(chats[0].id)
        assert [message.text for message in page][1:2] == ["Notes, it says."]
        assert page[-1].id == reply.id


async def test_the_open_chat_goes_out_as_every_format(running: OpenApp, tmp_path: Path) -> None:
    async with running() as app:
        use_sampling(app)
        await ask(app, f"Keep this.\n\n{files.FENCE}")
        starts = {
            "headstart": b"{",
            "markdown": b"---",
            "html": b"<!doctype html>",
            "pdf": b"%PDF",
            "odt": b"PK",
            "text": b"",
            "trace": b'{"type":"session"',
            "training": b'{"messages"',
        }
        for code, start in starts.items():
            app.window.commands.run("chat.export")
            window = app.window.transfer.exporting
            assert window is not None
            window.form.setCurrentIndex(window.form.findData(code))
            path = tmp_path / f"chat.{code}"
            window.begin(str(path))
            await app.controllers.settle()
            assert path.read_bytes().startswith(start), code
            assert len(path.read_bytes()) > 100
            assert app.window.transfer.exporting is None
        # the last format is offered first
        app.window.commands.run("chat.export")
        window = app.window.transfer.exporting
        assert window is not None
        assert window.form.currentData() == "training"
        assert not window.branches.isVisible()
        window.end.click()
        page = (tmp_path / "chat.html").read_text(encoding="utf-8")
        assert "#include" in page
        assert stored_chat(app) is not None


async def test_all_chats_go_out_and_come_back_elsewhere(running: OpenApp, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(files.dumps([files.chatgpt(), files.chatgpt(conversation_id="2")]))
    async with running() as app:
        await import_file(app, path)
        app.window.commands.run("chats.export")
        window = app.window.transfer.exporting
        assert window is not None
        window.form.setCurrentIndex(window.form.findData("headstart"))
        target = tmp_path / "all.headstart.zip"
        window.begin(str(target))
        await app.controllers.settle()
        said = [label.text() for label in app.window.toast.findChildren(QLabel)]
        assert any(isinstance(text, str) and "2 chats exported" in plain(text) for text in said)
        assert target.exists()
        # or some of them
        app.window.commands.run("chats.export")
        await app.controllers.settle()
        window = app.window.transfer.exporting
        assert window is not None
        window.scope.setCurrentIndex(1)
        assert not window.go.isEnabled()
        assert window.list.count() == 2
        window.list.item(1).setCheckState(Qt.CheckState.Checked)
        assert window.go.isEnabled()
        window.form.setCurrentIndex(window.form.findData("markdown"))
        folder = tmp_path / "some"
        folder.mkdir()
        window.begin(str(folder))
        await app.controllers.settle()
        assert len(list(folder.iterdir())) == 1


async def test_a_chat_and_a_message_are_copied_in_three_forms(
    running: OpenApp, tmp_path: Path
) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(files.dumps([files.chatgpt()]))
    async with running() as app:
        await import_file(app, path)
        (chat,) = await app.services.chat_list.summaries()
        app.window.open_chat(chat.id)
        await app.controllers.settle()
        reply = (await app.services.branches.whole(chat.id))[1]
        clipboard = QGuiApplication.clipboard()
        view = app.window.transcript
        view.copy_requested.emit(reply.id, "markdown")
        await app.controllers.settle()
        assert clipboard.text().endswith(f"The second answer.\n\n{files.LATEX}")
        view.copy_requested.emit("", "formatted")
        await app.controllers.settle()
        assert clipboard.text().startswith("---\ntitle:")
        assert "<pre><code" in clipboard.mimeData().html()
        question = (await app.services.branches.whole(chat.id))[0]
        view.copy_requested.emit(question.id, "plain")
        await app.controllers.settle()
        # the user's words are no Markdown
        assert clipboard.text() == f"How do I make a vector?\n\n{files.FENCE}"
        assert message_of(view.column.items, view.widget_of(reply.id)) == reply.id


async def test_a_chat_that_is_dragged_out_becomes_a_file(
    running: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(files.dumps([files.chatgpt()]))
    dragged: list[str] = []
    async with running() as app:
        await import_file(app, path)
        app.controllers.transfer.dragged.connect(dragged.append)
        (chat,) = await app.services.chat_list.summaries()
        app.window.open_chat(chat.id)
        await app.controllers.settle()
        app.window.sidebar.view.startDrag(Qt.DropAction.CopyAction)
        await app.controllers.settle()
        (file,) = dragged
        assert Path(file).name == "A vector, please.md"
        assert files.FENCE in Path(file).read_text(encoding="utf-8")


async def test_a_backup_is_made_and_restored_from_the_settings(
    running: OpenApp, tmp_path: Path
) -> None:
    source = tmp_path / "x.json"
    source.write_bytes(files.dumps([files.chatgpt()]))
    backup = tmp_path / "all.headstart-backup.zip"
    async with running() as app:
        app.services.preferences.update(system_prompt="Be kind.")
        await import_file(app, source)
        app.window.commands.run("chats.backups")
        assert app.window.settings.page is not None
        page = app.window.settings.page.files
        page.backup_requested.emit(str(backup))
        await until(backup.exists)
        await app.controllers.settle()
        assert not page.bar.isVisible()
        (chat,) = await app.services.chat_list.summaries()
        await app.services.chat_list.delete(chat.id)
        await app.services.chat_list.delete_for_good([chat.id])
        await app.controllers.settle()
        assert lines(app) == []
        page.restore_requested.emit(str(backup))
        await app.controllers.settle()
        window = app.window.transfer.importing
        assert window is not None
        assert plain(window.windowTitle()) == "Restore from a backup"
        assert "1 new chat can be imported" in plain(window.summary.text())
        assert not window.settings.isHidden()
        QTest.mouseClick(window.take, Qt.MouseButton.LeftButton)
        await until(lambda: "A vector, please" in lines(app))
        page.restore_requested.emit(str(source))
        await app.controllers.settle()
        assert app.window.transfer.importing is not None
        assert "is no backup" in plain(app.window.transfer.importing.summary.text())


async def test_the_mirror_is_chosen_in_the_settings(running: OpenApp, tmp_path: Path) -> None:
    folder = tmp_path / "mirror"
    folder.mkdir()
    source = tmp_path / "x.json"
    source.write_bytes(files.dumps([files.chatgpt()]))
    async with running() as app:
        app.window.settings.open("files")
        assert app.window.settings.page is not None
        page = app.window.settings.page.files
        page.choose_mirror(str(folder))
        await import_file(app, source)
        await until(lambda: (folder / "A vector, please.md").exists())
        page.stop.click()
        assert app.services.preferences.current.mirror_folder == ""
    assert (folder / "A vector, please.md").exists()


async def test_escape_ends_an_import_that_is_going_on(running: OpenApp, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_export(path, 3_000, 20_000_000)
    async with running() as app:
        app.window.transfer.import_files([str(path)])
        await app.controllers.settle()
        window = app.window.transfer.importing
        assert window is not None
        window.take.click()
        await until(window.bar.isVisible)
        QTest.keyClick(window, Qt.Key.Key_Escape)
        await app.controllers.settle()
        assert app.window.transfer.importing is None
        assert len(await app.services.chat_list.summaries()) < 3_000


async def test_chats_of_a_file_are_chosen_and_the_first_is_opened(
    running: OpenApp, tmp_path: Path
) -> None:
    path = tmp_path / "conversations.json"
    chats = [files.chatgpt(conversation_id=f"{n}", title=f"Chat number {n}") for n in range(4)]
    path.write_bytes(files.dumps(chats))
    async with running() as app:
        app.window.transfer.import_files([str(path)])
        await app.controllers.settle()
        window = app.window.transfer.importing
        assert window is not None
        assert plain(window.take.text()) == "Import 4 chats"
        window.all.click()
        assert not window.take.isEnabled()
        for row in (1, 3):
            window.chats.topLevelItem(row).setCheckState(0, Qt.CheckState.Checked)
        assert window.all.checkState() is Qt.CheckState.PartiallyChecked
        assert plain(window.take.text()) == "Import 2 chats"
        window.take.click()
        await until(window.open_it.isVisible)
        assert plain(window.summary.text()).startswith("Imported 2 new chats")
        names = [window.chats.topLevelItem(row).text(0) for row in range(2)]
        assert window.chats.topLevelItemCount() == 2
        assert names == ["Chat number 1", "Chat number 3"]
        window.open_it.click()
        await until(lambda: app.window.header.title.full_text == "Chat number 1")
        titles = {chat.title for chat in await app.services.chat_list.summaries()}
        assert titles == set(names)
        assert app.window.transfer.importing is None
        # the others can still come in
        app.window.transfer.import_files([str(path)])
        await app.controllers.settle()
        assert app.window.transfer.importing is not None
        assert plain(app.window.transfer.importing.take.text()) == "Import 2 chats"
