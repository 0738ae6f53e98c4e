"""The window around the conversation: settings, theme, keyboard, accessibility, notices."""

from __future__ import annotations

import asyncio
import json

import pytest
from PySide6.QtCore import QDateTime, QPoint, QPointF, Qt
from PySide6.QtGui import QPalette, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from headstart.core.chats.values import ChatSummary
from headstart.core.settings.schema import Settings
from headstart.home import Home
from headstart.ui.inspector.inspector import Inspector
from headstart.ui.kit import theme
from headstart.ui.sidebar.rows import Sections
from tests.conftest import OpenApp, until
from tests.support.driver import stored_chat
from tests.support.plain import plain
from tests.ui.looks import fill


async def test_theme_follows_the_setting_at_once_and_is_kept(running: OpenApp, home: Home) -> None:
    async with running() as app:
        for name, wanted in (("dark", theme.DARK), ("light", theme.LIGHT)):
            app.services.preferences.update(theme=name)
            assert theme.current() is wanted
            palette = QApplication.palette()
            assert palette.color(QPalette.ColorRole.Window).name() == wanted.ground
    assert json.loads(home.settings.read_text())["theme"] == "light"


def _contrast(one: str, other: str) -> float:
    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


GROUNDS = (
    "ground", "side", "raised", "bubble", "code", "hover", "selected", "accent_ground",
    "warning_ground",
)  # fmt: skip
MARKS = ("by_draft", "by_lookup", "found", "found_now", "selection")


@pytest.mark.parametrize(
    ("colours", "text", "edge"),
    [
        (theme.LIGHT, 4.5, 3.0),
        (theme.DARK, 4.5, 3.0),
        (theme.LIGHT_HIGH, 7.0, 4.5),
        (theme.DARK_HIGH, 7.0, 4.5),
    ],
    ids=["light", "dark", "light high", "dark high"],
)
def test_every_text_can_be_read_on_every_ground(
    colours: theme.Theme, text: float, edge: float
) -> None:
    found = {}

    def want(ink: str, ground: str, least: float) -> None:
        contrast = _contrast(getattr(colours, ink), getattr(colours, ground))
        if contrast < least:
            found[ink, ground] = round(contrast, 2)

    for ground in GROUNDS:
        for ink in ("ink", "quiet", "accent_text", "danger", "warning"):
            want(ink, ground, text)
    for ink in ("keyword", "string", "number", "comment", "name"):
        want(ink, "code", text)
    for ground in MARKS:
        want("ink", ground, 4.5)
    want("on_accent", "accent", 4.5)
    # the focus, and the edges of fields and switches
    for ground in ("ground", "side", "raised", "bubble"):
        want("accent", ground, edge)
        want("off", ground, edge)
    assert found == {}


def test_high_contrast_follows_the_system() -> None:
    assert theme.chosen(dark=False, high=True) is theme.LIGHT_HIGH
    assert theme.chosen(dark=True, high=True) is theme.DARK_HIGH
    assert theme.chosen(dark=True, high=False) is theme.DARK


async def test_every_control_has_an_accessible_name(running: OpenApp) -> None:
    async with running() as app:
        chat_id = await fill(app)
        app.controllers.branch.open_chat(chat_id)
        await app.controllers.settle()
        app.window.settings.open()
        kinds = (QAbstractButton, QLineEdit, QPlainTextEdit)
        for widget in app.window.findChildren(QWidget):
            if isinstance(widget, kinds) and not widget.objectName().startswith("qt_"):
                named = widget.accessibleName() or getattr(widget, "text", lambda: "")()
                inside = type(widget.parent()).__name__
                assert named or inside in ("QSpinBox", "QDoubleSpinBox"), (widget, inside)


async def test_drafts_stay_with_their_chats(running: OpenApp) -> None:
    async with running() as app:
        chat_id = await fill(app)
        app.window.composer.edit.setPlainText("for the new chat")
        app.controllers.branch.open_chat(chat_id)
        await until(lambda: stored_chat(app) == chat_id)
        await app.controllers.settle()
        assert app.window.composer.text() == ""
        app.window.composer.edit.setPlainText("for the old chat")
        app.window.new_chat()
        assert app.window.composer.text() == "for the new chat"
        app.controllers.branch.open_chat(chat_id)
        await until(lambda: app.window.composer.text() == "for the old chat")


async def test_changes_of_settings_are_checked_applied_and_saved(
    running: OpenApp, home: Home
) -> None:
    async with running() as app:
        page = app.window.settings.open()
        page.numbers.set("temperature", 0.25)
        # each page changes what the others left
        page.numbers.set("top_k", 7)
        page.engine.change("context_length", 4096)
        page.changed.emit({"when_full": "drop_oldest"})
        sampling = app.services.preferences.current.sampling
        assert (sampling.temperature, sampling.top_k) == (0.25, 7)
        assert app.window.inspector.when_full.currentData() == "drop_oldest"
    saved = json.loads(home.settings.read_text())
    assert saved["engine"]["context_length"] == 4096


async def test_a_damaged_settings_file_is_told_and_kept(running: OpenApp, home: Home) -> None:
    home.path.mkdir(parents=True)
    home.settings.write_bytes(b"\x00" * 100)
    async with running() as app:
        assert "damaged" in app.window.banner.text()
        assert app.window.banner.isVisible()
        assert app.services.preferences.current == Settings()
    assert list(home.path.glob("settings-damaged-*.json"))


