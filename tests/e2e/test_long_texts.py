"""Texts that nobody writes but many paste: told, kept, shown, and the window goes on."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData

from headstart.core.chats.parts import text_part
from headstart.core.chats.values import Chat, Message, MessageStatus, Role, new_id, now_ms
from headstart.core.settings.schema import EngineSettings
from tests.conftest import OpenApp, until
from tests.support.driver import ask, branch, shown_text, use_sampling

LETTERS = "".join(chr(97 + (at * 7919 + at // 26) % 26) for at in range(200_000))
RULE = "=" * 300_000


@pytest.mark.logs("a request failed")
@pytest.mark.parametrize("text", [LETTERS, RULE], ids=["letters", "rule"])
async def test_a_paste_that_does_not_fit_is_told_and_kept(running: OpenApp, text: str) -> None:
    async with running() as app:
        use_sampling(app)
        app.services.preferences.update(engine=EngineSettings(context_length=2048))
        app.services.preferences.update(long_paste=0)
        await app.controllers.settle()
        pasted = QMimeData()
        pasted.setText(text)
        app.window.composer.edit.insertFromMimeData(pasted)
        assert app.window.composer.text() == text
        # the model counts it, and what it cannot answer is not sent
        await until(lambda: app.controllers.room.refuses)
        app.window.composer.button.click()
        await app.controllers.settle()
        assert "too long" in app.window.room.label.text()
        assert app.window.composer.text() == text
        app.window.composer.set_text("")
        app.controllers.open.write("")
        app.window.new_chat()
        reply = await ask(app, "Are you still there?")
        # kernels decide whether it ends before the limit
        assert reply.status in (MessageStatus.COMPLETE, MessageStatus.STOPPED)
        assert reply.text


@pytest.mark.logs("a request failed")
@pytest.mark.parametrize("text", [LETTERS, RULE], ids=["letters", "rule"])
async def test_one_that_is_sent_all_the_same_is_told_and_kept(running: OpenApp, text: str) -> None:
    """Before the model has counted it."""
    async with running() as app:
        use_sampling(app)
        app.services.preferences.update(engine=EngineSettings(context_length=2048))
        failed = await ask(app, text)
        assert failed.status is MessageStatus.FAILED
        assert "too long for the model's context" in str(failed.error)
        assert (await branch(app))[0].text == text
        assert shown_text(app, 0) == text


@pytest.mark.parametrize("text", [LETTERS, RULE], ids=["letters", "rule"])
async def test_it_is_shown_in_a_chat(running: OpenApp, text: str) -> None:
    async with running() as app:
        chat, done = Chat(new_id(), "Long", now_ms(), now_ms()), MessageStatus.COMPLETE
        asked = Message(new_id(), chat.id, None, Role.USER, done, text_part(text), now_ms())
        answer = Message(
            new_id(), chat.id, asked.id, Role.ASSISTANT, done, text_part(f"Title\n{text}"), now_ms()
        )
        await app.storage.run(lambda store: store.messages.add([asked, answer], chat))
        app.controllers.chat_list.list()
        await app.controllers.settle()
        app.controllers.branch.open_chat(chat.id)
        await app.controllers.settle()
        app.window.grab()
        assert shown_text(app, 0) == text
        # Markdown takes a line of equals signs below a title for what makes it one
        wanted = "Title" if text == RULE else f"Title {LETTERS}"
        assert " ".join(shown_text(app, 1).split()) == wanted
