"""Chats deleted for good are in no file of the home, whenever the program was killed."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import threading
from pathlib import Path

import pytest

from headstart.chat.background import Background
from headstart.chat.broadcast import Broadcast
from headstart.chat.databases import Databases
from headstart.chat.finding import Finding
from headstart.storage.rescue import owed
from headstart.storage.rescue.copies import copy_database, newest_first
from headstart.storage.rescue.owed import Owed
from headstart.storage.tables import search as search_tables
from tests.conftest import until
from tests.support.patience import PATIENCE
from tests.support.purging import (
    indexed,
    kill_at,
    opened,
    prepare,
    remove,
    start_again,
    words_left,
)

# seconds from the beginning of a purge to its end, and a little more
SPAN = 0.12


async def test_no_word_is_left_in_the_home_or_its_copies(tmp_path: Path) -> None:
    go, stay = prepare(tmp_path, 1)
    assert set(words_left(tmp_path, go)) >= {"headstart.db"}
    copies = newest_first(tmp_path / "headstart.db", tmp_path / "backups")
    assert all(words_left(tmp_path, go)[f"backups/{copy.name}"] == len(go) for copy in copies)
    storage = opened(tmp_path)
    await remove(storage)
    storage.close()
    assert words_left(tmp_path, go) == {}
    # what stays can be found, and is in the copies
    assert set(stay) <= indexed(tmp_path / "headstart.db")
    left = words_left(tmp_path, stay)
    assert all(left[f"backups/{copy.name}"] == len(stay) for copy in copies)
    assert owed.load(tmp_path / "headstart.db") == Owed()


async def test_a_copy_that_is_being_made_meanwhile_keeps_no_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, stay = prepare(tmp_path, 1)
    for copy in newest_first(tmp_path / "headstart.db", tmp_path / "backups"):
        copy.unlink()
    storage = opened(tmp_path)
    await storage.ready()
    read, removed = threading.Event(), threading.Event()
    empty = search_tables.empty

    def wait(connection: sqlite3.Connection) -> None:
        # the copy is whole, and has no name yet
        empty(connection)
        if not read.is_set():
            read.set()
            assert removed.wait(PATIENCE)

    monkeypatch.setattr(search_tables, "empty", wait)
    made = storage.copies
    assert made is not None
    copying = asyncio.create_task(asyncio.to_thread(made.copy))
    await asyncio.to_thread(read.wait, PATIENCE)
    await remove(storage)
    removed.set()
    assert not await copying, "it is made another time"
    assert made.copy()
    storage.close()
    assert words_left(tmp_path, go) == {}
    (copy,) = newest_first(tmp_path / "headstart.db", tmp_path / "backups")
    assert words_left(tmp_path, stay)[f"backups/{copy.name}"] == len(stay)


def _killed(folder: Path, rng: random.Random) -> dict[str, int]:
    go, stay = prepare(folder, rng.randrange(1 << 30))
    kill_at(folder, rng.uniform(0, SPAN))
    wanted = owed.load(folder / "headstart.db") != Owed()
    gone = asyncio.run(start_again(folder))
    assert set(stay) <= indexed(folder / "headstart.db")
    if not wanted and not gone:
        # killed before anything was removed or written down: the chat is in the trash as before
        return {}
    assert gone
    return words_left(folder, go)


@pytest.mark.parametrize("seed", range(3))
def test_a_purge_that_was_killed_is_finished_at_the_next_start(tmp_path: Path, seed: int) -> None:
    assert _killed(tmp_path, random.Random(seed)) == {}


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(100, 130))
def test_thirty_purges_that_were_killed(tmp_path: Path, seed: int) -> None:
    assert _killed(tmp_path, random.Random(seed)) == {}


async def test_the_program_merges_at_its_start_what_is_owed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, _ = prepare(tmp_path, 5)
    storage = opened(tmp_path)
    await storage.purge("go")
    assert storage.index_owed
    storage.close()
    monkeypatch.setattr("headstart.chat.finding.FIRST_SECONDS", 0.0)
    storage, broadcast = opened(tmp_path), Broadcast()
    background = Background()
    finding = Finding(Databases(storage, broadcast), background, broadcast)
    await storage.ready()
    assert storage.index_owed
    finding.start()
    await until(lambda: not storage.index_owed)
    await background.close(5)
    storage.close()
    assert words_left(tmp_path, go) == {}


@pytest.mark.logs("a copy still holds a deleted chat")
async def test_a_copy_that_could_not_be_changed_is_looked_at_again(tmp_path: Path) -> None:
    go, _ = prepare(tmp_path, 6)
    whole = tmp_path / "backups" / "headstart-20260101-000000-daily.db"
    data = whole.read_bytes()
    whole.write_bytes(b"SQLite format 3\0" + b"\xff" * 5_000)
    storage = opened(tmp_path)
    await remove(storage)
    assert owed.load(tmp_path / "headstart.db").chats == ("go",)
    storage.close()
    whole.write_bytes(data)
    assert asyncio.get_running_loop() is not None
    await start_again(tmp_path)
    assert words_left(tmp_path, go) == {}
    assert owed.load(tmp_path / "headstart.db") == Owed()


async def test_an_earlier_merge_does_not_speak_for_a_later_purge(tmp_path: Path) -> None:
    prepare(tmp_path, 8)
    storage = opened(tmp_path)
    await storage.purge("go")
    before = storage.purges
    await storage.run(lambda store: store.chats.delete("stay"))
    await storage.purge("stay")
    assert await storage.index_merged(before)
    assert storage.index_owed
    assert await storage.index_merged(storage.purges)
    assert not storage.index_owed
    storage.close()


async def test_copies_have_no_index_and_half_ones_are_removed(tmp_path: Path) -> None:
    prepare(tmp_path, 7)
    partial = tmp_path / "backups" / "headstart-20260102-000000-daily.partial"
    assert partial.exists()
    storage = opened(tmp_path)
    await storage.ready()
    assert not partial.exists()
    made = copy_database(tmp_path / "headstart.db", tmp_path / "backups", "daily", 5)
    assert indexed(made) == set()
    assert indexed(tmp_path / "headstart.db")
    storage.close()