async def test_panels_come_and_go_by_keyboard_and_stay_so(running: OpenApp, home: Home) -> None:
    async with running() as app:
        control = Qt.KeyboardModifier.ControlModifier
        app.window.activateWindow()
        assert app.window.sidebar.isVisible()
        # a new user sees no settings
        assert not app.window.inspector.isVisible()
        QTest.keyClick(app.window, Qt.Key.Key_B, control)
        QTest.keyClick(app.window, Qt.Key.Key_I, control)
        await asyncio.sleep(0.05)
        assert not app.window.sidebar.isVisible()
        assert app.window.inspector.isVisible()
    async with running() as app:
        assert not app.window.sidebar.isVisible()
        assert app.window.inspector.isVisible()


def test_chats_stand_under_the_day_they_were_used() -> None:
    today = QDateTime.currentDateTime()

    def section(days: int, pinned: bool = False) -> str:
        at = today.addDays(-days).toMSecsSinceEpoch()
        chat = ChatSummary("c", "t", at, pinned, 1)
        return plain(Sections(today.date().toPython()).of(chat))  # type: ignore[arg-type]

    assert section(0) == "Today"
    assert section(1) == "Yesterday"
    assert section(6) == "Previous 7 days"
    assert section(20) == "Previous 30 days"
    assert section(400) not in ("Today", "Yesterday")
    assert section(0, pinned=True) == "Pinned"


async def test_bidirectional_text_is_laid_out_from_the_right(running: OpenApp) -> None:
    async with running() as app:
        chat_id = await fill(app)
        app.controllers.branch.open_chat(chat_id)
        await app.controllers.settle()
        item = app.window.transcript.column.items[3]
        widget = app.window.transcript.widget_of(item.message.id)
        assert widget is not None
        block = widget.text.widgets()[0].document.begin()
        assert block.textDirection() == Qt.LayoutDirection.RightToLeft


async def test_a_system_prompt_goes_to_the_chat_it_was_typed_in(running: OpenApp) -> None:
    async with running() as app:
        main = await fill(app)
        chats = [chat.id for chat in await app.services.chat_list.summaries() if chat.id != main]
        app.window.open_chat(main)
        await until(lambda: stored_chat(app) == main)
        await app.controllers.settle()
        app.window.inspector.system_prompt.setPlainText("only for the first")
        app.window.open_chat(chats[0])
        await until(lambda: stored_chat(app) == chats[0])
        await app.controllers.settle()
        first, second = (
            await app.services.branches.chat(main),
            await app.services.branches.chat(chats[0]),
        )
        assert first is not None
        assert second is not None
        assert first.options.system_prompt == "only for the first"
        assert second.options.system_prompt is None
        assert app.window.inspector.system_prompt.toPlainText() == ""


async def test_the_chat_clicked_last_is_the_one_shown(running: OpenApp) -> None:
    async with running() as app:
        main = await fill(app)
        chats = [chat.id for chat in await app.services.chat_list.summaries() if chat.id != main]
        for chat_id in (main, chats[0], main, chats[1], main):
            app.window.open_chat(chat_id)
        await app.controllers.settle()
        assert stored_chat(app) == main
        assert app.window.header.title.full_text == "Prime checker in Python"


async def test_a_title_being_edited_survives_what_happens_around_it(running: OpenApp) -> None:
    async with running() as app:
        main = await fill(app)
        app.controllers.chat_list.list()
        await app.controllers.settle()
        sidebar = app.window.sidebar
        sidebar.begin_rename(main)
        editor = sidebar.view.findChild(QLineEdit)
        assert editor is not None
        editor.setText("my new title")
        sidebar.model.set_writing(main, "Writing… 30 tok/s")
        other = (await app.services.chat_list.summaries())[-1].id
        await app.services.chat_list.pin(other, True)
        await app.controllers.settle()
        assert editor.text() == "my new title"
        QTest.keyClick(editor, Qt.Key.Key_Return)
        await until(lambda: sidebar.model.index_of(main).data() == "my new title")
        await until(
            lambda: sidebar.model.chat_ids()[0] == other or other in sidebar.model.chat_ids()
        )
        chat = await app.services.branches.chat(main)
        assert chat is not None
        assert chat.title == "my new title"


async def test_escape_leaves_the_editor_of_a_message(running: OpenApp) -> None:
    async with running() as app:
        main = await fill(app)
        app.window.open_chat(main)
        await app.controllers.settle()
        question = app.window.transcript.column.items[0]
        app.window.transcript.verticalScrollBar().setValue(0)
        assert question.widget is not None
        app.window.transcript.begin_edit(question.message.id)
        assert question.widget.editing
        app.window.escape()
        assert not question.widget.editing


def test_the_wheel_changes_no_value_without_focus(qtbot: QtBot) -> None:
    inspector = Inspector(Settings())
    qtbot.addWidget(inspector)
    inspector.show()
    slider = inspector.sampling.sliders["temperature"].slider
    before = slider.value()
    event = QWheelEvent(
        QPointF(5, 5),
        QPointF(5, 5),
        QPoint(0, 120),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(slider, event)
    assert slider.value() == before
