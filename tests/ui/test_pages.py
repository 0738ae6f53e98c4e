"""A long chat is shown from its end, in pages; what comes before is fetched as one goes there."""

from __future__ import annotations

import asyncio

import pytest

from headstart.assembly import App
from headstart.chat.changes import ReplyEnded
from headstart.core.chats.parts import text_part
from headstart.core.chats.values import Chat, Message, MessageStatus, Role, new_id, now_ms
from headstart.core.settings.prefix import PrefixSettings
from tests.conftest import OpenApp, until

COUNT = 230


async def _long_chat(app: App) -> tuple[str, list[str]]:
    """A chat of `COUNT` messages in one branch; returns its id and theirs."""
    chat = Chat(new_id(), "A long one", now_ms(), now_ms())
    parent: str | None = None
    new = []
    for number in range(COUNT):
        role = Role.ASSISTANT if number % 2 else Role.USER
        message = Message(
            new_id(), chat.id, parent, role, MessageStatus.COMPLETE,
            text_part(f"Message {number}. " + "It has some words. " * 12), now_ms(),
        )  # fmt: skip
        new.append(message)
        parent = message.id
    await app.storage.run(lambda store: store.messages.add(new, chat))
    return chat.id, [message.id for message in new]


def _shown(app: App) -> list[str]:
    return [item.message.id for item in app.window.transcript.column.items]


async def test_a_long_chat_opens_at_its_end_and_grows_upwards(running: OpenApp) -> None:
    async with running() as app:
        chat_id, ids = await _long_chat(app)
        app.controllers.branch.open_chat(chat_id)
        await until(lambda: _shown(app) == ids[-50:])
        transcript, bar = app.window.transcript, app.window.transcript.verticalScrollBar()
        await app.controllers.settle()
        assert bar.value() == bar.maximum()
        assert _shown(app) == ids[-50:]
        # to the top: what was at the top of the view stays there
        bar.setValue(0)
        first = transcript.widget_of(ids[-50])
        assert first is not None
        before = first.y()
        await until(lambda: _shown(app) == ids[-100:])
        await asyncio.sleep(0.05)
        assert abs(first.y() - before) <= 2
        while len(_shown(app)) < COUNT:
            seen = len(_shown(app))
            bar.setValue(0)
            await until(lambda seen=seen: len(_shown(app)) > seen)
        assert _shown(app) == ids


async def test_selecting_all_of_a_long_chat_selects_what_is_not_shown_yet(
    running: OpenApp,
) -> None:
    async with running() as app:
        chat_id, ids = await _long_chat(app)
        app.controllers.branch.open_chat(chat_id)
        await until(lambda: _shown(app) == ids[-50:])
        app.window.transcript.select_all()
        await until(lambda: _shown(app) == ids)
        text = app.window.transcript.selecting.text()
        assert all(f"Message {number}." in text for number in range(COUNT))


async def test_the_end_of_a_reply_reads_one_message(
    running: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running() as app:
        # what is prefilled ahead is read too, and not meant here
        app.services.preferences.update(prefix=PrefixSettings(prefill_ahead=False))
        chat_id, ids = await _long_chat(app)
        app.controllers.branch.open_chat(chat_id)
        await until(lambda: _shown(app) == ids[-50:])
        await app.controllers.settle()
        reply = (await app.services.branches.page(chat_id)).messages[-1]
        pages: list[str] = []
        real = app.services.branches.page

        async def page(*arguments: object, **more: object) -> object:
            pages.append("page")
            return await real(*arguments, **more)

        monkeypatch.setattr(app.services.branches, "page", page)
        await app.storage.run(
            lambda store: store.messages.finish(
                reply.id, text_part("Other words."), MessageStatus.COMPLETE, None
            )
        )
        app.services.broadcast.tell(ReplyEnded(chat_id, reply.id))
        await app.controllers.settle()
        widget = app.window.transcript.widget_of(reply.id)
        assert widget is not None
        assert widget.message.text == "Other words."
        assert pages == []
