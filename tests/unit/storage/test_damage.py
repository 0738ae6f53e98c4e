"""Damaged databases: nothing readable is lost, and nothing is lost without a word."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from headstart.core.chats.parts import (
    text_part,
)
from headstart.core.chats.values import Chat, Message, MessageStatus, Role, new_id, now_ms
from headstart.core.prefixes import RecordInfo, RecordKind
from headstart.core.told import told
from headstart.storage.rescue import copies, last_state
from headstart.storage.tables.rows import DAMAGED
from headstart.storage.worker import Storage, Store
from tests.faults import database as faults
from tests.support.stored import TEXTS, change, filled, opened

pytestmark = pytest.mark.logs(
    "a damaged database was replaced", "the database:", "no copy of the database"
)


@pytest.mark.parametrize(
    "count", [18, pytest.param(500, marks=pytest.mark.proof)], ids=["some", "all"]
)
async def test_what_can_be_read_is_saved_and_what_cannot_is_told(
    tmp_path: Path, count: int
) -> None:
    table = await faults.run(count, tmp_path)
    assert {kind: (row["lost"], row["silent"], row["refused"]) for kind, row in table.items()} == (
        dict.fromkeys(faults.DAMAGES, (0, 0, 0))
    )


async def test_one_damaged_row_is_marked_and_its_chat_is_shown(tmp_path: Path) -> None:
    storage, chat, new = await filled(tmp_path)
    storage.close()
    change(
        tmp_path,
        f"UPDATE parts SET text = CAST(X'57ff72' AS TEXT) WHERE message_id = '{new[1].id}'",
        f"UPDATE messages SET role = 'oracle' WHERE id = '{new[3].id}'",
    )
    messages, _, _ = await opened(tmp_path, chat.id)
    assert [message.error for message in messages] == [
        None,
        told(DAMAGED).text,
        None,
        told(DAMAGED).text,
    ]
    assert messages[1].text == "W�r"
    assert messages[3].text == TEXTS[3]


async def test_a_text_that_changed_on_the_disk_comes_back_from_a_copy(tmp_path: Path) -> None:
    storage, chat, new = await filled(tmp_path)
    copies.copy_database(tmp_path / "headstart.db", tmp_path / "backups", "daily", 5)
    storage.close()
    change(tmp_path, f"UPDATE parts SET text = 'other' WHERE message_id = '{new[1].id}'")
    for _ in range(2):
        messages, _, _ = await opened(tmp_path, chat.id)
        assert [message.text for message in messages] == list(TEXTS)
        assert all(message.error is None for message in messages)


async def test_a_cycle_ends_and_is_repaired_once(tmp_path: Path) -> None:
    storage, chat, new = await filled(tmp_path)
    storage.close()
    change(
        tmp_path,
        f"UPDATE messages SET parent_id = '{new[3].id}' WHERE id = '{new[1].id}'",
        f"UPDATE messages SET active_child_id = '{new[1].id}' WHERE id = '{new[3].id}'",
        f"UPDATE messages SET active_child_id = '{new[0].id}' WHERE id = '{new[2].id}'",
    )
    messages, _, repaired = await opened(tmp_path, chat.id)
    assert [message.text for message in messages] == list(TEXTS)
    assert repaired == [chat.id]
    assert (await opened(tmp_path, chat.id))[2] == []


async def test_a_home_without_a_past_begins_empty(tmp_path: Path) -> None:
    (tmp_path / "headstart.db").touch()
    storage = Storage(tmp_path / "headstart.db", tmp_path / "backups")
    assert (await storage.ready()).notices == ()
    storage.close()
    state = last_state.load(tmp_path / "headstart.db")
    assert state is not None
    assert (state.messages, state.clean) == (0, True)


_NO_ROOM = """
import asyncio, json, resource, sys
from pathlib import Path
from headstart.core.errors import DatabaseProblem
from headstart.storage.worker import Storage, Store

resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))

