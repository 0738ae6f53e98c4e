"""Blobs: kept once by their content, and gone when no message names them."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from headstart.core.errors import EnvironmentProblem
from headstart.core.parts import (
    FilePart,
    ImagePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from headstart.core.values import Chat, Message, MessageStatus, Role, new_id, now_ms
from headstart.storage.blobs import Blobs
from headstart.storage.worker import Storage, Store


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


async def test_a_part_that_cannot_be_read_shows_its_text(tmp_path: Path) -> None:
    storage = Storage(tmp_path / "headstart.db", tmp_path / "backups")
    message, _ = await storage.run(_store_parts)

    def spoil(store: Store) -> None:
        with store.messages._engine.begin() as connection:
            connection.exec_driver_sql("UPDATE parts SET data = '{' WHERE kind = 'file'")

    await storage.run(spoil)
    (found,) = await storage.run(lambda store: store.messages.branch("c"))
    assert found.parts[0] == TextPart("text")
    assert found.parts[1:] == message.parts[1:]
    assert found.error is not None
    assert replace(found, error=None, parts=message.parts) == message
    storage.close()
