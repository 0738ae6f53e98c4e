"""Keys of commands that the user chooses: at once, without conflicts, kept over a restart."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from headstart.assembly import App
from headstart.ui.settings.key_conflicts import conflict
from headstart.ui.settings.shortcuts_page import KeyChoice, ShortcutsPage
from tests.conftest import OpenApp, until
from tests.support.plain import plain

_Key, _Held = Qt.Key, Qt.KeyboardModifier


def _page(app: App) -> ShortcutsPage:
    return app.window.settings.open("shortcuts").shortcuts


def _press(choice: KeyChoice, key: Qt.Key, held: Qt.KeyboardModifier = _Held.NoModifier) -> None:
    choice.field.click()
    QTest.keyClick(choice.field, key, held)


async def test_a_command_gets_other_keys_at_once(running: OpenApp) -> None:
    async with running() as app:
        page = _page(app)
        choice = page.choices["chat.new"]
        assert choice.field.text() == "Ctrl+N"
        assert not choice.reset.isEnabled()
        _press(choice, _Key.Key_F7)
        await until(lambda: choice.field.text() == "F7")
        assert app.window.preferences.current.shortcuts == {"chat.new": "F7"}
        assert app.window.commands["chat.new"].keys == "F7"
        assert choice.reset.isEnabled()
        choice.reset.click()
        await until(lambda: choice.field.text() == "Ctrl+N")
        assert app.window.preferences.current.shortcuts == {}


async def test_the_new_keys_work_and_the_old_ones_do_not(running: OpenApp) -> None:
    async with running() as app:
        window = app.window
        app.window.preferences.update(shortcuts={"view.sidebar": "F7"})
        window.activateWindow()
        shown = window.sidebar.isVisible()
        QTest.keyClick(window, _Key.Key_B, _Held.ControlModifier)
        assert window.sidebar.isVisible() is shown
        QTest.keyClick(window, _Key.Key_F7)
        assert window.sidebar.isVisible() is not shown
        # buttons say the new keys
        assert "F7" in window.header.sidebar_button.toolTip()


async def test_keys_of_another_command_are_named_and_can_be_taken(running: OpenApp) -> None:
    async with running() as app:
        page = _page(app)
        choice, other = page.choices["chat.find"], page.choices["chat.new"]
        _press(choice, _Key.Key_N, _Held.ControlModifier)
        assert choice.place is not None
        assert plain(choice.place.about.text()) == "Ctrl+N belongs to “New chat”."
        assert choice.field.text() == "Ctrl+F"
        choice.take.click()
        await until(lambda: choice.field.text() == "Ctrl+N")
        assert plain(other.field.text()) == "None"
        assert choice.place.about.isHidden()
        page.all_usual.click()
        await until(lambda: other.field.text() == "Ctrl+N")
        assert choice.field.text() == "Ctrl+F"


async def test_waiting_ends_without_a_change(running: OpenApp) -> None:
    async with running() as app:
        choice = _page(app).choices["chat.new"]
        _press(choice, _Key.Key_Escape)
        assert choice.field.text() == "Ctrl+N"
        assert app.window.pages.elsewhere, "Esc closed the settings"
        choice.field.click()
        choice.reset.setFocus()
        choice.field.setFocus()
        choice.field.click()
        assert choice.field.waits
        app.window.composer.edit.setFocus()
        choice.field.clearFocus()
        assert not choice.field.waits
        _press(choice, _Key.Key_Backspace)
        await until(lambda: plain(choice.field.text()) == "None")


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        ("", ""),
        ("F7", ""),
        ("Shift+F7", ""),
        ("Alt+N", ""),
        ("Ctrl+Alt+F7", ""),
        ("A", "shortcuts.keys-type-text"),
        ("Shift+A", "shortcuts.keys-type-text"),
        ("Space", "shortcuts.keys-type-text"),
        ("Ctrl+Alt+Q", "shortcuts.keys-with-alt-gr"),
        ("Ctrl+V", "shortcuts.keys-of-fields"),
        ("Ctrl+C", "shortcuts.keys-have-a-place"),
        ("Ctrl+N", "shortcuts.keys-taken"),
    ],
)
def test_keys_that_cannot_be_had(keys: str, code: str) -> None:
    found, other = conflict(keys, "chat.find", {"chat.new": "Ctrl+N"}, {"Ctrl+C"})
    assert found == code
    assert other == ("chat.new" if code == "shortcuts.keys-taken" else "")


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        # no AltGr; Option types signs; the system's own, and those of its fields
        ("Ctrl+Alt+Q", ""),
        ("Meta+Q", ""),
        ("Alt+L", "shortcuts.keys-type-text"),
        ("Alt+Shift+L", "shortcuts.keys-type-text"),
        ("Ctrl+M", "shortcuts.keys-of-fields"),
        ("Ctrl+Up", "shortcuts.keys-of-fields"),
        ("Ctrl+H", "shortcuts.keys-of-fields"),
    ],
)
def test_keys_that_a_mac_needs_cannot_be_had_there(keys: str, code: str) -> None:
    assert conflict(keys, "chat.find", {}, (), platform="darwin") == (code, "")
