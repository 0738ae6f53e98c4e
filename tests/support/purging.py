"""A chat of known words that is deleted for good, in a process that is killed meanwhile; and what
is left of the words in a home, the index of words decoded.

`python -m tests.support.purging FOLDER` is the process: it says when it begins and when it is done.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import sqlite3
import string
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from headstart.core.chats.parts import text_part
from headstart.core.chats.values import Chat, Message, MessageStatus, Role, new_id
from headstart.core.text.folding import fold
from headstart.storage.tables.search import TABLE
from headstart.storage.worker import Storage, Store

WORDS, MESSAGES, LETTERS = 4_000, 40, 12
# the index keeps what a word has in common with the one before it only once
_TAIL = 8


def opened(folder: Path) -> Storage:
    return Storage(folder / "headstart.db", folder / "backups")


def make_words(seed: int, count: int = WORDS) -> list[str]:
    rng = random.Random(seed)
    return ["".join(rng.choices(string.ascii_lowercase, k=LETTERS)) for _ in range(count)]


def prepare(folder: Path, seed: int) -> tuple[list[str], list[str]]:
    """A home with a chat that stays and one that is to go, hidden already, both in copies of every
    kind. Returns the words of the one that goes, and of the other."""
    go, stay = make_words(seed), make_words(seed + 1_000_000, 1_000)
    storage = opened(folder)
    storage.submit(partial(_add, chat_id="go", words=go)).result()
    storage.submit(partial(_add, chat_id="stay", words=stay)).result()
    backups = folder / "backups"
    backups.mkdir(exist_ok=True)
    from headstart.storage.rescue.copies import copy_database

    copy_database(folder / "headstart.db", backups, "daily", 5)
    # as older versions made them, with the index; and what a kill has left
    for name in ("headstart-20260101-000000-daily.db", "headstart-20260102-000000-daily.partial"):
        with (
            contextlib.closing(sqlite3.connect(folder / "headstart.db")) as source,
            contextlib.closing(sqlite3.connect(backups / name)) as copy,
        ):
            source.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")
    storage.submit(lambda store: store.chats.delete("go")).result()
    storage.close()
    return go, stay


def _add(store: Store, chat_id: str, words: list[str]) -> None:
    chat = Chat(chat_id, f"Chat {chat_id}", 1, 1)
    messages, parent = list[Message](), None
    share = len(words) // MESSAGES
    for number in range(MESSAGES):
        role = Role.ASSISTANT if number % 2 else Role.USER
        text = " ".join(words[number * share : (number + 1) * share])
        messages.append(
            Message(
                new_id(), chat.id, parent, role, MessageStatus.COMPLETE, text_part(text), number
            )
        )
        parent = messages[-1].id
    store.messages.add(messages, chat)


async def remove(storage: Storage) -> None:
    """Do what the program does when the user deletes the chat for good."""
    await storage.purge("go")
    await merge(storage)


async def merge(storage: Storage) -> None:
    more = await storage.run(lambda store: store.search.merge(begin=True))
    while more:
        more = await storage.run(lambda store: store.search.merge())
    assert await storage.index_merged(storage.purges)


def kill_at(folder: Path, seconds: float) -> bool:
    """Start the process and kill it so long after it began; whether it was done by then."""
    command = [sys.executable, "-m", "tests.support.purging", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "begins\n"
        time.sleep(seconds)
        child.kill()
        return "done" in child.stdout.read()


async def start_again(folder: Path) -> bool:
    """The next start: it finishes what was begun. Whether the chat is gone."""
    storage = opened(folder)
    await storage.ready()
    if storage.index_owed:
        await merge(storage)
    gone = await storage.run(lambda store: "go" not in store.chats.deleted())
    storage.close()
    return gone


def words_left(folder: Path, words: list[str]) -> dict[str, int]:
    """Count the words that are left in each file of a folder, as bytes or in the index."""
    found: dict[str, int] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        tails = {data[at : at + _TAIL] for at in range(len(data) - _TAIL)}
        left = {word for word in words if word[-_TAIL:].encode() in tails}
        if path.suffix == ".db":
            left |= set(words) & indexed(path)
        if left:
            found[path.relative_to(folder).as_posix()] = len(left)
    return found


def indexed(path: Path) -> set[str]:
    """The words in the index of a database."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.create_function("fold", 1, fold, deterministic=True)
        if not connection.execute(
            "SELECT 1 FROM sqlite_master WHERE name = ?", (TABLE,)
        ).fetchone():
            return set()
        connection.execute(f"CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, {TABLE}, row)")
        return {str(row[0]) for row in connection.execute("SELECT term FROM temp.terms")}


async def _main(folder: Path) -> None:
    storage = opened(folder)
    await storage.ready()
    print("begins", flush=True)
    await remove(storage)
    print("done", flush=True)
    storage.close()


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1])))
