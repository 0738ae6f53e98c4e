"""The transcript for who hears it: texts by lines, places among the messages, replies by sentences,
and notices."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QAccessible

from headstart.assembly import App
from headstart.core.chats.sections import ReplySections, SaidText
from headstart.core.chats.values import Message
from headstart.ui.kit.text_face import TextFace
from headstart.ui.transcript import spoken
from headstart.ui.transcript.blocks import TextBlock
from headstart.ui.transcript.spoken import SpokenReply
from tests.conftest import OpenApp, until
from tests.support.heard import face
from tests.support.plain import plain, plain_all
from tests.ui.looks import fill

Text, Boundary = QAccessible.Text, QAccessible.TextBoundaryType


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    QAccessible.setActive(True)
    yield
    QAccessible.setActive(False)


async def shown_blocks(app: App) -> list[TextBlock]:
    chat = await fill(app)
    app.window.open_chat(chat)
    await app.controllers.settle()
    app.window.transcript.verticalScrollBar().setValue(0)
    await app.controllers.settle()
    return [one for one in app.window.transcript.findChildren(TextBlock) if one.isVisible()]


async def test_texts_are_read_by_characters_and_places(running: OpenApp) -> None:
    async with running() as app:
        blocks = await shown_blocks(app)
        assert len(blocks) > 3
        for block in blocks:
            text = face(block)
            assert isinstance(text, TextFace)
            whole = block.heard().text
            count = len(whole.encode("utf-16-le")) // 2
            assert text.characterCount() == count
            assert text.text(0, -1) == text.text(0, count) == whole
            assert text.text(0, 3) == whole.encode("utf-16-le")[:6].decode("utf-16-le", "replace")
            inside = text.characterRect(0)
            origin = block.mapToGlobal(QPoint(0, 0))
            assert origin.y() <= inside.top() <= origin.y() + block.height()
            assert text.selectionCount() == 0


async def test_an_emoji_is_two_units_and_one_character(running: OpenApp) -> None:
    async with running() as app:
        block = (await shown_blocks(app))[0]
        block.document.setPlainText("a🙂b")
        text = face(block)
        assert isinstance(text, TextFace)
        assert text.characterCount() == 4
        assert text.text(1, 3) == "🙂"
        assert text.text(3, 4) == "b"


async def test_messages_tell_their_place(running: OpenApp) -> None:
    async with running() as app:
        await shown_blocks(app)
        items = app.window.transcript.column.items
        first = app.window.transcript.widget_of(items[0].message.id)
        assert first is not None
        assert plain(face(first).text(Text.Description)) == f"Message 1 of {len(items)}"


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    monkeypatch.setattr(spoken, "tell", lambda _widget, text: found.append(text))
    return found


def grown(reply: SpokenReply, *texts: str) -> None:
    for text in texts:
        reply.grow("one", ReplySections((SaidText(text),)))


async def test_a_reply_is_read_by_sentences(running: OpenApp, told: list[str]) -> None:
    async with running() as app:
        app.window.activateWindow()
        reply = SpokenReply(app.window.transcript, lambda: True, lambda _id: None)
        grown(
            reply, "The **sky**", "The **sky** is blue. It", "The **sky** is blue. It is wide.\n\n"
        )
        assert told == ["The sky is blue.", "It is wide."]
        grown(reply, "The **sky** is blue. It is wide.\n\n```python\na\nb\n```\nDone")
        assert plain_all(told[2:]) == ["Code, 2 lines."]


async def test_the_end_of_a_reply_is_told(running: OpenApp, told: list[str]) -> None:
    async with running() as app:
        app.window.activateWindow()
        chat = await fill(app)
        app.window.open_chat(chat)
        await app.controllers.settle()
        message: Message = app.window.transcript.column.items[1].message
        reply = SpokenReply(app.window.transcript, lambda: True, lambda _id: message)
        grown(reply, "No end")
        assert told == []
        reply.set_writing(False)
        await until(lambda: bool(told))
        assert plain_all(told) == ["No end", "The reply is finished."]


async def test_nobody_hears_what_is_switched_off(running: OpenApp, told: list[str]) -> None:
    async with running() as app:
        app.window.activateWindow()
        reply = SpokenReply(app.window.transcript, lambda: False, lambda _id: None)
        grown(reply, "One. Two. ")
        QAccessible.setActive(False)
        heard = SpokenReply(app.window.transcript, lambda: True, lambda _id: None)
        grown(heard, "One. Two. ")
        assert told == []
