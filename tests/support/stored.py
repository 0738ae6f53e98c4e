"""A small chat in a database on disk, changed behind the program's back and opened again."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from headstart.core.chats.parts import (
    text_part,
)
from headstart.core.chats.values import Chat, Message, MessageStatus, Role, new_id, now_ms
from headstart.core.told import Told
from headstart.storage.worker import Storage

TEXTS = ("What is a river?", "Water that found its way.", "And a lake?", "Water that stayed.")


async def filled(folder: Path) -> tuple[Storage, Chat, list[Message]]:
    storage = Storage(folder / "headstart.db", folder / "backups")
    chat = Chat(new_id(), "Rivers", now_ms(), now_ms())
    parent, new = None, []
    for index, text in enumerate(TEXTS):
        role = Role.ASSISTANT if index % 2 else Role.USER
        status = MessageStatus.COMPLETE
        message = Message(new_id(), chat.id, parent, role, status, text_part(text), now_ms())
        new.append(message)
        parent = message.id
    await storage.run(lambda store: store.messages.add(new, chat))
    return storage, chat, new


@contextlib.contextmanager
def behind_its_back(path: Path) -> Iterator[sqlite3.Connection]:
    """A database that is changed as a failing disk does: no trigger hears of it."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA foreign_keys=OFF")
        query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        triggers = connection.execute(query).fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        yield connection
        for _, sql in triggers:
            connection.execute(sql)
        connection.commit()


def change(folder: Path, *statements: str) -> None:
    with behind_its_back(folder / "headstart.db") as connection:
        for statement in statements:
            connection.execute(statement)


async def opened(folder: Path, chat_id: str) -> tuple[list[Message], tuple[Told, ...], list[str]]:
    storage = Storage(folder / "headstart.db", folder / "backups")
    store = await storage.ready()
    messages = await storage.run(lambda store: store.messages.branch(chat_id))
    repaired = await storage.run(lambda store: store.messages.take_repaired())
    storage.close()
    return messages, store.notices, repaired
