"""Folders, tags, archive and several chats at once, as a user has them in the list."""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel, QMimeData, QPointF, Qt
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu

from headstart.assembly import App
from headstart.core.chats.values import Chat, Folder
from headstart.core.settings.inheritance import effective
from headstart.core.settings.schema import SamplingChoice
from headstart.ui.kit.dragging import chats_as_mime, folder_as_mime
from headstart.ui.wording import say
from tests.conftest import OpenApp, until
from tests.support.driver import ask, begin, branch, reply_done, use_sampling
from tests.support.plain import plain
from tests.support.sheets import write
from tests.ui.test_searching import store


def lines(app: App) -> list[str]:
    """The lines of the list: headings, folders with their counts, chats with their depth."""
    model, found = app.window.sidebar.model, []
    for number in range(model.rowCount()):
        row = model.row_at(model.index(number))
        assert row is not None
        if row.section:
            found.append(f"[{plain(row.section)}]")
        elif row.folder is not None:
            found.append(f"{'  ' * row.depth}{row.folder.name} {row.count}")
        elif row.chat is not None:
            found.append(f"{'  ' * row.depth}{row.chat.title}")
    return found


async def three(app: App) -> list[Chat]:
    chats = [(await store(app, title, "Hello"))[0] for title in ("One", "Two", "Three")]
    await app.controllers.settle()
    assert lines(app) == ["[Today]", "Three", "Two", "One"]
    return chats


def choose(app: App, *ids: str) -> None:
    """Select these chats, as with Ctrl and the mouse."""
    view, flags = app.window.sidebar.view, QItemSelectionModel.SelectionFlag
    view.selectionModel().clearSelection()
    for one in ids:
        view.selectionModel().select(app.window.sidebar.model.index_of(one), flags.Select)


def menu(app: App, chat_id: str) -> QMenu:
    found = app.window.sidebar.menu_for(app.window.sidebar.model.index_of(chat_id))
    assert found is not None
    return found


def titles(of: QMenu) -> list[str]:
    return [plain(action.text()).split("\t")[0] for action in of.actions() if action.text()]


def answer(app: App, text: str) -> None:
    """What the window asks for."""
    write(app.window, text)


