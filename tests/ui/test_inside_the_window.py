"""Settings as a page, sheets, help, figures on demand, and the keyboard among messages."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, get_args, get_origin

import msgspec
import pytest
from msgspec import Struct
from PySide6.QtCore import QEvent, QLocale, QPoint, QPointF, Qt
from PySide6.QtGui import QEnterEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from headstart.chat import servers
from headstart.core.settings.schema import Settings, changed
from headstart.core.text.locale import locale, use_locale
from headstart.ui.help.report_sheet import ReportSheet
from headstart.ui.kit.sheet import sheet_over
from headstart.ui.kit.system_locale import SystemLocale
from headstart.ui.kit.when import clock_text, moment_text, when_text
from tests.conftest import OpenApp, until
from tests.support.driver import stored_chats
from tests.support.plain import accented, plain
from tests.support.scripted_server import ScriptedServer
from tests.support.sheets import refuse, write
from tests.ui.looks import fill

SECRET = "xylophone-marmalade"


async def test_settings_are_found_by_any_of_their_words(running: OpenApp) -> None:
    async with running() as app:
        page = app.window.settings.open()
        assert app.window.pages.on_settings
        for words, title, where in (
            ("temperature", "Temperature", "general"),
            ("flash", "Flash attention", "expert"),
            ("deleted chats", "Keep deleted chats", "privacy"),
            ("line spac", "Line spacing", "appearance"),
        ):
            page.search.setText(accented(words))
            assert plain(page.names.item(0).text()).splitlines()[0] == title
            QTest.keyClick(page.search, Qt.Key.Key_Return)
            assert page.page == where
        page.search.setText("no such thing")
        assert page.nothing.isVisible()
        app.window.escape()
        assert not app.window.pages.elsewhere
        # the one that was looked at last
        assert app.window.settings.open().page == "appearance"


async def test_every_setting_is_on_one_page_only(running: OpenApp) -> None:
    async with running() as app:
        titles = [entry.title for _name, entry in app.window.settings.open().entries()]
        assert len(titles) == len(set(titles)) > 40


async def test_a_sheet_keeps_the_keyboard_and_gives_it_back(running: OpenApp) -> None:
    async with running() as app:
        window = app.window
        window.activateWindow()
        window.composer.edit.setFocus()
        window.order.new_folder()
        sheet = sheet_over(window)
        assert sheet is not None
        for _ in range(8):
            focus = QApplication.focusWidget()
            assert focus is not None
            assert sheet.isAncestorOf(focus)
            QTest.keyClick(focus, Qt.Key.Key_Tab)
        # commands wait behind it
        QTest.keyClick(window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
        assert sheet_over(window) is sheet
        for size in ((720, 480), (1500, 900)):
            window.resize(*size)
            assert window.rect().contains(sheet.geometry())
        window.escape()
        await until(lambda: sheet_over(window) is None)
        assert window.composer.edit.hasFocus()
        # colours change after it as before: nothing was lost with it
        app.services.preferences.update(theme="dark")
        window.order.new_folder()
        write(window, "Trips")
        await app.controllers.settle()
        assert [folder.name for folder in window.sidebar.model.folders] == ["Trips"]


async def test_the_figures_of_a_reply_are_told_on_demand(running: OpenApp) -> None:
    async with running() as app:
        chat = await fill(app)
        app.window.open_chat(chat)
        await app.controllers.settle()
        item = app.window.transcript.column.items[1]
        widget = app.window.transcript.widget_of(item.message.id)
        assert widget is not None
        figures = widget.figures
        assert plain(figures.text()) == "31 tok/s"
        assert figures.card is None
        place = QPointF(2, 2)
        QApplication.sendEvent(figures, QEnterEvent(place, place, place))
        card = figures.card
        assert card is not None
        assert app.window.rect().contains(card.geometry())
        QApplication.sendEvent(figures, QEvent(QEvent.Type.Leave))
        assert figures.card is None
        assert "Reused: 1,204 of 1,236 tokens" in plain(figures.accessibleDescription())


async def test_arrows_go_from_message_to_message_and_tab_into_one(running: OpenApp) -> None:
    async with running() as app:
        chat = await fill(app)
        app.window.activateWindow()
        app.window.open_chat(chat)
        await app.controllers.settle()
        transcript = app.window.transcript
        items = transcript.column.items
        transcript.setFocus(Qt.FocusReason.TabFocusReason)
        reached = [transcript.walking.message_id]
        for _ in range(len(items) + 2):
            focus = QApplication.focusWidget()
            assert focus is not None
            QTest.keyClick(focus, Qt.Key.Key_Up)
            reached.append(transcript.walking.message_id)
        ids = [item.message.id for item in items]
        assert reached[: len(ids)] == ids[::-1]
        assert reached[-1] == ids[0]
        # what can be done with it comes with Tab, and shows while the keyboard is there
        first = transcript.walking.current
        assert first is not None
        focus = QApplication.focusWidget()
        assert focus is not None
        QTest.keyClick(focus, Qt.Key.Key_Tab)
        inside = QApplication.focusWidget()
        assert inside is not None
        assert first.isAncestorOf(inside)
        assert inside.isVisible()
        assert inside.accessibleName()


async def test_programs_on_this_computer_are_offered_as_servers(
    running: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer() as server:
        monkeypatch.setattr(servers, "LOCAL_PROGRAMS", (("Ollama", server.port), ("Jan", 9)))
        async with running() as app:
            await app.controllers.settle()
            assert server.asked == []
            # one look, when the page is opened
            app.window.settings.open("servers")
            await app.controllers.settle()
            found = await app.services.servers.look_around()
            assert [one.models for one in found] == [1]
            app.controllers.servers.use(found[0])
            await app.controllers.settle()
            (connection,) = app.services.servers.connections
            assert connection.is_here
            assert await app.services.servers.look_around() == []


def _filled(kind: object) -> object:
    """A value with a secret in every text that a user may write, for a type of the settings."""
    if kind is str:
        return SECRET
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _filled(inner[0])
    if origin is tuple:
        return (_filled(inner[0]),)
    if origin is dict:
        return {SECRET: _filled(inner[1])}
    if inner and type(None) in inner:
        return _filled(next(one for one in inner if one is not type(None)))
    if isinstance(kind, type) and issubclass(kind, Struct):
        values = {}
        for field in msgspec.structs.fields(kind):
            value = _filled(field.type)
            if value is not None:
                values[field.name] = value
        return _made(kind, values)
    return None


def _made(kind: type[Struct], values: dict[str, object]) -> Struct:
    """One of this type whose other fields are as usual, or nothing much."""
    usual = {
        field.name: None
        for field in msgspec.structs.fields(kind)
        if field.required and field.name not in values
    }
    return kind(**usual, **values)


async def test_a_report_can_be_read_and_has_nothing_of_the_users_own(running: OpenApp) -> None:
    async with running() as app:
        app.services.preferences.current = _filled(Settings)
        await stored_chats(app, SECRET)
        app.window.commands.run("help.report")
        sheet = app.window.help.sheet
        assert isinstance(sheet, ReportSheet)
        await app.controllers.settle()
        text = sheet.text.toPlainText()
        assert "Headstart" in text
        assert '"text_size": 100' in text
        assert '"theme": "system"' in text
        assert SECRET not in text


async def test_what_cannot_be_undone_waits_for_an_answer(running: OpenApp) -> None:
    async with running() as app:
        (chat,) = await stored_chats(app, "One")
        app.controllers.chat_list.delete([chat])
        await app.controllers.settle()
        app.window.commands.run("chats.trash")
        await app.controllers.settle()
        trash = app.window.trash.window
        assert trash is not None
        trash.list.topLevelItem(0).setSelected(True)
        trash.delete.click()
        refuse(app.window)
        await app.controllers.settle()
        assert trash.list.topLevelItemCount() == 1


@pytest.mark.parametrize(
    ("moment", "short", "whole"),
    [
        (dt.datetime(2026, 11, 25, 14, 5), "14:05", "today 14:05"),
        (dt.datetime(2026, 11, 24, 9, 30), "yesterday 09:30", "yesterday 09:30"),
        (dt.datetime(2026, 10, 16, 9, 30), "16 October", "16 October, 09:30"),
        (dt.datetime(2025, 12, 31, 23, 59), "31 December 2025", "31 December 2025, 23:59"),
    ],
)
def test_dates_are_written_as_people_write_them(
    moment: dt.datetime, short: str, whole: str
) -> None:
    before, default = locale(), QLocale()
    SystemLocale("en", QLocale.Country.UnitedKingdom).install()
    try:
        today, at = dt.date(2026, 11, 25), int(moment.timestamp() * 1000)
        assert plain(when_text(at, today)) == short
        assert plain(moment_text(at, today)) == whole
        # no calendar has it, and a message whose file says no time
        for unknown in (10**18, 0):
            assert (when_text(unknown), moment_text(unknown), clock_text(unknown)) == ("", "", "")
    finally:
        use_locale(before)
        QLocale.setDefault(default)


async def test_looks_are_the_same_at_every_start(running: OpenApp) -> None:
    """Labels get their names before they are measured: the style sheet goes by these."""

    def fonts(window: QWidget) -> dict[str, str]:
        labels = [one for one in window.findChildren(QLabel) if one.isVisible() and one.text()]
        return {f"{one.objectName()} {one.text()}": one.font().toString() for one in labels}

    seen: list[dict[str, str]] = []
    chat = ""
    for start in range(3):
        async with running() as app:
            chat = chat or await fill(app)
            app.window.open_chat(chat)
            app.window.panels.open_inspector()
            await app.controllers.settle()
            seen.append(fonts(app.window))
            if start == 2:
                # as after a change of settings: everything is measured once more
                application = QApplication.instance()
                assert isinstance(application, QApplication)
                application.setStyleSheet(application.styleSheet() + " ")
                seen.append(fonts(app.window))
    everywhere = set.intersection(*(set(one) for one in seen))
    assert len(everywhere) > 8
    for label in everywhere:
        assert len({one[label] for one in seen}) == 1, label


async def test_pages_show_what_the_settings_are_whoever_changes_them(running: OpenApp) -> None:
    async with running() as app:
        preferences, page = app.services.preferences, app.window.settings.open()
        current = preferences.current
        page.general.prompt.setFocus()
        preferences.update(
            theme="dark",
            thinking="high",
            trash_days=7,
            column_width="wide",
            engine=changed(current.engine, context_length=4096, exact=True),
            sampling=changed(current.sampling, temperature=1.25),
            speculation=changed(current.speculation, prompt_lookup=False),
            prefix=changed(current.prefix, most_gb=3),
            library=changed(current.library, parallel=5),
        )
        told: list[dict[str, object]] = []
        page.changed.connect(told.append)
        assert page.appearance.cards["dark"].isChecked()
        shown = {
            plain(control.accessibleName()): control
            for control in page.findChildren(QWidget)
            if control.accessibleName()
        }
        for name, value in (
            ("Context length", 4096), ("Temperature", 1.25), ("Keep deleted chats", 7),
            ("Max disk space", 3), ("Downloads at a time", 5),
        ):  # fmt: skip
            assert shown[name].property("value") == value, name
        assert plain(str(shown["Thinking"].property("currentText"))) == "High"
        assert shown["Exact"].property("checked") is True
        assert shown["Reuse repeated text"].property("checked") is False
        assert shown["Column width: Wide"].property("checked") is True
        # following changes nothing
        assert told == []
        # and the next change is made to what they are now
        page.engine.change("threads", 1)
        assert preferences.current.engine.context_length == 4096


async def test_what_happens_is_told_on_the_page_that_is_looked_at(running: OpenApp) -> None:
    async with running() as app:
        window = app.window
        for opens in (window.settings.open, window.pages.show_models):
            opens()
            place = window.pages.place
            assert place is not None
            window.show_problem("The disk is full.", "Delete something.")
            assert place.banner.isVisible()
            assert not window.banner.isVisible()
            app.controllers.transfer.exported.emit("/home/you/chat.md", 1)
            assert place.toast.isVisible()
            assert place.rect().contains(place.toast.geometry())
            window.escape()
            assert window.pages.place is None
        window.show_problem("The disk is full.", "Delete something.")
        assert window.banner.isVisible()


async def test_the_keyboard_goes_round_the_settings(running: OpenApp) -> None:
    async with running() as app:
        app.window.activateWindow()
        page = app.window.settings.open("drafting")
        page.names.setFocus()
        app.window.commands.run("view.pane")
        focus = app.window.focusWidget()
        assert focus is not None
        assert page.drafting.isAncestorOf(focus)
        app.window.commands.run("view.pane")
        assert page.names.hasFocus()


async def test_a_click_beside_a_sheet_loses_nothing_that_was_typed(running: OpenApp) -> None:
    async with running() as app:
        window = app.window
        for typed in (False, True):
            window.order.new_folder()
            sheet = sheet_over(window)
            assert sheet is not None
            shade = sheet.parentWidget()
            assert shade is not None
            if typed:
                focus = window.focusWidget()
                assert focus is not None
                QTest.keyClicks(focus, "Trips")
            QTest.mouseClick(shade, Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
            assert (sheet_over(window) is sheet) is typed
        window.escape()
        assert sheet_over(window) is None
