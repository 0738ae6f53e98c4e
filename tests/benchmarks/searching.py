"""Finding words in 100,000 messages as one types, and what the index costs; a part of the benchmark
of the transcript."""

from __future__ import annotations

import random
import statistics
import time
from functools import partial
from typing import Any

from headstart.assembly import App
from headstart.chat.finding import _find as found
from headstart.core.chats.parts import text_part
from headstart.core.chats.search import Filters
from headstart.core.chats.values import Chat, Message, MessageStatus, Role, new_id, now_ms
from headstart.storage.worker import Store

_WORDS = [
    "river", "hill", "weather", "mountain", "Lisbon", "bread", "quick", "function", "return",
    "value", "because", "market", "winter", "letter", "garden", "number", "question", "answer",
]  # fmt: skip


def words(rng: random.Random, count: int) -> str:
    """Text with rare words in it, a tenth of them Chinese."""
    found = []
    for _ in range(count):
        kind = rng.random()
        if kind < 0.1:
            found.append("".join(chr(rng.randrange(0x4E00, 0x4E00 + 3_000)) for _ in range(2)))
        elif kind < 0.3:
            # the long tail of a language's words
            syllables = rng.randrange(2, 5)
            pairs = (rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(syllables))
            found.append("".join(pairs))
        else:
            found.append(rng.choice(_WORDS))
    return " ".join(found)


async def search(app: App) -> dict[str, Any]:
    """As one types: the words of 60 queries, letter by letter."""
    while await app.storage.run(lambda store: store.search.build()):
        pass
    rng = random.Random(9)
    queries = []
    for _ in range(60):
        word = words(rng, 1) if rng.random() < 0.6 else words(rng, 2)
        queries += [word[:count] for count in range(1, len(word) + 1)]
    times = []
    for query in queries:
        if query.strip():
            began = time.perf_counter()
            await app.storage.run(partial(_find, query=query))
            times.append((time.perf_counter() - began) * 1000)

    def sizes(_store: Store) -> tuple[int, int]:
        engine: Any = app.storage.engine
        with engine.begin() as connection:
            index = connection.exec_driver_sql(
                "SELECT sum(length(block)) FROM message_search_data"
            ).scalar()
            text = connection.exec_driver_sql(
                "SELECT sum(length(CAST(text AS BLOB))) FROM parts"
            ).scalar()
        return int(index), int(text)

    index, text = await app.storage.run(sizes)
    return {"times": times, "share": index / text, "text": text, "write": await _writes(app)}


def _find(store: Store, query: str) -> None:
    found(store, query, Filters(), quick=True)


def _add(store: Store, reply: Message, chat: Chat | None) -> None:
    store.messages.add([reply], chat)


async def _writes(app: App) -> list[float]:
    """What the index adds to the end of a reply: the same with and without it."""
    rng = random.Random(1)
    chat = Chat(new_id(), "Written", now_ms(), now_ms())
    found: dict[bool, list[float]] = {True: [], False: []}
    for number in range(40):
        text = words(rng, 400)
        reply = Message(new_id(), chat.id, None, Role.ASSISTANT, MessageStatus.OPEN, (), now_ms())
        await app.storage.run(partial(_add, reply=reply, chat=chat if number == 0 else None))
        indexed = number % 2 == 0

        def finish(store: Store, one: Message = reply, text: str = text) -> float:
            began = time.perf_counter()
            store.messages.finish(one.id, text_part(text), MessageStatus.COMPLETE, None)
            return (time.perf_counter() - began) * 1000

        if not indexed:
            await app.storage.run(lambda store: _switch(app, off=True))
        found[indexed].append(await app.storage.run(finish))
        if not indexed:
            await app.storage.run(lambda store: _switch(app, off=False))
    return [statistics.median(found[True]), statistics.median(found[False])]


def _switch(app: App, off: bool) -> None:
    """Have nothing go into the index for a while."""
    engine: Any = app.storage.engine
    with engine.begin() as connection:
        if off:
            connection.exec_driver_sql(
                "INSERT INTO message_search_left SELECT max(rowid) + 1, 1 << 62 FROM parts"
            )
        else:
            connection.exec_driver_sql("DELETE FROM message_search_left WHERE last = 1 << 62")
