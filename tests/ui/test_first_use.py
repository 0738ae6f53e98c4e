"""What a new user stumbled over once, in the real window: each stays mended."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from headstart.chat.changes import BranchChanged, ReplyEvent
from headstart.core.chats.parts import text_part
from headstart.core.chats.values import (
    BranchPage,
    new_id,
)
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import Waiting
from headstart.core.settings.schema import SamplingChoice, Speculation
from headstart.home import Home
from tests.conftest import OpenApp, until
from tests.support.driver import stored_chats
from tests.support.plain import plain, plain_all


async def test_a_fixed_depth_has_room_in_the_inspector(running: OpenApp) -> None:
    async with running() as app:
        inspector = app.window.inspector
        app.window.panels.open_inspector()
        inspector.folds["speculation"].button.click()
        await app.controllers.settle()
        inspector.speculation.set_value(Speculation(depth_mode="fixed"))
        assert inspector.speculation.depth_box.isVisible()

        def too_wide() -> list[QWidget]:
            return [
                widget
                for widget in inspector.speculation.findChildren(QWidget)
                if widget.isVisible()
                and widget.mapTo(inspector, QPoint(widget.width(), 0)).x() > inspector.width()
            ]

        # the panel is laid out when its new rows are
        await until(lambda: not too_wide())


async def test_in_a_narrow_window_no_pane_lies_over_another(running: OpenApp) -> None:
    async with running() as app:
        window = app.window
        window.resize(720, 480)
        QApplication.processEvents()
        for _ in range(4):
            window.panels.toggle_inspector()
            await asyncio.sleep(0.02)
            panes = [
                pane.geometry()
                for pane in (window.sidebar, window.pages, window.inspector)
                if pane is not None and pane.isVisible()
            ]
            for left in panes:
                assert window.rect().contains(left)
                assert not any(left.intersects(other) for other in panes if other is not left)


async def test_two_deleted_chats_can_both_be_brought_back(running: OpenApp) -> None:
    async with running() as app:
        first, second = await stored_chats(app, "First", "Second")
        app.controllers.chat_list.delete([first])
        await app.controllers.settle()
        app.controllers.chat_list.delete([second])
        await app.controllers.settle()
        model = app.window.sidebar.model
        assert model.chat_ids() == []
        app.window.toast.undo()
        await app.controllers.settle()
        assert model.chat_ids() == [second]
        assert app.window.toast.isVisible()
        app.window.toast.undo()
        await app.controllers.settle()
        assert set(model.chat_ids()) == {first, second}
        # the keyboard is where one writes
        assert app.window.composer.edit.hasFocus()


async def test_tab_into_the_list_opens_nothing_and_goes_in_reading_order(running: OpenApp) -> None:
    async with running() as app:
        await stored_chats(app, "First", "Second")
        window = app.window
        window.activateWindow()
        begun = app.controllers.open.id
        window.sidebar.tab_order()[0].setFocus()
        seen: list[QWidget] = []
        for _ in range(60):
            focus = QApplication.focusWidget()
            assert focus is not None
            if focus in seen:
                # once round
                break
            seen.append(focus)
            QTest.keyClick(focus, Qt.Key.Key_Tab)
        await app.controllers.settle()
        assert app.controllers.open.id == begun
        order = [*window.sidebar.tab_order(), window.header.sidebar_button, window.header.pill]
        assert [one for one in seen if one in order] == order
        assert seen.index(window.header.pill) < seen.index(window.composer.edit)


async def test_a_title_keeps_its_room_beside_model_and_draft(running: OpenApp) -> None:
    async with running() as app:
        await stored_chats(app, "A question about rivers and the hills that they come from")
        header = app.window.header
        header.set_title("A question about rivers and the hills that they come from")
        header.pill.set_current("SmolLM2-1.7B-Instruct-Q4_K_M-with-a-long-name")
        header.show_draft("SmolLM2 135M", "2.7×")
        await asyncio.sleep(0.02)
        app.window.resize(1000, 600)
        await asyncio.sleep(0.02)
        assert len(header.title.text()) > 12


async def test_a_reply_that_waits_for_another_chat_says_so(running: OpenApp) -> None:
    async with running() as app:
        (chat,) = await stored_chats(app, "First")
        app.window.open_chat(chat)
        await until(lambda: app.controllers.open.id == chat)
        told: list[str] = []
        app.controllers.reply.reply_progress.connect(lambda _id, text: told.append(text))
        app.services.broadcast.tell(ReplyEvent(chat, "m", Waiting()))
        assert plain_all(told) == ["Waiting for the reply in another chat…"]


async def test_the_window_comes_back_as_it_was_left(running: OpenApp, home: Home) -> None:
    async with running() as app:
        chat, _ = await stored_chats(app, "First", "Second")
        app.window.open_chat(chat)
        await until(lambda: app.controllers.open.id == chat)
        app.window.resize(1200, 700)
        app.window.inspector.folds["prefix"].button.click()
        app.window.close()
    async with running() as app:
        app.controllers.branch.open_last(app.services.preferences.state.current.open_chat)
        await app.controllers.settle()
        await until(lambda: app.controllers.open.id == chat)
        assert (app.window.width(), app.window.height()) == (1200, 700)
        assert app.window.inspector.folds["prefix"].open
        assert not app.window.inspector.folds["speculation"].open


async def test_a_private_chat_is_not_named_for_the_next_start(running: OpenApp) -> None:
    async with running() as app:
        (chat,) = await stored_chats(app, "First")
        app.window.open_chat(chat)
        await until(lambda: app.controllers.open.id == chat)
        app.window.remember()
        assert app.services.preferences.state.current.open_chat == chat
        app.window.new_private_chat()
        private = app.controllers.open.id
        await app.services.conversation.send(private, "Between us")
        app.services.replies.stop(private)
        await until(lambda: app.controllers.open.stored)
        app.window.remember()
        assert app.services.preferences.state.current.open_chat == ""


async def test_stats_are_explained_and_can_be_switched_off(running: OpenApp) -> None:
    async with running() as app:
        (chat,) = await stored_chats(app, "First")
        app.window.open_chat(chat)
        await until(lambda: app.controllers.open.id == chat)
        await app.controllers.settle()
        answer = (await app.services.branches.whole(chat))[1]
        widget = app.window.transcript.widget_of(answer.id)
        assert widget is not None
        figures = widget.figures
        assert figures.isVisible()
        assert "Speed: " in plain(figures.accessibleDescription())
        short = figures.text()
        app.services.preferences.update(stats_shown="all")
        assert figures.text().startswith(f"{short} · ")
        app.services.preferences.update(stats_shown="none")
        assert not figures.isVisible()


async def test_the_inspector_begins_with_what_everybody_needs(running: OpenApp) -> None:
    async with running() as app:
        inspector = app.window.inspector
        app.window.panels.open_inspector()
        await app.controllers.settle()
        tops = [
            widget.mapTo(inspector, QPoint(0, 0)).y()
            for widget in (
                inspector.first_focus,
                inspector.system_prompt,
                inspector.folds["speculation"],
                inspector.folds["prefix"],
            )
        ]
        assert tops == sorted(tops)
        assert not inspector.speculation.isVisible()
        assert [plain(fold.button.text()) for fold in inspector.folds.values()] == [
            "Drafting: details", "Length and sampling", "Tools", "Knowledge", "Prompt cache",
            "When the context is full",
        ]  # fmt: skip
        assert not any(fold.open for fold in inspector.folds.values())


async def test_a_draft_that_is_the_model_itself_is_not_shown(
    running: OpenApp, tmp_path: Path
) -> None:
    async with running() as app:
        model = await app.services.models.of_chat(app.controllers.open.chat)
        app.services.preferences.update(
            speculation=Speculation(draft=model.key), sampling=SamplingChoice(max_tokens=4)
        )
        await app.controllers.settle()
        assert not app.window.header.draft_pill.isVisible()


async def test_what_is_being_typed_in_the_inspector_survives_the_end_of_a_reply(
    running: OpenApp,
) -> None:
    async with running() as app:
        (chat,) = await stored_chats(app, "Rivers")
        app.controllers.branch.open_chat(chat)
        await app.controllers.settle()
        box = app.window.inspector.system_prompt
        box.setFocus()
        QTest.keyClicks(box, "Be brief")
        # the model is shown again, as after each reply
        app.controllers.models.show()
        await app.controllers.settle()
        QTest.keyClicks(box, ", please.")
        await until(lambda: app.controllers.open.chat.options.system_prompt == "Be brief, please.")
        assert box.toPlainText() == "Be brief, please."


async def test_a_chat_that_cannot_be_read_leaves_the_open_one_usable(
    running: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running() as app:
        first, second = await stored_chats(app, "First", "Second")
        app.controllers.branch.open_chat(first)
        await app.controllers.settle()
        read = app.services.branches.page

        async def fails(*_args: object, **_more: object) -> BranchPage:
            raise EnvironmentProblem("as-written", message="The disk is gone.", remedy="")

        monkeypatch.setattr(app.services.branches, "page", fails)
        app.controllers.branch.open_chat(second)
        await app.controllers.settle()
        assert "The disk is gone." in app.window.banner.text()
        monkeypatch.setattr(app.services.branches, "page", read)
        assert app.controllers.open.id == first
        app.controllers.branch.open_chat(second)
        await app.controllers.settle()
        assert app.controllers.open.id == second


async def test_the_list_says_that_a_reply_waits_until_it_begins(running: OpenApp) -> None:
    async with running() as app:
        (chat,) = await stored_chats(app, "Rivers")
        said: list[object] = []
        app.controllers.chat_list.status_changed.connect(
            lambda chat_id, text: said.append(text) if chat_id == chat else None
        )
        app.services.broadcast.tell(ReplyEvent(chat, "m", Waiting()))
        app.services.broadcast.tell(BranchChanged(chat))
        await app.controllers.settle()
        # nothing is written there in truth: it is the end of what was said
        assert plain(str(said[0])) == "Waiting for another chat…"


async def test_a_change_of_the_chat_leaves_what_the_list_says_of_its_reply(
    running: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running() as app:
        (chat,) = await stored_chats(app, "Rivers")
        monkeypatch.setattr(app.services.replies, "reply_in", lambda _chat: object())
        said: list[object] = []
        app.controllers.chat_list.status_changed.connect(lambda _chat, text: said.append(text))
        app.services.broadcast.tell(ReplyEvent(chat, "m", Waiting()))
        app.services.broadcast.tell(BranchChanged(chat))
        await app.controllers.settle()
        assert plain(str(said[-1])) == "Waiting for another chat…"


async def test_the_list_counts_the_messages_on_show(running: OpenApp) -> None:
    async with running() as app:
        (chat,) = await stored_chats(app, "Rivers")
        branch = await app.services.branches.whole(chat)
        version = replace(branch[0], id=new_id(), parts=text_part("Rivers?"))
        answer = replace(branch[1], id=new_id(), parent_id=version.id)
        await app.storage.run(lambda store: store.messages.add([version, answer]))
        summary = await app.services.chat_list.summary(chat)
        assert summary is not None
        assert summary.messages == 2
