"""Versions and branches, as a user makes, compares and removes them in the window."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton

from headstart.assembly import App
from headstart.core.chats.values import Message, MessageStatus, Role
from headstart.core.settings.schema import SamplingChoice
from headstart.ui.transcript.message import MessageWidget
from headstart.ui.wording import say
from tests.conftest import OpenApp, until
from tests.support.driver import ask, branch, use_sampling
from tests.support.plain import plain
from tests.ui.test_searching import store

BRIEF = SamplingChoice(temperature=0.0, max_tokens=4)


def widget(app: App, index: int) -> MessageWidget:
    items = app.window.transcript.column.items
    found = app.window.transcript.widget_of(items[index].message.id)
    assert found is not None
    return found


def run(app: App, command: str, index: int) -> None:
    """An action of a message, as its row or its menu does it."""
    (found,) = (one for one in app.window.commands.message if one.id == command)
    message = app.window.transcript.column.items[index].message
    assert found.shown(message)
    found.run(message)


async def shown(app: App, *texts: str) -> None:
    """Wait until these are the texts of the branch, in the window and in the database."""
    await app.controllers.settle()
    items = app.window.transcript.column.items
    await until(lambda: [item.message.text for item in items] == list(texts))
    assert [message.text for message in await branch(app)] == list(texts)


async def opened(app: App, *texts: str) -> list[Message]:
    chat, messages = await store(app, "Rivers", *texts)
    app.window.open_chat(chat.id)
    await app.controllers.settle()
    return messages


async def test_a_reply_is_edited_and_gone_on_with(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app, BRIEF)
        await opened(app, "Name a river", "The Rhine.")
        reply = widget(app, 1)
        reply.foot.buttons["message.edit"].click()
        assert reply.editor is not None
        reply.editor.setPlainText("The Nile, because")
        save = _button(reply, "transcript.save-as-new-version")
        save.click()
        await app.controllers.settle()
        await until(lambda: widget(app, 1).message.text == "The Nile, because")
        assert plain(widget(app, 1).foot.version.text()) == "2 of 2"
        run(app, "message.edit", 1)
        more = _button(widget(app, 1), "transcript.save-and-continue")
        more.click()
        await app.controllers.settle()
        await until(lambda: not app.controllers.reply.writing)
        await app.controllers.settle()
        written = (await branch(app))[1]
        assert written.text.startswith("The Nile, because")
        assert len(written.text) > len("The Nile, because")
        assert written.versions == 3


def _buttons(message: MessageWidget) -> list[QPushButton]:
    return [one for one in message.findChildren(QPushButton) if one.isVisibleTo(message)]


def _button(of: MessageWidget, code: str) -> QPushButton:
    (found,) = (one for one in _buttons(of) if one.text() == say(code))
    return found


async def test_a_question_is_edited_without_an_answer_and_answered_later(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app, BRIEF)
        await opened(app, "Name a river", "The Rhine.")
        run(app, "message.edit", 0)
        question = widget(app, 0)
        assert question.editor is not None
        question.editor.setPlainText("Name a lake")
        save = _button(question, "transcript.save-without-answer")
        save.click()
        await shown(app, "Name a lake")
        run(app, "message.answer", 0)
        await until(lambda: len(app.window.transcript.column.items) == 2)
        await until(lambda: not app.controllers.reply.writing)
        await app.controllers.settle()
        question_, answer = await branch(app)
        assert question_.text == "Name a lake"
        assert answer.status is not MessageStatus.OPEN
        assert answer.parent_id == question_.id


async def test_a_message_is_inserted_and_nobody_answers(running: OpenApp) -> None:
    async with running() as app:
        await opened(app, "Name a river", "The Rhine.", "Another", "The Nile.")
        run(app, "message.insert", 1)
        window = app.window.dialogs.inserting
        assert window is not None
        assert not window.insert.isEnabled()
        window.edit.setPlainText("It is in Europe.")
        window.who.setCurrentIndex(1)
        window.insert.click()
        await shown(app, "Name a river", "The Rhine.", "It is in Europe.")
        assert (await branch(app))[2].role is Role.ASSISTANT
        # what came after stays, as another version
        widget(app, 2).foot.earlier.click()
        await shown(app, "Name a river", "The Rhine.", "Another", "The Nile.")


async def test_a_branch_goes_into_a_chat_of_its_own(running: OpenApp) -> None:
    async with running() as app:
        first = await opened(app, "Name a river", "The Rhine.", "Another", "The Nile.")
        run(app, "message.branch", 1)
        await until(lambda: app.controllers.open.id != first[0].chat_id)
        await shown(app, "Name a river", "The Rhine.")
        assert app.controllers.open.chat.title == "Rivers (branch)"
        assert len(await app.services.branches.whole(first[0].chat_id)) == 4


async def test_a_branch_is_removed_and_brought_back(running: OpenApp) -> None:
    async with running() as app:
        await opened(app, "Name a river", "The Rhine.", "Another", "The Nile.")
        run(app, "message.remove", 2)
        await shown(app, "Name a river", "The Rhine.")
        said = [plain(one.text()) for one in app.window.toast.findChildren(QLabel)]
        assert "Deleted 2 messages" in said
        app.window.toast.undo()
        await shown(app, "Name a river", "The Rhine.", "Another", "The Nile.")
        run(app, "message.remove", 0)
        await app.controllers.settle()
        assert "whole chat" in plain(app.window.banner.text())
        assert len(await branch(app)) == 4


async def test_the_map_leads_to_every_branch(running: OpenApp) -> None:
    async with running() as app:
        messages = await opened(app, "Name a river", "The Rhine.", "Another", "The Nile.")
        assert plain(app.window.header.branches.toolTip()).startswith("Branches of this chat")
        await app.services.versions.save(messages[0].chat_id, messages[1].id, "The Volga.")
        await shown(app, "Name a river", "The Volga.")
        assert plain(app.window.header.branches.toolTip()).startswith("2 branches of this chat")
        app.window.commands.run("chat.branches")
        panel = app.window.dialogs.panel
        await until(lambda: panel.rows.rowCount() == 5)
        words = [str(panel.rows.index(number).data()) for number in range(5)]
        assert panel.isVisible()
        # the way that was left hangs off the straight line
        assert words == ["Name a river", "The Rhine.", "Another", "The Nile.", "The Volga."]
        assert panel.list.currentIndex().data() == "The Volga."
        assert plain(panel.count.text()) == "5 messages · 2 ways it goes"
        assert panel.compare.isEnabled()
        panel.list.setCurrentIndex(panel.rows.index(3))
        QTest.keyClick(panel.list, Qt.Key.Key_Return)
        await shown(app, "Name a river", "The Rhine.", "Another", "The Nile.")


async def test_versions_are_compared_and_one_is_chosen(running: OpenApp) -> None:
    async with running() as app:
        messages = await opened(app, "Name a river", "The Rhine flows north.")
        new = await app.services.versions.save(
            messages[0].chat_id, messages[1].id, "The Nile flows north."
        )
        await app.controllers.settle()
        run(app, "message.compare", 1)
        await until(lambda: app.window.dialogs.comparing is not None)
        window = app.window.dialogs.comparing
        assert window is not None
        marked = [
            [one.cursor.selectedText() for one in pane.extraSelections()] for pane in window.panes
        ]
        assert marked == [["Rhine"], ["Nile"]]
        assert (await branch(app))[1].id == new
        QTest.mouseClick(window.keeps[0], Qt.MouseButton.LeftButton)
        await shown(app, "Name a river", "The Rhine flows north.")


async def test_three_more_are_tried_one_after_another(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app, SamplingChoice(temperature=0.0, max_tokens=3))
        await ask(app, "Name a river")
        run(app, "message.try_three", 1)
        await app.controllers.settle(120)
        reply = (await branch(app))[1]
        assert (reply.version, reply.versions) == (4, 4)
        versions = await app.services.versions.siblings(reply.chat_id, reply.id)
        assert all(one.text for one in versions)
