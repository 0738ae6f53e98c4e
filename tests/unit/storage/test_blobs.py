"""Blobs: kept once by their content, and gone when no message names them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from msgspec.structs import replace

from headstart.core.chats.parts import (
    FilePart,
    ImagePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)
from headstart.core.chats.values import Chat, Message, MessageStatus, Role, new_id, now_ms
from headstart.core.errors import EnvironmentProblem
from headstart.core.told import told
from headstart.storage.blobs import Blobs
from headstart.storage.rescue import copies
from headstart.storage.tables.rows import DAMAGED, StoredPart
from headstart.storage.worker import Storage, Store
from tests.support.stored import behind_its_back


def _files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*/*"))


def test_the_same_bytes_are_kept_once(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path / "blobs")
    first, second = blobs.put(b"river", "text/plain"), blobs.put(b"river", "text/plain")
    assert first == second
    assert first.digest == hashlib.sha256(b"river").hexdigest()
    assert _files(tmp_path / "blobs") == [first.digest]
    assert blobs.get(first) == b"river"


def test_what_was_damaged_is_not_given_back(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path / "blobs")
    blob = blobs.put(b"river", "text/plain")
    next((tmp_path / "blobs").glob("*/*")).write_bytes(b"rover")
    with pytest.raises(EnvironmentProblem, match="damaged"):
        blobs.get(blob)
    next((tmp_path / "blobs").glob("*/*")).unlink()
    with pytest.raises(EnvironmentProblem, match="not kept"):
        blobs.get(blob)


def test_only_what_nobody_names_is_removed(tmp_path: Path) -> None:
    first = Blobs(tmp_path / "blobs")
    used, unused = first.put(b"used", "text/plain"), first.put(b"unused", "text/plain")
    # a message that names them may be on its way
    assert first.free([]) == 0
    later = Blobs(tmp_path / "blobs")
    (tmp_path / "blobs" / "00").mkdir()
    (tmp_path / "blobs" / "00" / "left.partial").write_bytes(b"half")
    assert later.free([used.digest]) == 2
    assert _files(tmp_path / "blobs") == [used.digest]
    assert unused.digest not in _files(tmp_path / "blobs")


def test_a_private_chats_files_are_in_memory_only(tmp_path: Path) -> None:
    blobs = Blobs(None)
    blob = blobs.put(b"secret", "text/plain")
    assert blobs.get(blob) == b"secret"
    assert list(tmp_path.iterdir()) == []


def _store_parts(store: Store) -> tuple[Message, str]:
    blob = store.blobs.put(b"\x89PNG", "image/png")
    message = Message(
        new_id(), "c", None, Role.USER, MessageStatus.COMPLETE,
        (
            FilePart("notes — río.txt", store.blobs.put(b"text", "text/plain"), "text"),
            ImagePart("cat.png", blob, 640, 480),
            ReasoningPart("hm"),
            ToolCallPart("1", "search", '{"for": "rivers"}'),
            ToolResultPart("1", "search", "none", failed=True),
            TextPart("See?"),
        ),
        now_ms(), model="m", model_host="host:1", model_key="server:x:m",
    )  # fmt: skip
    store.messages.add([message], Chat("c", "Parts", now_ms(), now_ms()))
    return message, blob.digest


async def test_every_kind_of_part_comes_back_as_it_was_stored(tmp_path: Path) -> None:
    home = tmp_path / "headstart.db"
    storage = Storage(home, tmp_path / "backups")
    message, image = await storage.run(_store_parts)
    assert await storage.run(lambda store: store.messages.branch("c")) == [message]
    storage.close()
    storage = Storage(home, tmp_path / "backups")
    (stored,) = await storage.run(lambda store: store.messages.branch("c"))
    assert stored == message
    assert stored.author == "m on host:1"
    assert image in _files(tmp_path / "blobs")
    # the chat goes, and its files with it
    await storage.run(lambda store: store.chats.delete("c"))
    await storage.purge("c")
    storage.close()
    storage = Storage(home, tmp_path / "backups")
    await storage.ready()
    assert _files(tmp_path / "blobs") == []
    storage.close()


def _spoil(home: Path, statement: str) -> None:
    with behind_its_back(home) as connection:
        connection.execute(statement)


async def _reopened(folder: Path) -> tuple[Storage, Message]:
    storage = Storage(folder / "headstart.db", folder / "backups")
    (found,) = await storage.run(lambda store: store.messages.branch("c"))
    return storage, found


async def test_a_part_that_cannot_be_read_is_marked_and_kept_as_it_is(tmp_path: Path) -> None:
    home = tmp_path / "headstart.db"
    storage = Storage(home, tmp_path / "backups")
    message, _ = await storage.run(_store_parts)
    storage.close()
    _spoil(home, "UPDATE parts SET data = '{' WHERE kind = 'file'")
    storage, found = await _reopened(tmp_path)
    spoiled = found.parts[0]
    assert isinstance(spoiled, UnknownPart)
    assert (spoiled.name, spoiled.text, spoiled.data) == ("file", "text", "{")
    assert found.parts[1:] == message.parts[1:]
    assert found.error is not None
    assert replace(found, error=None, parts=message.parts) == message
    # written again, it is still what it was, and still marked
    await storage.run(
        lambda store: store.messages.finish(message.id, found.parts, MessageStatus.COMPLETE, None)
    )
    storage.close()
    storage, again = await _reopened(tmp_path)
    assert again.parts == found.parts
    assert again.error == told(DAMAGED).text
    storage.close()


@pytest.mark.parametrize(
    "change", ["data = '{'", "data = replace(data, 'notes', 'nodes')", "blob = upper(blob)"]
)
async def test_a_damaged_file_comes_back_whole_from_a_copy(tmp_path: Path, change: str) -> None:
    home = tmp_path / "headstart.db"
    storage = Storage(home, tmp_path / "backups")
    message, _ = await storage.run(_store_parts)
    storage.close()
    copies.copy_database(home, tmp_path / "backups", "daily", 5)
    _spoil(home, f"UPDATE parts SET {change} WHERE kind = 'file'")
    storage, found = await _reopened(tmp_path)
    assert found == message
    storage.close()


async def test_what_a_newer_version_stored_is_kept_by_every_change(tmp_path: Path) -> None:
    home = tmp_path / "headstart.db"
    storage = Storage(home, tmp_path / "backups")
    message, _ = await storage.run(_store_parts)
    storage.close()
    row = StoredPart("hologram", "seen from above", '{"angle": 3}', None, None)
    _spoil(
        home,
        f"UPDATE parts SET kind = 'hologram', text = '{row.text}', data = '{row.data}', "
        f"digest = {row.whole_digest()} WHERE kind = 'tool result'",
    )
    storage, found = await _reopened(tmp_path)
    assert found.error is None
    assert found.parts[4] == UnknownPart("hologram", row.text, row.data)
    await storage.run(
        lambda store: store.messages.finish(
            message.id, (*found.parts, TextPart(" And more.")), MessageStatus.COMPLETE, None
        )
    )
    storage.close()
    storage, again = await _reopened(tmp_path)
    assert again.parts[4] == found.parts[4]
    assert again.parts[5] == TextPart("See? And more.")
    storage.close()


async def test_files_stay_where_the_database_is_not_the_one_that_named_them(
    tmp_path: Path,
) -> None:
    home = tmp_path / "headstart.db"
    storage = Storage(home, tmp_path / "backups")
    await storage.run(_store_parts)
    storage.close()
    before = _files(tmp_path / "blobs")
    aside = tmp_path / "aside"
    aside.mkdir()
    for file in tmp_path.glob("headstart.db*"):
        file.rename(aside / file.name)
    storage = Storage(home, tmp_path / "backups")
    await storage.ready()
    storage.close()
    assert _files(tmp_path / "blobs") == before


async def test_files_that_a_copy_needs_stay(tmp_path: Path) -> None:
    home = tmp_path / "headstart.db"
    storage = Storage(home, tmp_path / "backups")
    await storage.run(_store_parts)
    storage.close()
    copies.copy_database(home, tmp_path / "backups", "daily", 5)
    _spoil(home, "DELETE FROM parts WHERE kind = 'file'")
    _spoil(home, "UPDATE parts SET position = position - 1")
    before = _files(tmp_path / "blobs")
    storage = Storage(home, tmp_path / "backups")
    await storage.ready()
    storage.close()
    assert _files(tmp_path / "blobs") == before


async def test_a_chats_files_go_with_it_in_the_session_that_added_them(tmp_path: Path) -> None:
    storage = Storage(tmp_path / "headstart.db", tmp_path / "backups")
    await storage.run(_store_parts)
    await storage.run(lambda store: store.chats.delete("c"))
    await storage.purge("c")
    assert _files(tmp_path / "blobs") == []
    storage.close()


def test_adding_a_damaged_file_again_heals_it(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path / "blobs")
    blob = blobs.put(b"river", "text/plain")
    next((tmp_path / "blobs").glob("*/*")).write_bytes(b"rover")
    blobs.put(b"river", "text/plain")
    assert blobs.get(blob) == b"river"
