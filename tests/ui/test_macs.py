"""A Mac's habits, as far as they can be held elsewhere: its menu bar, its keys, and files that the
system hands over."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QAction, QFileOpenEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QMenuBar
from pytestqt.qtbot import QtBot

from headstart.core.started_with import StartedWith
from headstart.ui.kit.keys import in_mac_keys, key_text, usual_keys
from headstart.ui.shell import opened_files
from headstart.ui.shell.menu_bar import add_menu_bar
from headstart.ui.shell.opened_files import Application, OpenedFiles
from tests.conftest import OpenApp, until

_Role = QAction.MenuRole
# the system has the bar there, and its own way to the keys
elsewhere = pytest.mark.skipif(sys.platform == "darwin", reason="the bar is the system's there")


def actions(bar: QMenuBar) -> dict[str, QAction]:
    found: dict[str, QAction] = {}
    for head in bar.actions():
        menu = head.menu()
        assert isinstance(menu, QMenu)
        found.update({action.text(): action for action in menu.actions() if action.text()})
    return found


@elsewhere
async def test_the_menus_have_the_commands_and_their_keys(running: OpenApp) -> None:
    async with running() as app:
        window = app.window
        bar = add_menu_bar(window, window.commands)
        window.show()
        titles = [head.text() for head in bar.actions()]
        assert titles == ["File", "Edit", "View", "Window", "Help"]
        by_title = actions(bar)
        roles = {title: one.menuRole() for title, one in by_title.items()}
        special = {title: role for title, role in roles.items() if role is not _Role.NoRole}
        assert special == {
            "About Headstart": _Role.AboutRole,
            "Settings": _Role.PreferencesRole,
            "Quit Headstart": _Role.QuitRole,
        }
        assert by_title["Settings"].shortcut() == QKeySequence("Ctrl+,")
        # keys that two have do nothing
        window.activateWindow()
        await until(lambda: window.isActiveWindow() and bar.isVisible())
        QTest.keySequence(window.composer.edit, QKeySequence("Ctrl+,"))
        await until(lambda: window.pages.elsewhere)
        window.escape()
        assert not window.pages.elsewhere
        app.services.preferences.update(shortcuts={"app.settings": "F9"})
        assert by_title["Settings"].shortcut() == QKeySequence("F9")
        by_title["Settings"].trigger()
        await until(lambda: window.pages.elsewhere)


@elsewhere
async def test_editing_reaches_the_field_with_the_focus(running: OpenApp) -> None:
    async with running() as app:
        window = app.window
        by_title = actions(add_menu_bar(window, window.commands))
        window.show()
        window.composer.set_text("two words")
        window.composer.edit.setFocus()
        await until(lambda: QApplication.focusWidget() is window.composer.edit)
        for title in ("Select All", "Cu&t"):
            by_title[title].trigger()
        assert window.composer.text() == ""
        by_title["&Undo"].trigger()
        assert window.composer.text() == "two words"


@elsewhere
async def test_a_menu_turns_off_what_cannot_be_done(running: OpenApp) -> None:
    async with running() as app:
        bar = add_menu_bar(app.window, app.window.commands)
        file = bar.actions()[0].menu()
        assert isinstance(file, QMenu)
        export = actions(bar)["Export this chat…"]
        # nothing is stored yet
        file.aboutToShow.emit()
        assert not export.isEnabled()
        file.aboutToHide.emit()
        assert export.isEnabled()


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        ("Ctrl+N begins a chat", "⌘N begins a chat"),
        ("(Ctrl+Shift+N, or the lock)", "(⇧⌘N, or the lock)"),
        ("Settings (Ctrl+,) and keys (Ctrl+/)", "Settings (⌘,) and keys (⌘/)"),
        ("Ctrl+plus, Ctrl+minus, Ctrl+0", "⌘+, ⌘−, ⌘0"),
        ("select several with Shift or Ctrl, and", "select several with ⇧ or ⌘, and"),
        ("Ctrl+Enter sends; Ctrl+Up, Ctrl+Down", "⌘↩ sends; ⌥⌘↑, ⌥⌘↓"),
        ("*Models* (Ctrl+M)", "*Models* (⇧⌘M)"),
        ("F6 and Tab; Control; Shifted", "F6 and Tab; Control; Shifted"),
    ],
)
def test_the_guide_names_a_macs_keys(page: str, shown: str) -> None:
    assert in_mac_keys(page) == shown


def test_keys_that_a_mac_needs_itself_are_others_there() -> None:
    assert usual_keys("Ctrl+M", "darwin") == "Ctrl+Shift+M"
    assert usual_keys("Ctrl+M", "linux") == "Ctrl+M"
    assert key_text("Ctrl", "darwin") == "⌘"
    assert key_text("Shift", "linux") == "Shift"
    # the key beside the letters, not that of the number pad
    assert "Enter" not in key_text("Shift+Enter", "darwin")


def test_files_that_come_together_are_handed_over_once(qtbot: QtBot, tmp_path: Path) -> None:
    opened = OpenedFiles()
    arrived: list[StartedWith] = []
    opened.arrived.connect(arrived.append)
    # what the application does with the event, which in tests is another's
    event = QFileOpenEvent(QUrl.fromLocalFile(str(tmp_path / "日本 🌸.headstart.json")))
    application = cast(Application, SimpleNamespace(opened=opened))
    assert Application.event(application, event)
    opened.take("/b.gguf")
    # no window yet
    qtbot.wait(3 * opened_files.TOGETHER)
    assert arrived == []
    opened.release()
    assert arrived == [StartedWith((str(tmp_path / "日本 🌸.headstart.json"), "/b.gguf"))]
    opened.take("/c.pdf")
    qtbot.waitUntil(lambda: len(arrived) == 2)
    assert arrived[1] == StartedWith(("/c.pdf",))
