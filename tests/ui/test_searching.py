"""Words are found in all chats and in the open one, and the reader gets to where they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from headstart.assembly import App
from headstart.core.chats.parts import text_part
from headstart.core.chats.values import Chat, Message, MessageStatus, Role, new_id, now_ms
from headstart.core.errors import EnvironmentProblem
from headstart.storage.search import SearchTable
from headstart.ui.sidebar.search_results import ResultRow
from tests.conftest import OpenApp, until
from tests.support.driver import ask, use_sampling
from tests.support.knowledge_window import picture
from tests.support.plain import plain


async def store(app: App, title: str, *texts: str) -> tuple[Chat, list[Message]]:
    """A chat of questions and answers in turn."""
    chat = Chat(new_id(), title, now_ms(), now_ms())
    parent, new = None, []
    for number, text in enumerate(texts):
        role = Role.ASSISTANT if number % 2 else Role.USER
        done = MessageStatus.COMPLETE
        message = Message(new_id(), chat.id, parent, role, done, text_part(text), now_ms())
        new.append(message)
        parent = message.id
    await app.storage.run(lambda store: store.messages.add(new, chat))
    app.controllers.chat_list.list()
    await app.controllers.settle()
    return chat, new


def rows(app: App) -> list[ResultRow]:
    results = app.window.sidebar.results.results
    found = [results.row(results.index(number)) for number in range(results.rowCount())]
    return [row for row in found if row is not None]


def title(row: ResultRow) -> str:
    assert row.chat is not None
    return row.chat.title


async def search(app: App, query: str) -> list[ResultRow]:
    box = app.window.sidebar.search
    box.setFocus()
    box.clear()
    box.insert(query)
    await until(lambda: not app.window.sidebar.results.isHidden())
    await until(lambda: rows(app) or not app.window.sidebar.searching.nothing.isHidden())
    await app.controllers.settle()
    return rows(app)


async def test_enter_goes_to_the_message_with_what_was_found_marked(running: OpenApp) -> None:
    async with running() as app:
        texts = [f"{'question' if n % 2 == 0 else 'answer'} number {n}" for n in range(200)]
        texts[21] = "The **walrus** lives in the north.\n\n```py\nwalrus = 1\n```"
        chat, messages = await store(app, "Animals", *texts)
        await store(app, "Rivers", "Name a river", "The Nile.")
        found = await search(app, "walr")
        assert [(title(row), row.message is not None) for row in found] == [
            ("Animals", False), ("Animals", True),
        ]  # fmt: skip
        QTest.keyClick(app.window.sidebar.search, Qt.Key.Key_Return)
        await until(lambda: app.controllers.open.id == chat.id)
        await until(lambda: not app.window.find_bar.isHidden())
        await app.controllers.settle()
        view = app.window.transcript
        widget = view.widget_of(messages[21].id)
        assert widget is not None
        await until(lambda: "1 of 2" in plain(app.window.find_bar.count.text()))
        prose, code = (widget.text.widget(number) for number in range(2))
        assert [mark[2] for mark in view.host.found_in(prose)] == [True]
        assert [mark[2] for mark in view.host.found_in(code)] == [False]
        assert 0 <= widget.y() + prose.y() < view.viewport().height()
        app.window.find_bar.edit.setFocus()
        QTest.keyClick(app.window.find_bar.edit, Qt.Key.Key_Return)
        assert [mark[2] for mark in view.host.found_in(code)] == [True]
        QTest.keyClick(app.window.find_bar.edit, Qt.Key.Key_Escape)
        assert app.window.find_bar.isHidden()
        assert view.host.found_in(prose) == []


async def test_a_message_of_another_branch_is_reached(running: OpenApp) -> None:
    async with running() as app:
        chat, (question, answer) = await store(app, "Animals", "Name one", "A walrus.")
        done = MessageStatus.COMPLETE
        other = Message(
            new_id(), chat.id, question.id, Role.ASSISTANT, done, text_part("A seal."), now_ms()
        )
        await app.storage.run(lambda store: store.messages.add([other]))
        app.window.open_chat(chat.id)
        await app.controllers.settle()
        view = app.window.transcript
        assert [item.message.id for item in view.column.items] == [question.id, other.id]
        app.window.commands.run("chat.find")
        bar = app.window.find_bar
        QTest.keyClicks(bar.edit, "walrus")
        await until(lambda: plain(bar.count.text()) == "Nothing found")
        bar.branches.click()
        await until(lambda: plain(bar.count.text()) == "1 of 1")
        await until(lambda: [item.message.id for item in view.column.items][1] == answer.id)
        await until(lambda: view.host.finding.current == (answer.id, 0))


async def test_search_has_filters_and_says_where_nothing_is(running: OpenApp) -> None:
    async with running() as app:
        chat, _ = await store(app, "Code", "Write it", "```py\nx = 1  # walrus\n```")
        await store(app, "Words", "What is a walrus?", "An animal.")
        assert {title(row) for row in await search(app, "walrus")} == {"Code", "Words"}
        assert {title(row) for row in await search(app, "walrus has:code")} == {"Code"}
        assert await search(app, "walrus nile") == []
        assert {title(row) for row in await search(app, "wor")} == {"Words"}
        await app.services.chat_list.archive([chat.id], True)
        found = await search(app, "walrus has:code")
        assert found[0].chat is not None
        assert found[0].chat.archived
        QTest.keyClick(app.window.sidebar.search, Qt.Key.Key_Escape)
        assert app.window.sidebar.results.isHidden()
        assert app.window.sidebar.view.isVisible()


async def test_private_chats_are_searched_while_they_are_open(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app)
        app.window.new_private_chat()
        await ask(app, "a secret walrus")
        found = await search(app, "walrus secret")
        assert [title(row) for row in found] == ["A secret walrus"] * 2


@pytest.mark.parametrize("query", ["日本", "大阪"])
async def test_chinese_and_japanese_are_found(running: OpenApp, query: str) -> None:
    async with running() as app:
        await store(app, "旅行", "日本の大阪へ行きます。", "いいですね。")
        found = await search(app, query)
        assert [title(row) for row in found] == ["旅行", "旅行"]
        message = found[1].message
        assert message is not None
        ((begin, end),) = message.snippet.marks
        assert message.snippet.text[begin:end] == query


async def test_the_keys_lead_there(running: OpenApp) -> None:
    async with running() as app:
        await store(app, "Rivers", "Name a river", "The Nile.")
        app.window.activateWindow()
        app.window.commands.run("chats.search")
        await until(lambda: QApplication.focusWidget() is app.window.sidebar.search)
        QTest.keyClicks(app.window.sidebar.search, "nile")
        await until(lambda: rows(app))
        QTest.keyClick(app.window.sidebar.search, Qt.Key.Key_Down)
        assert app.window.sidebar.results.hasFocus()
        QTest.keyClick(app.window.sidebar.results, Qt.Key.Key_Up)
        assert app.window.sidebar.search.hasFocus()


async def test_words_of_an_index_that_is_being_made_come_by_themselves(
    running: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headstart.chat.finding.FIRST_SECONDS", 600.0)
    async with running() as app:
        await store(app, "Animals", "Name an animal", "The walrus.")
        await app.storage.run(lambda store: store.search.make_again())
        searching = app.window.sidebar.searching
        box = app.window.sidebar.search
        box.setFocus()
        box.insert("walrus")
        # nobody types anything more
        await until(lambda: [row for row in rows(app) if row.message is not None])
        await until(lambda: plain(searching.nothing.text()) == "1 chat, 1 message")
        assert len(await search(app, "penguin")) == 0
        assert "Nothing found" in plain(searching.nothing.text())


@pytest.mark.logs("the index of words is made later")
async def test_an_index_that_cannot_be_made_is_not_waited_for(
    running: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cannot(_table: SearchTable) -> bool:
        raise EnvironmentProblem("database-closed")

    async with running() as app:
        await store(app, "Animals", "Name an animal", "The walrus.")
        await app.storage.run(lambda store: store.search.make_again())
        monkeypatch.setattr(SearchTable, "build", cannot)
        searching = app.window.sidebar.searching
        box = app.window.sidebar.search
        box.setFocus()
        box.insert("walrus")
        await until(
            lambda: (
                not searching.nothing.isHidden()
                and "Nothing found" in plain(searching.nothing.text())
            )
        )
        # titles are found without it
        box.setText("animals")
        await until(lambda: [title(row) for row in rows(app)] == ["Animals"])
        await until(lambda: plain(searching.nothing.text()) == "1 chat")


async def test_a_long_chat_hides_no_other_and_its_places_come_on_demand(running: OpenApp) -> None:
    async with running() as app:
        for number in range(7):
            await store(app, f"Garden {number}", "What about **compost**?", "It needs air.")
        await store(app, "Long", *[f"compost, day {number}" for number in range(150)])
        found = await search(app, "compost")
        chats = [row for row in found if row.message is None and not row.more]
        assert len(chats) == 8
        assert plain(app.window.sidebar.searching.nothing.text()) == "8 chats, 157 messages"
        snippets = [row.message.snippet.text for row in found if row.message is not None]
        assert not [one for one in snippets if "*" in one]
        results = app.window.sidebar.results
        more = next(number for number, row in enumerate(found) if row.more)
        assert found[more].shown == "and 147 more messages"
        shown = len(found)
        results.setCurrentIndex(results.results.index(more))
        QTest.keyClick(results, Qt.Key.Key_Return)
        await until(lambda: len(rows(app)) == shown + 20)
        assert [row.shown for row in rows(app) if row.more] == ["and 127 more messages"]
        # the row that was chosen is the first of the new ones
        assert results.currentIndex().row() == more


async def test_files_are_found_beside_chats(running: OpenApp, tmp_path: Path) -> None:
    folder = tmp_path / "garden"
    folder.mkdir()
    (folder / "heap.md").write_text("# Heap\n\nThe **compost** heap stands behind the shed.\n")
    async with running() as app:
        app.controllers.knowledge.add(str(folder))
        await app.controllers.settle()
        await app.services.knowledge.knowledge.indexing.settled()
        await store(app, "Garden", "What about compost?", "It needs air.")
        await search(app, "compost")
        await until(lambda: any(row.passage for row in rows(app)))
        found = rows(app)
        assert [row.shown for row in found if row.chat is None and row.passage is None] == [
            "In your files",
            "All results in files…",
        ]
        (passage,) = [row for row in found if row.passage is not None]
        assert passage.shown.endswith("The compost heap stands behind the shed.")
        await picture(app, "searched")
        results = app.window.sidebar.results
        results.clicked.emit(results.results.index(found.index(passage)))
        window = app.window.knowledge.passage
        assert window is not None
        await until(lambda: "compost" in window.marked)
        window.reject()
        results.clicked.emit(results.results.index(len(found) - 1))
        sheet = app.window.knowledge.search
        assert sheet is not None
        assert sheet.field.text() == "compost"
        await until(lambda: sheet.list.count() == 1)
        sheet.reject()
        # words that files alone have are found
        await search(app, "shed")
        await until(lambda: any(row.passage for row in rows(app)))
        assert app.window.sidebar.searching.nothing.isHidden()
        # filters are of chats
        assert not any(row.passage for row in await search(app, "compost has:code"))