def drop(app: App, data: QMimeData, on: str) -> None:
    view = app.window.sidebar.view
    index = app.window.sidebar.model.index_of_folder(on)
    point = QPointF(view.visualRect(index).center())
    event = QDropEvent(
        point, Qt.DropAction.MoveAction, data, Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    view.dropEvent(event)


async def test_chats_go_into_folders_which_fold_and_are_renamed(running: OpenApp) -> None:
    async with running() as app:
        one, two, three_ = await three(app)
        choose(app, one.id, two.id)
        several = menu(app, two.id)
        assert titles(several) == ["2 chats", "Tags…", "Archive", "Export…", "Move to", "Delete"]
        app.window.sidebar.move_requested.emit([one.id, two.id], None)
        answer(app, "Lisbon / trip")
        await app.controllers.settle()
        await until(lambda: lines(app) == ["Lisbon trip 2", "  Two", "  One", "[Today]", "Three"])
        drop(app, chats_as_mime([three_.id]), "Lisbon trip")
        await app.controllers.settle()
        assert lines(app) == ["Lisbon trip 3", "  Three", "  Two", "  One"]
        app.window.sidebar.view.toggled.emit("Lisbon trip", True)
        await app.controllers.settle()
        assert lines(app) == ["Lisbon trip 3"]
        app.window.sidebar.folder_renamed.emit("Lisbon trip", "Porto")
        await app.controllers.settle()
        assert lines(app) == ["Porto 3"]
    async with running() as app:
        # as it was left
        await until(lambda: lines(app) == ["Porto 3"])
        app.window.sidebar.view.toggled.emit("Porto", False)
        await app.controllers.settle()
        app.window.sidebar.move_requested.emit([app.window.sidebar.model.chat_ids()[0]], "")
        await app.controllers.settle()
        assert lines(app) == ["Porto 2", "  Two", "  One", "[Today]", "Three"]
        app.controllers.folders.remove("Porto")
        await app.controllers.settle()
        assert lines(app) == ["[Today]", "Three", "Two", "One"]


async def test_folders_lie_in_folders(running: OpenApp) -> None:
    async with running() as app:
        one, _, _ = await three(app)
        for name, inside in (("Travel", ""), ("Lisbon", "Travel"), ("Work", "")):
            app.controllers.folders.make(name, inside)
            await app.controllers.settle()
        app.controllers.folders.move([one.id], "Travel/Lisbon")
        await app.controllers.settle()
        first = ["Travel 1", "  Lisbon 1", "    One", "Work 0", "[Today]", "Three", "Two"]
        assert lines(app) == first
        drop(app, folder_as_mime("Travel"), "Work")
        await app.controllers.settle()
        assert lines(app)[:4] == ["Work 1", "  Travel 1", "    Lisbon 1", "      One"]
        # not into itself
        drop(app, folder_as_mime("Work"), "Work/Travel")
        await app.controllers.settle()
        assert lines(app)[0] == "Work 1"
        app.controllers.folders.make("work")
        await app.controllers.settle()
        assert "There is a folder “work” already" in plain(app.window.banner.text())


async def test_a_folder_says_what_its_chats_say_nothing_about(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app, SamplingChoice(temperature=0.0, max_tokens=2))
        app.controllers.folders.make("Pirates")
        await app.controllers.settle()
        app.window.order.open_settings("Pirates")
        await until(lambda: app.window.order.settings is not None)
        window = app.window.order.settings
        assert window is not None
        window.prompt.setPlainText("Talk like a pirate.")
        await app.controllers.settle()
        window.accept()
        app.window.new_chat(folder=Folder("Pirates"))
        await ask(app, "Hello")
        assert lines(app)[:2] == ["Pirates 1", "  Hello"]
        chat = await app.services.branches.chat(app.controllers.open.id)
        assert chat is not None
        holds = effective(app.services.preferences.current, chat.options, "", above=chat.above)
        assert holds.system_prompt == "Talk like a pirate."
        await branch(app)
        app.controllers.folders.move([chat.id], "")
        await app.controllers.settle()
        chat = await app.services.branches.chat(chat.id)
        assert chat is not None
        assert chat.above == ()


async def test_archived_chats_are_in_no_list_and_come_back(running: OpenApp) -> None:
    async with running() as app:
        one, two, _ = await three(app)
        choose(app, one.id, two.id)
        archive = next(
            a for a in menu(app, two.id).actions() if a.text() == say("commands.chat.archive")
        )
        archive.trigger()
        await app.controllers.settle()
        assert lines(app) == ["[Today]", "Three"]
        app.window.commands.run("chats.archive")
        await app.controllers.settle()
        window = app.window.order.archive
        assert window is not None
        assert window.list.topLevelItemCount() == 2
        window.restore_requested.emit([one.id])
        await app.controllers.settle()
        assert window.list.topLevelItemCount() == 1
        assert lines(app) == ["[Today]", "Three", "One"]
        window.accept()


async def test_tags_are_shown_and_given_to_several(running: OpenApp) -> None:
    async with running() as app:
        one, two, _ = await three(app)
        chats = {chat.id: chat for chat in app.window.sidebar.model.summaries()}
        app.window.order.ask_tags([chats[one.id]])
        answer(app, "blue, deep  sea,, blue")
        await app.controllers.settle()
        chats = {chat.id: chat for chat in app.window.sidebar.model.summaries()}
        assert chats[one.id].tags == ("blue", "deep sea")
        app.window.order.ask_tags([chats[one.id], chats[two.id]])
        answer(app, "red")
        await app.controllers.settle()
        chats = {chat.id: chat for chat in app.window.sidebar.model.summaries()}
        assert (chats[one.id].tags, chats[two.id].tags) == (("blue", "deep sea", "red"), ("red",))


async def test_several_chats_are_deleted_and_brought_back_at_once(running: OpenApp) -> None:
    async with running() as app:
        one, two, three_ = await three(app)
        app.window.open_chat(one.id)
        await app.controllers.settle()
        choose(app, one.id, three_.id)
        app.window.sidebar.view.selectionModel().setCurrentIndex(
            app.window.sidebar.model.index_of(one.id), QItemSelectionModel.SelectionFlag.NoUpdate
        )
        QTest.keyClick(app.window.sidebar.view, Qt.Key.Key_Delete)
        await app.controllers.settle()
        assert lines(app) == ["[Today]", "Two"]
        app.window.toast.undo()
        await app.controllers.settle()
        assert lines(app) == ["[Today]", "Three", "Two", "One"]
        assert two.id in app.window.sidebar.model.chat_ids()


async def test_a_chat_that_answered_out_of_sight_is_marked_until_it_is_seen(
    running: OpenApp,
) -> None:
    async with running() as app:
        use_sampling(app, SamplingChoice(temperature=0.0, max_tokens=3))
        app.window.composer.set_text("Hello")
        app.window.composer.button.click()
        await until(lambda: app.controllers.reply.writing)
        first = app.controllers.open.id
        app.window.new_chat()
        await until(lambda: app.services.replies.reply_in(first) is None)
        await app.controllers.settle()

        def unseen() -> bool:
            return any(c.id == first and c.unseen for c in app.window.sidebar.model.summaries())

        assert unseen()
        app.window.open_chat(first)
        await app.controllers.settle()
        assert not unseen()
        await ask(app, "And now?")
        await app.controllers.settle()
        assert not unseen()


async def test_a_reply_that_comes_while_the_window_is_away_has_a_mark(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app)
        await begin(app, "Name a river.")
        chat = app.controllers.open.id

        def unseen() -> bool:
            return any(c.id == chat and c.unseen for c in app.window.sidebar.model.summaries())

        app.window.showMinimized()
        await reply_done(app)
        await until(unseen)
        app.window.showNormal()
        await until(lambda: not unseen())
        await begin(app, "And another one.")
        app.window.pages.show_models()
        await reply_done(app)
        await until(unseen)
        app.window.pages.show_chat()
        await until(lambda: not unseen())
