"""A long paste is an attachment that opens, is edited, and turns back into the message."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from headstart.assembly import App
from headstart.core.chats.parts import FilePart
from headstart.ui.attachment_window import AttachmentWindow
from tests.conftest import OpenApp, until
from tests.support.driver import branch, stored_chat, use_sampling
from tests.ui.test_attachments import chips, names, send

LETTER = "Dear harbour master,\r\n\tthe tide \u00a0 comes at noon.\u2003\n" * 120


async def paste(app: App, text: str, keys: str = "plain") -> None:
    QGuiApplication.clipboard().setText(text)
    edit = app.window.composer.edit
    edit.setFocus()
    modifiers = Qt.KeyboardModifier.ControlModifier
    if keys == "here":
        modifiers |= Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(edit, Qt.Key.Key_V, modifiers)


async def pasted(app: App, text: str) -> AttachmentWindow:
    """Paste a long text, and open its chip."""
    await paste(app, text)
    await until(lambda: bool(chips(app)) and app.window.composer.attachments.ready)
    chips(app)[-1].opened.emit(chips(app)[-1].attachment.id)
    window = app.window.attachments.window
    assert window is not None
    return window


async def test_a_long_paste_is_a_chip_and_reaches_the_model_word_for_word(
    running: OpenApp,
) -> None:
    async with running() as app:
        use_sampling(app)
        await paste(app, LETTER)
        await until(lambda: names(app) == ["Pasted text.txt"])
        assert app.window.composer.text() == ""
        await paste(app, LETTER + "P.S.")
        await until(lambda: names(app) == ["Pasted text.txt", "Pasted text 2.txt"])
        await until(lambda: app.window.composer.attachments.ready)
        chips(app)[1].cross.click()
        await until(lambda: names(app) == ["Pasted text.txt"])
        await send(app)
        part = (await branch(app))[0].parts[0]
        assert isinstance(part, FilePart)
        assert part.text == QGuiApplication.clipboard().text().removesuffix("P.S.")
        chat = stored_chat(app)
        assert chat is not None
        title = app.window.sidebar.model.index_of(chat).data()
        assert title == "Dear harbour master"


@pytest.mark.parametrize("long_paste", [0, 100_000])
async def test_the_setting_keeps_pastes_in_the_message(running: OpenApp, long_paste: int) -> None:
    async with running() as app:
        app.services.preferences.update(long_paste=long_paste)
        await paste(app, "word " * 2000)
        assert app.window.composer.text() == "word " * 2000
        assert chips(app) == []


async def test_a_short_paste_and_one_with_shift_stay_in_the_message(running: OpenApp) -> None:
    async with running() as app:
        await paste(app, "x" * 3_999)
        assert app.window.composer.text() == "x" * 3_999
        app.window.composer.set_text("")
        await paste(app, "word " * 2000, "here")
        assert app.window.composer.text() == "word " * 2000
        assert chips(app) == []


async def test_text_moved_inside_the_message_stays_there(running: OpenApp) -> None:
    async with running() as app:
        edit = app.window.composer.edit
        moved = QMimeData()
        moved.setText("word " * 2000)
        with edit.keeping():
            edit.insertFromMimeData(moved)
        assert app.window.composer.text() == "word " * 2000


async def test_it_is_edited_however_the_window_is_closed(running: OpenApp) -> None:
    async with running() as app:
        for close in (AttachmentWindow.reject, AttachmentWindow.accept, AttachmentWindow.close):
            window = await pasted(app, "word " * 1000)
            assert not window.text.isReadOnly()
            window.text.setPlainText("A shorter text.")
            close(window)
            await until(lambda: _text(app) == "A shorter text.")
            chip = chips(app)[0]
            assert chip.attachment.name == "Pasted text.txt"
            window = await _open(app)
            window.text.setPlainText(" \n")
            window.reject()
            await until(lambda: not chips(app))


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n", "\u2029", "\u2028"], ids=ascii)
async def test_line_ends_stay_through_the_window(running: OpenApp, end: str) -> None:
    async with running() as app:
        text = f"A line of\u00a0words.{end}" * 400
        (await pasted(app, text)).reject()
        await app.controllers.settle()
        assert _text(app) == text
        window = await _open(app)
        window.text.appendPlainText("The last one.")
        window.reject()
        await until(lambda: "The last" in _text(app))
        assert _text(app).startswith(text)


async def test_a_saved_copy_is_the_text_as_it_is_shown(running: OpenApp, tmp_path: Path) -> None:
    async with running() as app:
        text = "A line.\r\n" * 600
        window = await pasted(app, text)
        copy = tmp_path / "copy.txt"
        for typed in ("", "And one more."):
            window.text.insertPlainText(typed)
            window.save.click()
            app.window.findChildren(QFileDialog)[-1].fileSelected.emit(str(copy))
            await until(lambda wanted=typed + text: _read(copy) == wanted)
        window.reject()
        await until(lambda: _text(app) == "And one more." + text)


async def test_it_turns_back_into_the_message(running: OpenApp) -> None:
    async with running() as app:
        app.window.composer.edit.insertPlainText("Before. ")
        window = await pasted(app, "word " * 1000)
        window.text.moveCursor(window.text.textCursor().MoveOperation.End)
        window.text.insertPlainText("and more")
        window.into.click()
        await until(lambda: not chips(app))
        assert app.window.composer.text() == "Before. " + "word " * 1000 + "and more"


async def test_parts_of_it_are_chosen(running: OpenApp) -> None:
    async with running() as app:
        window = await pasted(app, "".join(f"Line {number}.\n" for number in range(2000)))
        window.choose.click()
        await until(lambda: app.window.attachments.pages is not None)
        pages = app.window.attachments.pages
        assert pages is not None
        pages.numbers.setText("1")
        pages.numbers.textEdited.emit("1")
        pages.use.click()
        await until(lambda: "Line 1999" not in _text(app))
        assert _text(app).startswith("[Part 1]\nLine 0.")


async def test_what_is_edited_is_what_parts_are_chosen_from_and_what_is_sent(
    running: OpenApp,
) -> None:
    async with running() as app:
        use_sampling(app)
        window = await pasted(app, "word " * 2000)
        window.text.setPlainText("".join(f"Line {number}.\n" for number in range(2000)))
        window.choose.click()
        # the old text cannot be sent meanwhile
        assert not app.window.composer.attachments.ready
        assert len(chips(app)) == 1
        await until(lambda: app.window.attachments.pages is not None)
        pages = app.window.attachments.pages
        assert pages is not None
        pages.numbers.textEdited.emit("2")
        pages.use.click()
        await until(lambda: "Line 1999" not in _text(app))
        assert "word word" not in _text(app)
        assert "Line 500." in _text(app)


def _read(path: Path) -> str | None:
    return path.read_bytes().decode() if path.exists() else None


def _text(app: App) -> str:
    part = chips(app)[0].attachment.part if chips(app) else None
    return part.text if isinstance(part, FilePart) else ""


async def _open(app: App) -> AttachmentWindow:
    chips(app)[0].opened.emit(chips(app)[0].attachment.id)
    window = app.window.attachments.window
    assert window is not None
    return window
