"""Text goes from the keyboard to the database word for word, emoji and input methods included."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QWidget

from headstart.assembly import App
from headstart.ui.kit.composing import word_in
from headstart.ui.shell.input_method import choose_plugin
from headstart.ui.transcript.insert_window import InsertWindow
from tests.conftest import OpenApp, until
from tests.support.driver import branch, reply_done, stored_chat, use_sampling

ODD = "  two\u00a0spaces, a line\u2028separator, 😀 and a tab\t \n"


@pytest.fixture(autouse=True)
def no_button_is_pressed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Qt remembers a button that another test pressed and never let go."""
    none = Qt.MouseButton.NoButton
    monkeypatch.setattr(QGuiApplication, "mouseButtons", staticmethod(lambda: none))


def _compose(app: App, word: str) -> None:
    QApplication.sendEvent(app.window.composer.edit, QInputMethodEvent(word, []))


async def _focus(app: App, field: QWidget) -> None:
    app.window.activateWindow()
    field.setFocus()
    await until(field.hasFocus)


async def _question(app: App) -> str:
    """What was sent, once it is answered."""
    await until(lambda: app.controllers.reply.writing)
    await reply_done(app)
    return (await branch(app))[0].text


@pytest.mark.parametrize("way", ["typed", "pasted"])
async def test_a_message_is_stored_as_it_was_written(running: OpenApp, way: str) -> None:
    async with running() as app:
        use_sampling(app)
        edit = app.window.composer.edit
        edit.setFocus()
        if way == "pasted":
            QGuiApplication.clipboard().setText(ODD)
            edit.paste()
        else:
            edit.insertPlainText(ODD)
        app.window.composer.button.click()
        assert (await _question(app)) == ODD


async def test_what_shows_nothing_is_no_message(running: OpenApp) -> None:
    async with running() as app:
        composer = app.window.composer
        for text in (" \n ", "\u200b", "\u2800", "\u00a0"):
            composer.edit.setPlainText(text)
            assert not composer.button.isEnabled()
            composer.edit.submitted.emit()
        await app.controllers.settle()
        assert stored_chat(app) is None


async def test_an_emoji_before_the_cursor_costs_no_letters(running: OpenApp) -> None:
    async with running() as app:
        edit = app.window.composer.edit
        edit.setFocus()
        edit.insertPlainText("😀😀\n- abc")
        QTest.keyClick(edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
        assert edit.toPlainText() == "😀😀\n- abc\n- "
        edit.setPlainText("")
        edit.insertPlainText("😀😀😀\n```\nx")
        QTest.keyClick(edit, Qt.Key.Key_Return)
        assert edit.toPlainText() == "😀😀😀\n```\nx\n"


async def test_a_word_that_is_composed_is_sent_and_hides_the_hint(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app)
        composer = app.window.composer
        await _focus(app, composer.edit)
        shown = QPlainTextEdit.placeholderText
        _compose(app, "にほん")
        assert composer.edit.placeholderText()
        assert shown(composer.edit) == ""
        _compose(app, "")
        assert shown(composer.edit) == composer.edit.placeholderText()
        composer.edit.insertPlainText("Say ")
        _compose(app, "日本")
        assert composer.text() == "Say "
        QTest.mouseClick(composer.button, Qt.MouseButton.LeftButton)
        assert (await _question(app)) == "Say 日本"


async def test_a_first_word_can_be_sent_while_it_is_composed(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app)
        composer = app.window.composer
        await _focus(app, composer.edit)
        _compose(app, "日本")
        assert composer.text() == ""
        assert composer.button.isEnabled()
        _compose(app, "")
        assert not composer.button.isEnabled()
        _compose(app, "日本語")
        QTest.mouseClick(composer.button, Qt.MouseButton.LeftButton)
        assert (await _question(app)) == "日本語"
        window = InsertWindow(app.window)
        window.show()
        window.edit.setFocus()
        await until(window.edit.hasFocus)
        assert not window.insert.isEnabled()
        QApplication.sendEvent(window.edit, QInputMethodEvent("語", []))
        assert window.insert.isEnabled()
        said: list[tuple[str, str]] = []
        window.submitted.connect(lambda who, text: said.append((who, text)))
        QTest.mouseClick(window.insert, Qt.MouseButton.LeftButton)
        assert said == [("user", "語")]


@pytest.mark.parametrize("way", ["field", "line"])
async def test_a_click_elsewhere_keeps_a_word_that_is_thrown_away(
    running: OpenApp, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As ibus's anthy does it, asked by Qt when the keyboard goes to what is clicked."""
    async with running() as app:
        field = app.window.composer.edit if way == "field" else app.window.sidebar.search
        await _focus(app, field)
        QApplication.sendEvent(field, QInputMethodEvent("日本", []))
        assert word_in(field) == "日本"
        # Esc, or the last letter taken back
        QApplication.sendEvent(field, QInputMethodEvent("", []))
        assert (_words(field), word_in(field)) == ("", "")
        QApplication.sendEvent(field, QInputMethodEvent("日本語", []))
        pressed = Qt.MouseButton.LeftButton
        monkeypatch.setattr(QGuiApplication, "mouseButtons", staticmethod(lambda: pressed))
        QApplication.sendEvent(field, QInputMethodEvent("", []))
        assert (_words(field), word_in(field)) == ("日本語", "")


def _words(field: QWidget) -> str:
    return field.text() if isinstance(field, QLineEdit) else field.property("plainText")


@pytest.mark.parametrize(
    ("given", "files", "wanted"),
    [
        ({"QT_IM_MODULE": "fcitx"}, ["libibusplugin.so"], {"QT_IM_MODULE": "ibus"}),
        ({"QT_IM_MODULE": "fcitx5"}, ["libibusplugin.so"], {"QT_IM_MODULE": "ibus"}),
        ({"QT_IM_MODULES": "fcitx;xim"}, ["libibusplugin.so"], {"QT_IM_MODULES": "ibus"}),
        ({"QT_IM_MODULE": "fcitx"}, ["libfcitx5plugin.so"], {"QT_IM_MODULE": "fcitx"}),
        ({"QT_IM_MODULE": "ibus"}, [], {"QT_IM_MODULE": "ibus"}),
        ({}, [], {}),
    ],
)
def test_an_input_method_without_a_plugin_is_reached_by_another(
    given: dict[str, str], files: list[str], wanted: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "platforminputcontexts").mkdir()
    for name in files:
        (tmp_path / "platforminputcontexts" / name).touch()
    environment = dict(given)
    choose_plugin(environment, tmp_path, "linux")
    assert environment == wanted
    elsewhere = dict(given)
    choose_plugin(elsewhere, tmp_path, "darwin")
    assert elsewhere == given
