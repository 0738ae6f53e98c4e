"""Letters go into the message, unless a field has the keyboard."""

from __future__ import annotations

import asyncio

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QHBoxLayout,
    QPushButton,
    QSpinBox,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from headstart.assembly import App
from headstart.core.servers import Connection
from headstart.ui.kit.focus import in_reading_order
from tests.conftest import OpenApp, until
from tests.support.driver import ask, reply_done, stored_chats, use_sampling
from tests.support.plain import plain
from tests.support.scripted_server import ScriptedServer
from tests.support.sheets import asked

TITLES = ("Binary search", "Trip to Lisbon", "Hello world")


def _type(text: str) -> None:
    """As a keyboard does: to whatever has it."""
    for letter in text:
        target = QApplication.focusWidget()
        assert target is not None
        press = QKeyEvent(QEvent.Type.KeyPress, 0, Qt.KeyboardModifier.NoModifier, letter)
        QApplication.sendEvent(target, press)


def _click_chat(app: App, chat_id: str) -> None:
    view = app.window.sidebar.view
    place = view.visualRect(app.window.sidebar.model.index_of(chat_id)).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)


def _click(widget: QWidget) -> None:
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=widget.rect().center())


async def _opened(app: App, chat_id: str) -> None:
    await until(lambda: app.controllers.open.id == chat_id)
    await app.controllers.settle()


async def test_after_a_click_on_a_chat_one_writes_in_it(running: OpenApp) -> None:
    async with running() as app:
        app.window.activateWindow()
        first, second, third = await stored_chats(app, *TITLES)
        for chat_id in (first, second, third):
            _click_chat(app, chat_id)
            await _opened(app, chat_id)
            assert app.window.composer.edit.hasFocus()
            _type("trip hello")
            # no chat whose title begins so was opened, no letter is lost
            await app.controllers.settle()
            assert app.controllers.open.id == chat_id
            assert app.window.composer.text() == "trip hello"
            app.window.composer.edit.clear()


async def test_with_the_keys_enter_goes_from_the_list_into_the_message(running: OpenApp) -> None:
    async with running() as app:
        app.window.activateWindow()
        ids = await stored_chats(app, *TITLES)
        view = app.window.sidebar.view
        view.setFocus()
        view.setCurrentIndex(app.window.sidebar.model.index_of(ids[1]))
        await _opened(app, ids[1])
        assert view.hasFocus(), "arrows go on through the list"
        QTest.keyClick(view, Qt.Key.Key_Return)
        assert app.window.composer.edit.hasFocus()


async def test_letters_typed_in_the_list_do_not_search_it(running: OpenApp) -> None:
    async with running() as app:
        app.window.activateWindow()
        ids = await stored_chats(app, *TITLES)
        _click_chat(app, ids[0])
        await _opened(app, ids[0])
        app.window.sidebar.view.setFocus()
        _type("Trip 😀")
        await app.controllers.settle()
        assert app.controllers.open.id == ids[0]
        assert app.window.composer.text() == "Trip 😀"
        # keys that do something still do it
        app.window.sidebar.view.setFocus()
        QTest.keyClick(app.window.sidebar.view, Qt.Key.Key_Down)
        assert app.window.sidebar.view.hasFocus()


@pytest.mark.parametrize("where", ["transcript", "button", "panel button", "window"])
async def test_letters_typed_outside_of_a_field_go_to_the_message(
    running: OpenApp, where: str
) -> None:
    async with running() as app:
        window = app.window
        window.activateWindow()
        (chat_id,) = await stored_chats(app, "Rivers")
        window.open_chat(chat_id)
        await _opened(app, chat_id)
        target: QWidget = {
            "transcript": window.transcript,
            "button": window.header.inspector_button,
            "panel button": window.inspector.findChildren(QToolButton)[0],
            "window": window,
        }[where]
        target.setFocus(Qt.FocusReason.TabFocusReason)
        _type("x")
        assert window.composer.text() == "x"
        assert window.composer.edit.hasFocus()
        # commands are not letters
        target.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.AltModifier)
        assert window.composer.text() == "x"


async def test_a_field_keeps_what_is_typed_into_it(running: OpenApp) -> None:
    async with running() as app:
        window = app.window
        window.activateWindow()
        await stored_chats(app, *TITLES)
        window.sidebar.search.setFocus()
        _type("lis")
        assert window.sidebar.search.text() == "lis"
        assert window.composer.text() == ""
        await until(lambda: window.sidebar.results.model().rowCount() > 0)
        # in what was found, letters belong to what is looked for
        window.sidebar.results.setFocus()
        _type("bon")
        assert window.sidebar.search.text() == "lisbon"
        assert window.sidebar.search.hasFocus()