async def main():
    folder = Path(sys.argv[1])
    storage = Storage(folder / "headstart.db", folder / "backups")
    store = await storage.ready()
    texts = [m.text for m in await storage.run(lambda s: s.messages.branch(sys.argv[2]))]
    try:
        await storage.run(lambda s: s.chats.rename(sys.argv[2], "x", by_user=True))
        said = ""
    except DatabaseProblem as problem:
        said = str(problem)
    storage.close()
    print(json.dumps([store.read_only.text, store.interrupted, texts, said]))

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files, as POSIX can")
async def test_where_nothing_can_be_written_everything_can_be_read(tmp_path: Path) -> None:
    """Also with an interrupted reply waiting, in a write-ahead log that was left."""
    storage, chat, new = await filled(tmp_path)
    status = MessageStatus.OPEN
    reply = Message(new_id(), chat.id, new[-2].id, Role.ASSISTANT, status, (), now_ms())
    await storage.run(lambda store: store.messages.add([reply]))
    await storage.run(lambda store: store.messages.journal(reply.id, text_part("Half a")))
    left = tmp_path / "left"
    left.mkdir()
    for file in tmp_path.glob("headstart.db*"):
        shutil.copy(file, left)
    storage.close()
    before = {file.name: file.read_bytes() for file in left.iterdir()}
    done = subprocess.run(
        [sys.executable, "-c", _NO_ROOM, str(left), chat.id],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    )
    read_only, interrupted, texts, said = json.loads(done.stdout)
    assert read_only.startswith("Chats can be read but not changed")
    assert interrupted == 1
    assert texts == [*TEXTS[:3], "Half a"]
    # with the same reason
    assert read_only.partition(": ")[2] in said
    assert {name: (left / name).read_bytes() for name in before if "shm" not in name} == {
        name: data for name, data in before.items() if "shm" not in name
    }


async def test_text_of_a_purged_chat_is_in_no_file(tmp_path: Path) -> None:
    storage, chat, _ = await filled(tmp_path)
    copies.copy_database(tmp_path / "headstart.db", tmp_path / "backups", "daily", 5)
    await storage.run(lambda store: store.chats.delete(chat.id))
    await storage.purge(chat.id)
    for file in tmp_path.rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            assert not any(text.encode() in data for text in (*TEXTS, "Rivers")), file.name
    storage.close()


async def test_copies_keep_no_tokens_of_a_purged_chat(tmp_path: Path) -> None:
    storage, chat, _ = await filled(tmp_path)
    tokens = bytes(range(200, 240))
    info = RecordInfo(b"k", b"", b"n", RecordKind.RANGE, 0, tokens, 10)

    def keep(store: Store) -> None:
        store.prefixes.add(info, [chat.id], "2026-01-01")
        store.prefixes.save_trace(chat.id, b"trace of it")
        store.prefixes.save_reply_tokens(chat.id, b"d", tokens[::-1])

    await storage.run(keep)
    copies.copy_database(tmp_path / "headstart.db", tmp_path / "backups", "daily", 5)
    (copy,) = (tmp_path / "backups").glob("*.db")
    for part in (tokens, b"trace of it", tokens[::-1]):
        assert part in copy.read_bytes()
    await storage.run(lambda store: store.chats.delete(chat.id))
    await storage.purge(chat.id)
    for file in (copy, *tmp_path.glob("headstart.db*")):
        for part in (tokens, b"trace of it", tokens[::-1]):
            assert part not in file.read_bytes(), file.name
    storage.close()


async def test_a_kill_while_a_deleted_chat_can_be_brought_back_damages_nothing(
    tmp_path: Path,
) -> None:
    storage, chat, _ = await filled(tmp_path)
    await storage.run(lambda store: store.chats.create(Chat(new_id(), "Other", 0, now_ms())))
    await storage.run(lambda store: store.messages.on_stored())
    await storage.run(lambda store: store.chats.delete(chat.id))
    # as it lies there when the program is killed
    killed = tmp_path / "killed"
    killed.mkdir()
    for file in tmp_path.glob("headstart.db*"):
        shutil.copy(file, killed / file.name)
    storage.close()
    again = Storage(killed / "headstart.db", killed / "backups")
    assert (await again.ready()).notices == ()
    again.close()
    assert not list(killed.glob("*damaged*"))


async def test_a_daily_copy_is_made_once_and_is_whole(tmp_path: Path) -> None:
    storage, _, _ = await filled(tmp_path)
    storage.close()
    for _ in range(2):
        made = copies.DailyCopies(tmp_path / "headstart.db", tmp_path / "backups", first=0.0)
        for _ in range(100):
            if list((tmp_path / "backups").glob("*-daily.db")):
                break
            await asyncio.sleep(0.02)
        made.close()
    (copy,) = (tmp_path / "backups").glob("*-daily.db")
    connection = sqlite3.connect(copy)
    assert connection.execute("SELECT count(*) FROM messages").fetchone() == (4,)
    connection.close()
