"""Works in a home until it is killed: `python -m tests.faults.worker KIND FOLDER SEED`.

Prints a line of JSON for whatever is committed, as soon as it is: a text that may not be lost from
then on. The first line says that the work begins.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from headstart.core.chats.parts import TextPart, text_part
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
from headstart.hub.library import open_model, starter_model
from headstart.storage.worker import Storage, Store
from tests.faults.database import words
from tests.models.drafts import drop_layers
from tests.support.prefix_engine import Answer, PrefixEngine, prose, user

# questions whose state is saved, by number; each long enough for chunks
QUESTIONS = tuple(f"{prose(300, seed)} What is this about?" for seed in range(4))
_STATS = TurnStats(FinishReason.END, 30, 20, 0.1, 0.2, 12, 0.5, seed=4)


def say(text: str) -> None:
    print(json.dumps(text), flush=True)


def open_storage(folder: Path) -> Storage:
    return Storage(folder / "headstart.db", folder / "backups")


def shallow_model(place: Path) -> Path:
    """The starter model without most of its layers: its words do not matter here."""
    model = starter_model()
    assert model is not None
    return drop_layers(model.path, place / "shallow.gguf", range(4, 26))


def prefix_engine(folder: Path) -> PrefixEngine:
    """Of the model beside the homes, which `shallow_model` has made."""
    return PrefixEngine(folder, open_model(folder.parent / "shallow.gguf"))


def ask(engine: PrefixEngine, number: int) -> Answer:
    """A question of `QUESTIONS`, in a chat of its own."""
    chat_id = f"chat-{number}"
    if engine.storage.submit(lambda store: store.chats.get(chat_id)).result() is None:
        engine.chat(chat_id)
    return engine.ask(chat_id, [user(QUESTIONS[number])])


async def _do(storage: Storage, work: Callable[[Store], None]) -> None:
    await storage.run(work)


async def writing(folder: Path, random_: random.Random) -> None:
    """Messages of many sizes, into new chats and old ones."""
    storage = open_storage(folder)
    await storage.ready()
    say("")
    chat, above = _chat(), None
    while True:
        begins = above is None or random_.random() < 0.2
        if begins:
            chat, above = _chat(), None
        text = words(random_.randrange(1 << 30), random_)
        message = _message(chat, above, Role.USER, MessageStatus.COMPLETE, text)
        await _add(storage, message, chat if begins else None)
        say(text)
        above = message.id


async def streaming(folder: Path, random_: random.Random) -> None:
    """Replies that are journaled piece by piece, some of which end."""
    storage = open_storage(folder)
    await storage.ready()
    say("")
    while True:
        chat = _chat()
        reply = _message(chat, None, Role.ASSISTANT, MessageStatus.OPEN, "")
        await _add(storage, reply, chat)
        text = ""
        for _ in range(random_.randrange(1, 30)):
            piece = words(random_.randrange(1 << 30), random_)[: random_.randrange(1, 200)]
            await _journal(storage, reply.id, piece)
            text += piece
            say(text)
        if random_.random() < 0.7:
            await _finish(storage, reply.id, text)
            say(text)


async def migrating(folder: Path, random_: random.Random) -> None:
    """Opens a database of an older schema."""
    say("")
    await open_storage(folder).ready()
    await asyncio.sleep(60)


async def saving(folder: Path, random_: random.Random) -> None:
    """Saves the KV state of one question after the other."""
    folder.mkdir(parents=True, exist_ok=True)
    engine = prefix_engine(folder)
    say("")
    for number in random_.sample(range(len(QUESTIONS)), len(QUESTIONS)):
        ask(engine, number)
        engine.leave()
    await asyncio.sleep(60)


KINDS: dict[str, Callable[[Path, random.Random], Awaitable[None]]] = {
    "writing": writing,
    "streaming": streaming,
    "migrating": migrating,
    "saving": saving,
}


def _chat() -> Chat:
    return Chat(new_id(), "Chat", now_ms(), now_ms(), model="m")


def _message(
    chat: Chat, above: str | None, role: Role, status: MessageStatus, text: str
) -> Message:
    parts = text_part(text) if text else ()
    return Message(new_id(), chat.id, above, role, status, parts, now_ms())


async def _add(storage: Storage, message: Message, chat: Chat | None) -> None:
    await _do(storage, lambda store: store.messages.add([message], chat))


async def _journal(storage: Storage, message_id: str, piece: str) -> None:
    await _do(storage, lambda store: store.messages.journal(message_id, [TextPart(piece)]))


async def _finish(storage: Storage, message_id: str, text: str) -> None:
    def finish(store: Store) -> None:
        store.messages.finish(message_id, text_part(text), MessageStatus.COMPLETE, _STATS)

    await _do(storage, finish)


def main() -> None:
    kind, folder, seed = sys.argv[1:]

    async def work() -> None:
        await KINDS[kind](Path(folder), random.Random(int(seed)))

    asyncio.run(work())


if __name__ == "__main__":
    main()
