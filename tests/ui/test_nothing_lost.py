"""What is chosen, marked or typed is not lost while something else happens, in the real window."""

from __future__ import annotations

import asyncio

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit

from headstart.core.chats.values import BranchPage
from headstart.core.errors import EnvironmentProblem
from headstart.ui.wording import say
from tests.conftest import OpenApp, until
from tests.support.driver import stored_chats


async def test_a_chat_that_is_chosen_while_another_one_is_read_is_opened(running: OpenApp) -> None:
    async with running() as app:
        first, second = await stored_chats(app, "First", "Second")
        app.controllers.branch.open_chat(first)
        # the first one's page is there before the second one's task begins
        await asyncio.sleep(0)
        app.controllers.branch.open_chat(second)
        await app.controllers.settle()
        assert app.controllers.open.id == second


async def test_the_list_marks_what_is_open_after_one_could_not_be_read(
    running: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running() as app:
        first, second = await stored_chats(app, "First", "Second")
        sidebar = app.window.sidebar
        app.controllers.branch.open_chat(first)
        await app.controllers.settle()

        async def fails(*_args: object, **_more: object) -> BranchPage:
            raise EnvironmentProblem("as-written", message="The disk is gone.", remedy="")

        with monkeypatch.context() as patch:
            patch.setattr(app.services.branches, "page", fails)
            sidebar.view.setCurrentIndex(sidebar.model.index_of(second))
            await app.controllers.settle()
        assert sidebar.view.currentIndex() == sidebar.model.index_of(first)
        sidebar.view.setCurrentIndex(sidebar.model.index_of(second))
        await app.controllers.settle()
        assert app.controllers.open.id == second


async def test_what_is_typed_in_the_inspector_survives_a_fold(running: OpenApp) -> None:
    async with running() as app:
        inspector = app.window.inspector
        field = next(
            each
            for each in inspector.findChildren(QPlainTextEdit)
            if each.accessibleName() == say("inspector.stop-strings-one-on-each")
        )
        field.setFocus()
        QTest.keyClicks(field, "END")
        inspector.folds["speculation"].button.click()
        await app.controllers.settle()
        assert field.toPlainText() == "END"
        assert app.controllers.open.chat.options.sampling is not None
        assert app.controllers.open.chat.options.sampling.stop == ("END",)


async def test_esc_closes_the_editor_that_has_the_focus(running: OpenApp) -> None:
    async with running() as app:
        (chat,) = await stored_chats(app, "Rivers")
        app.window.open_chat(chat)
        await until(lambda: app.controllers.open.id == chat)
        await app.controllers.settle()
        question = (await app.services.branches.whole(chat))[0]
        transcript = app.window.transcript
        transcript.begin_edit(question.id)
        widget = transcript.widget_of(question.id)
        assert widget is not None
        assert widget.editor is not None
        QTest.keyClicks(widget.editor, " and lakes")
        app.window.composer.edit.setFocus()
        app.window.escape()
        assert widget.editing
        # another chat is looked at; the text is still there afterwards
        app.window.new_chat()
        await app.controllers.settle()
        app.window.open_chat(chat)
        await until(lambda: app.controllers.open.id == chat)
        await app.controllers.settle()
        widget = transcript.widget_of(question.id)
        assert widget is not None
        assert widget.editor is not None
        assert widget.editor.toPlainText().endswith(" and lakes")
        widget.editor.setFocus()
        app.window.escape()
        assert not widget.editing
