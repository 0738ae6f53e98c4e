"""Holes in messages: chats of all sizes are opened in the window and scrolled at random."""

from __future__ import annotations

import asyncio
import random
from typing import Any

from headstart.assembly import App
from headstart.core.chats.parts import text_part
from headstart.core.chats.values import Chat, Message, MessageStatus, Role, new_id, now_ms
from tests.benchmarks.searching import words
from tests.support.blank_blocks import blank_blocks
from tests.ui.looks import REPLY

CHATS, SCROLLS = 40, 20


def _reply(rng: random.Random) -> str:
    """From a line to some 20,000 px."""
    count = round(60 ** rng.random())
    return "\n\n".join(rng.choice((REPLY, words(rng, rng.randint(5, 200)))) for _ in range(count))


async def _store_chat(app: App, number: int, rng: random.Random) -> str:
    chat = Chat(new_id(), f"Chat {number}", now_ms(), now_ms())
    messages: list[Message] = []
    done = MessageStatus.COMPLETE
    for place in range(2 * rng.randint(1, 6)):
        role = Role.ASSISTANT if place % 2 else Role.USER
        text = _reply(rng) if place % 2 else words(rng, rng.choice((5, 40, 600)))
        before = messages[-1].id if messages else None
        messages.append(Message(new_id(), chat.id, before, role, done, text_part(text), now_ms()))
    await app.storage.run(lambda store: store.messages.add(messages, chat))
    return chat.id


async def blank(app: App) -> dict[str, Any]:
    """Blocks in view that were no visible widgets, after each of `SCROLLS` scrolls of `CHATS`
    chats: by the wheel's step, by the page, to an end, anywhere."""
    rng = random.Random(11)
    transcript = app.window.transcript
    bar = transcript.verticalScrollBar()
    found: list[str] = []
    for number in range(CHATS):
        app.window.open_chat(await _store_chat(app, number, rng))
        await app.controllers.settle()
        await asyncio.sleep(0.05)
        found += blank_blocks(transcript)
        for _ in range(SCROLLS):
            now, page = bar.value(), bar.pageStep()
            places = (now - 90, now - 90, now + 90, now - page, now + page, 0, bar.maximum())
            bar.setValue(rng.choice((*places, rng.randint(0, bar.maximum()))))
            await asyncio.sleep(0)
            found += blank_blocks(transcript)
    return {"blank": len(found), "first": found[:3]}
