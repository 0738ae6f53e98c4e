"""The window for who hears it: what is in its tree is what is on the screen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAbstractItemView

from headstart.assembly import App
from tests.conftest import OpenApp, until
from tests.support.driver import stored_chats
from tests.support.heard import face
from tests.support.plain import plain
from tests.ui.looks import fill

Role, Text = QAccessible.Role, QAccessible.Text


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """Somebody reads the window."""
    QAccessible.setActive(True)
    yield
    QAccessible.setActive(False)


def names(view: QAbstractItemView) -> list[str]:
    """Names of the rows in the tree."""
    tree = face(view)
    rows = [tree.child(row) for row in range(tree.childCount())]
    return [row.text(Text.Name) for row in rows if row is not None]


def shown(app: App) -> list[str]:
    model = app.window.sidebar.model
    role = 11  # Qt.ItemDataRole.AccessibleTextRole
    return [str(model.index(row).data(role)) for row in range(model.rowCount())]


async def test_the_list_of_chats_tells_every_change(running: OpenApp) -> None:
    async with running() as app:
        chats = await stored_chats(app, "One", "Two", "Three", "Four")
        app.controllers.chat_list.list()
        await app.controllers.settle()
        view, control = app.window.sidebar.view, app.controllers.chat_list

        async def same() -> None:
            await app.controllers.settle()
            await until(lambda: names(view) == shown(app))

        await same()
        # the tree remembers rows by their places: each of these moves some
        control.pin(chats[2], True)
        await same()
        assert any("Pinned" in plain(name) for name in names(view))
        control.pin(chats[2], False)
        await same()
        control.delete([chats[0], chats[3]])
        await same()
        app.window.toast.undo()
        await same()
        assert sum("One" in name for name in names(view)) == 1
        app.controllers.folders.make("Trips")
        await app.controllers.settle()
        app.controllers.folders.move([chats[1]], "Trips")
        await same()
        app.window.new_private_chat()
        await same()


async def test_messages_are_items_with_who_said_them(running: OpenApp) -> None:
    async with running() as app:
        chat = await fill(app)
        app.window.open_chat(chat)
        await app.controllers.settle()
        transcript = app.window.transcript
        transcript.verticalScrollBar().setValue(0)
        assert face(transcript.viewport()).role() is Role.List
        first, second = (
            transcript.widget_of(item.message.id) for item in transcript.column.items[:2]
        )
        assert first is not None
        assert second is not None
        assert face(first).role() is Role.ListItem
        assert plain(face(first).text(Text.Name)).startswith("You: Write a short Python function")
        assert plain(face(second).text(Text.Name)).startswith("SmolLM2: A number is prime")
        paragraph = second.text.widgets()[0]
        assert face(paragraph).role() is Role.Paragraph
        assert face(paragraph).text(Text.Name).startswith("A number is prime when nothing")


async def test_sections_are_expandable(running: OpenApp) -> None:
    async with running() as app:
        app.window.panels.open_inspector()
        for fold in app.window.inspector.folds.values():
            button = face(fold.button)
            assert button.role() is Role.Button
            for open_ in (True, False):
                fold.set_open(open_)
                state = button.state()
                assert state.expandable
                assert bool(state.expanded) is open_
                assert bool(state.collapsed) is not open_
            assert button.text(Text.Name) == fold.button.text()