async def test_after_regenerating_and_editing_one_writes_again(running: OpenApp) -> None:
    async with running() as app:
        window = app.window
        window.activateWindow()
        use_sampling(app)
        await ask(app, "Say yes.")
        items = window.transcript.column.items
        reply = window.transcript.widget_of(items[-1].message.id)
        assert reply is not None
        button = reply.foot.buttons["message.regenerate"]
        button.setFocus()
        _click(button)
        await until(lambda: app.controllers.reply.writing)
        await reply_done(app)
        assert window.composer.edit.hasFocus()
        _type("next")
        assert window.composer.text() == "next"
        # an edit has the keyboard, and gives it back
        for leave in (Qt.Key.Key_Escape, None):
            question = window.transcript.widget_of(window.transcript.column.items[0].message.id)
            assert question is not None
            _click(question.foot.buttons["message.edit"])
            assert question.editor is not None
            assert question.editor.hasFocus()
            if leave is not None:
                QTest.keyClick(question.editor, leave)
            else:
                window.escape()
            await asyncio.sleep(0)
            assert window.composer.edit.hasFocus()


async def test_after_the_consent_to_a_server_one_writes_again(running: OpenApp) -> None:
    with ScriptedServer() as server:
        async with running() as app:
            window = app.window
            window.activateWindow()
            connection, _ = await app.services.servers.save(
                Connection("", "bench", server.url), None
            )
            offered = await app.services.servers.offer(connection.id)
            window.header.pill.setFocus()
            await app.controllers.settle()
            app.controllers.models.choose(offered.models[0])
            await until(lambda: asked(window) is not None)
            question = asked(window)
            assert question is not None
            assert plain(question.yes.text()) == "Send"
            _click(question.yes)
            await app.controllers.settle()
            await until(lambda: window.focusWidget() is window.composer.edit)
            reply = await ask(app, "Hello")
            assert reply.text
            assert window.focusWidget() is window.composer.edit


@pytest.mark.parametrize("panel", ["sidebar", "inspector"])
async def test_after_closing_a_panel_one_writes_again(running: OpenApp, panel: str) -> None:
    async with running() as app:
        window = app.window
        window.activateWindow()
        window.resize(1400, 800)
        shown: QWidget = window.sidebar if panel == "sidebar" else window.inspector
        if not shown.isVisible():
            window.commands.run(f"view.{panel}")
        inside = window.sidebar.view if panel == "sidebar" else window.inspector.first_focus
        inside.setFocus()
        window.commands.run(f"view.{panel}")
        assert not shown.isVisible()
        await asyncio.sleep(0.01)
        assert window.composer.edit.hasFocus()


async def test_after_dismissing_a_notice_one_writes_again(running: OpenApp) -> None:
    async with running() as app:
        window = app.window
        window.activateWindow()
        window.show_problem("Something went wrong.", "")
        close = window.banner.findChildren(QToolButton)[0]
        close.setFocus()
        QTest.mouseClick(close, Qt.MouseButton.LeftButton, pos=QPoint(3, 3))
        await asyncio.sleep(0.01)
        assert window.composer.edit.hasFocus()


async def test_a_key_that_nobody_takes_goes_round_once(
    running: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the window is not active the message never has the keyboard, and gives back what it
    does not take: between the two this ended the program."""
    async with running() as app:
        edit, window = app.window.composer.edit, app.window
        monkeypatch.setattr(edit, "hasFocus", lambda: False)
        edit.setReadOnly(True)
        press = QKeyEvent(QEvent.Type.KeyPress, 0, Qt.KeyboardModifier.NoModifier, "a")
        QApplication.sendEvent(window, press)
        edit.setReadOnly(False)
        QApplication.sendEvent(window, press)
        assert app.window.composer.text() == "a"


def test_areas_are_gone_through_as_they_stand(qtbot: QtBot) -> None:
    place = QWidget()
    qtbot.addWidget(place)
    # Tab goes round: something stands before both
    above = QPushButton("0", place)
    last, first = QWidget(place), QWidget(place)
    stops = [QPushButton("3", last), QComboBox(last), QPushButton("1", first), QSpinBox(first)]
    # its list is a window of its own
    stops[1].view()  # type: ignore[attr-defined]
    row = QHBoxLayout(place)
    row.addWidget(first)
    row.addWidget(last)
    in_reading_order(above, first, last)
    place.show()
    chain, widget = [], place.nextInFocusChain()
    while widget is not None and widget is not place:
        if widget in stops:
            chain.append(widget)
        widget = widget.nextInFocusChain()
    assert chain == [stops[2], stops[3], stops[0], stops[1]]
