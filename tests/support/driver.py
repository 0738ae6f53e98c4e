"""Drives the real window in tests: what a user does, and waiting for what they see."""

from __future__ import annotations

from headstart.assembly import App
from headstart.core.chats.parts import text_part
from headstart.core.chats.values import (
    Chat,
    FinishReason,
    Message,
    MessageStatus,
    Role,
    TurnStats,
    new_id,
    now_ms,
)
from headstart.core.settings.schema import SamplingChoice
from tests.conftest import until

GREEDY = SamplingChoice(temperature=0.0, max_tokens=48)


def use_sampling(app: App, sampling: SamplingChoice = GREEDY) -> None:
    app.services.preferences.update(sampling=sampling)


def stored_chat(app: App) -> str | None:
    """The open chat's id; None before its first message."""
    return app.controllers.open.id if app.controllers.open.stored else None


async def branch(app: App) -> list[Message]:
    assert app.controllers.open.stored
    return await app.services.branches.whole(app.controllers.open.id)


async def reply_done(app: App) -> Message:
    """Wait for the reply to end and be shown; returns it."""
    await until(lambda: not app.controllers.reply.writing)
    await app.controllers.settle()
    last = (await branch(app))[-1]
    assert last.role is Role.ASSISTANT
    assert last.status is not MessageStatus.OPEN
    return last


async def ask(app: App, text: str) -> Message:
    """Type, press Send, wait for the whole reply."""
    await begin(app, text)
    return await reply_done(app)


async def begin(app: App, text: str) -> None:
    """Type and press Send; returns once the words are stored and the reply is open."""
    items = app.window.transcript.column.items
    before = {one.message.id for one in items}

    def replied() -> bool:
        # a short reply may be over before somebody looks
        shown = [one.message for one in app.window.transcript.column.items]
        return any(one.role is Role.ASSISTANT and one.id not in before for one in shown)

    app.window.composer.set_text(text)
    app.window.composer.button.click()
    await until(lambda: app.controllers.reply.writing or app.window.banner.isVisible() or replied())
    await app.controllers.settle()


async def words_shown(app: App, at_least: int) -> None:
    """Wait until the reply has so many characters on the screen."""

    def shown() -> bool:
        items = app.window.transcript.column.items
        if not items or items[-1].widget is None:
            return False
        return sum(len(slot.block.source) for slot in items[-1].widget.text.slots) >= at_least

    await until(shown)


def shown_text(app: App, index: int) -> str:
    """The rendered text of a message as the window shows it."""
    item = app.window.transcript.column.items[index]
    widget = app.window.transcript.widget_of(item.message.id)
    assert widget is not None
    blocks = [widget.text.widget(number) for number in range(len(widget.text.slots))]
    return "\n".join(block.document.toPlainText() for block in blocks)


def shown_version(app: App, index: int) -> tuple[int, int]:
    message = app.window.transcript.column.items[index].message
    return message.version, message.versions


async def stored_chats(app: App, *titles: str) -> list[str]:
    """Chats with a question and an answer each, in the list."""
    ids = []
    for number, title in enumerate(titles):
        chat = Chat(new_id(), title, now_ms() + number, now_ms() + number)
        complete = MessageStatus.COMPLETE
        question = Message(new_id(), chat.id, None, Role.USER, complete, text_part(title), now_ms())
        stats = TurnStats(FinishReason.END, 20, 10, 0.1, 0.2, 30, 1.5)
        answer = Message(
            new_id(), chat.id, question.id, Role.ASSISTANT, complete, text_part("Yes."), now_ms()
        )
        await app.storage.run(
            lambda store, q=question, a=answer, c=chat: store.messages.add([q, a], c)  # type: ignore[misc]
        )
        await app.storage.run(
            lambda store, a=answer, s=stats: store.messages.finish(  # type: ignore[misc]
                a.id, a.parts, MessageStatus.COMPLETE, s
            )
        )
        ids.append(chat.id)
    app.controllers.chat_list.list()
    await app.controllers.settle()
    return ids
