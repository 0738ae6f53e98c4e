"""Damaged chat databases by the hundred: what is lost, and whether anybody is told.

`python -m tests.faults.database --count 500 --json FILE`. Each damage is done to the files of a
home that was left cleanly or killed; the home is opened as the program opens it, and every text
that is still in the files' bytes must be in one of its messages. A text that is not shown whole
must be told of: by a notice, or by the mark on its message.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
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
from headstart.core.errors import EnvironmentProblem
from headstart.core.told import told
from headstart.storage.tables.rows import DAMAGED
from headstart.storage.worker import Storage, Store
from tests.support.stored import behind_its_back

CHATS, MESSAGES = 6, 8
_FIGURES = TurnStats(FinishReason.END, 30, 20, 0.1, 0.2, 12, 0.5, seed=4)


@dataclass(frozen=True, slots=True)
class Sample:
    """A home's database files, as they lie on the disk, and the texts in them."""

    folder: Path
    texts: tuple[str, ...]


def words(number: int, random_: random.Random) -> str:
    """A text that is nowhere else: short, of some hundred words, or longer than a page."""
    size = random_.choice((6, 40, 40, 200, 1500))
    picked = " ".join(f"{random_.choice(_WORDS)}{random_.randrange(10**6)}" for _ in range(size))
    return f"Text {number} begins: {picked} and ends — «{number}» ✓"


_WORDS = ("river", "lantern", "copper", "meadow", "quiet", "orbit", "violin", "harbour", "Straße")


def _fill(store: Store, texts: list[str]) -> None:
    left = iter(texts)
    for number in range(CHATS):
        chat = Chat(new_id(), f"Chat {number}", now_ms(), now_ms(), model="m")
        parent: str | None = None
        new: list[Message] = []
        for index in range(MESSAGES):
            role = Role.ASSISTANT if index % 2 else Role.USER
            status = MessageStatus.COMPLETE
            message = Message(
                new_id(), chat.id, parent, role, status, text_part(next(left)), now_ms()
            )
            new.append(message)
            parent = message.id
        store.messages.add(new, chat)
        # a second version of the last reply, finished with figures
        other = Message(
            new_id(), chat.id, new[-2].id, Role.ASSISTANT, MessageStatus.OPEN, (), now_ms()
        )
        store.messages.add([other])
        text = next(left)
        store.messages.journal(other.id, [TextPart(text[:20])])
        store.messages.finish(other.id, text_part(text), MessageStatus.COMPLETE, _FIGURES)


async def make(folder: Path, killed: bool, copied: bool) -> Sample:
    """A home with chats in it; `killed` leaves a write-ahead log, `copied` a daily copy."""
    random_ = random.Random(7)
    texts = [words(number, random_) for number in range(CHATS * (MESSAGES + 1))]
    folder.mkdir(parents=True)
    database, backups = folder / "headstart.db", folder / "backups"
    storage = Storage(database, backups)
    await storage.ready()
    await storage.run(lambda store: _fill(store, texts))
    if copied:
        from headstart.storage.rescue.copies import copy_database

        copy_database(database, backups, "daily", 5)
    if killed:
        kept = folder.with_name(f"{folder.name}-killed")
        shutil.copytree(folder, kept)
        storage.close()
        shutil.rmtree(folder)
        kept.rename(folder)
    else:
        storage.close()
    return Sample(folder, tuple(texts))


# --- damages -----------------------------------------------------------------------------

Damage = Callable[[Path, random.Random], None]


def _bytes_changed(change: Callable[[bytearray, random.Random], None], ending: str = "") -> Damage:
    def damage(database: Path, random_: random.Random) -> None:
        path = database.with_name(database.name + ending)
        if not path.exists() or not path.stat().st_size:
            path = database
        data = bytearray(path.read_bytes())
        change(data, random_)
        path.write_bytes(data)

    return damage


def _truncate(data: bytearray, random_: random.Random) -> None:
    del data[random_.randrange(len(data)) :]


def _zero_page(data: bytearray, random_: random.Random) -> None:
    at = random_.randrange(len(data) // 4096) * 4096
    data[at : at + 4096] = bytes(4096)


def _garbage_sector(data: bytearray, random_: random.Random) -> None:
    at = random_.randrange(len(data) // 512) * 512
    data[at : at + 512] = random_.randbytes(512)


def _zero_sector(data: bytearray, random_: random.Random) -> None:
    at = random_.randrange(len(data) // 512) * 512
    data[at : at + 512] = bytes(512)


def _flip_byte(data: bytearray, random_: random.Random) -> None:
    for _ in range(random_.choice((1, 1, 4, 32))):
        data[random_.randrange(len(data))] = random_.randrange(256)


def _flip_header(data: bytearray, random_: random.Random) -> None:
    data[random_.randrange(100)] = random_.randrange(256)


def _page_headers(data: bytearray, random_: random.Random) -> None:
    for _ in range(3):
        at = random_.randrange(len(data) // 4096) * 4096 + random_.randrange(12)
        data[at] = random_.randrange(256)


def _swap_pages(data: bytearray, random_: random.Random) -> None:
    one, two = (random_.randrange(len(data) // 4096) * 4096 for _ in range(2))
    data[one : one + 4096], data[two : two + 4096] = (
        data[two : two + 4096],
        data[one : one + 4096],
    )


def _empty(database: Path, _random: random.Random) -> None:
    database.write_bytes(b"")


def _gone(database: Path, _random: random.Random) -> None:
    database.unlink()


def _no_log(database: Path, _random: random.Random) -> None:
    for ending in ("-wal", "-shm"):
        database.with_name(database.name + ending).unlink(missing_ok=True)


def _rows(statement: str) -> Damage:
    def damage(database: Path, _random: random.Random) -> None:
        with behind_its_back(database) as connection:
            connection.execute(statement)

    return damage


DAMAGES: dict[str, Damage] = {
    "truncated": _bytes_changed(_truncate),
    "log truncated": _bytes_changed(_truncate, "-wal"),
    "page of zeros": _bytes_changed(_zero_page),
    "sector of garbage": _bytes_changed(_garbage_sector),
    "sector of zeros": _bytes_changed(_zero_sector),
    "bytes changed": _bytes_changed(_flip_byte),
    "log bytes changed": _bytes_changed(_flip_byte, "-wal"),
    "header byte changed": _bytes_changed(_flip_header),
    "page headers changed": _bytes_changed(_page_headers),
    "pages swapped": _bytes_changed(_swap_pages),
    "empty": _empty,
    "gone": _gone,
    "log lost": _no_log,
    "not UTF-8": _rows(
        "UPDATE parts SET text = CAST(X'54ff6578' || CAST(text AS BLOB) AS TEXT) "
        "WHERE rowid % 5 = 1"
    ),
    "unknown role": _rows("UPDATE messages SET role = 'oracle', status = 'lost' WHERE rowid % 4=1"),
    "cycle": _rows(
        "UPDATE messages SET parent_id = active_child_id WHERE parent_id IS NOT NULL AND "
        "active_child_id IS NOT NULL AND rowid % 3 = 0"
    ),
    "rows gone": _rows("DELETE FROM messages WHERE rowid % 6 = 2"),
    "text gone": _rows("DELETE FROM parts WHERE rowid % 6 = 2"),
}


# --- looking -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outcome:
    lost: int  # texts that the files still hold, and no message does
    silent: int  # texts that are not shown whole, without a word
    refused: bool  # it could not be opened at all


async def look(sample: Sample) -> Outcome:
    """Open the home and compare what is shown with what the files hold."""
    database = sample.folder / "headstart.db"
    files = [path.read_bytes() for path in sample.folder.rglob("headstart*.db*")]
    readable = [text for text in sample.texts if any(text.encode() in data for data in files)]
    storage = Storage(database, sample.folder / "backups")
    try:
        store = await storage.ready()
        shown, marked, repaired = await storage.run(_everything)
    except EnvironmentProblem:
        return Outcome(len(readable), 0, refused=True)
    finally:
        storage.close()
    lost = sum(not any(text in one for one in shown) for text in readable)
    whole = sum(any(text in one for one in shown) for text in sample.texts)
    told = bool(store.notices) or store.interrupted or marked or repaired
    silent = 0 if told else len(sample.texts) - whole
    return Outcome(lost, silent, refused=False)


def _everything(store: Store) -> tuple[list[str], bool, bool]:
    """Every text that can be reached in the window, over all versions; whether one is marked as
    damaged; whether a tree was repaired."""
    shown: list[str] = []
    marked = False
    for chat in store.chats.summaries():
        seen: set[str] = set()
        waiting = [message.id for message in store.messages.branch(chat.id)]
        while waiting:
            for message in store.messages.branch(chat.id):
                if message.id not in seen:
                    seen.add(message.id)
                    shown.append(message.text)
                    marked = marked or message.error == told(DAMAGED).text
            waiting = _next_version(store, chat.id, seen)
    return shown, marked, bool(store.messages.take_repaired())


def _next_version(store: Store, chat_id: str, seen: set[str]) -> list[str]:
    """Click on to a version that was not seen yet; empty when there is none."""
    for message in store.messages.branch(chat_id):
        for step in range(1, message.versions):
            for direction in (step, -step):
                store.messages.show_version(message.id, direction)
                new = [one.id for one in store.messages.branch(chat_id) if one.id not in seen]
                if new:
                    return new
                store.messages.show_version(store.messages.branch(chat_id)[-1].id, 0)
    return []


async def run(count: int, folder: Path, seed: int = 1) -> dict[str, Counter[str]]:
    """`count` damages, kind by kind; by kind: how many, texts lost, silent, refused."""
    samples = [
        await make(folder / f"sample-{killed}-{copied}", killed, copied)
        for killed in (False, True)
        for copied in (False, True)
    ]
    table: dict[str, Counter[str]] = {}
    kinds = list(DAMAGES)
    for number in range(count):
        kind = kinds[number % len(kinds)]
        random_ = random.Random(seed * 100_003 + number)
        origin = samples[number // len(kinds) % len(samples)]
        home = folder / f"home-{number}"
        shutil.copytree(origin.folder, home)
        DAMAGES[kind](home / "headstart.db", random_)
        outcome = await look(Sample(home, origin.texts))
        row = table.setdefault(kind, Counter())
        row.update(
            damages=1, lost=outcome.lost, silent=outcome.silent, refused=int(outcome.refused)
        )
        if outcome.lost or outcome.silent or outcome.refused:
            print(f"  {kind}, damage {number} of {origin.folder.name}: {outcome}", flush=True)
        else:
            shutil.rmtree(home)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = asyncio.run(run(options.count, Path(folder), options.seed))
    total: Counter[str] = Counter()
    for kind, row in table.items():
        print(f"  {kind:<22} {dict(row)}")
        total.update(row)
    print(f"  {'all':<22} {dict(total)}")
    if options.json is not None:
        options.json.write_text(json.dumps(dict(total), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
