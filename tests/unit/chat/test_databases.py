"""Chats that were begun, stored and private ones, over real SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import What
from headstart.chat.databases import Databases
from headstart.core.chats.values import ChatDraft
from headstart.core.settings.schema import ChatOptions
from headstart.storage.worker import Storage


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    storage = Storage(tmp_path / "chats.db", tmp_path / "backups")
    yield storage
    storage.close()


async def _store(databases: Databases, draft: ChatDraft, title: str) -> None:
    chat = draft.chat(title, "model")
    await databases.run(draft.id, lambda store: store.chats.create(chat))
    databases.end_begun(draft.id)


async def test_a_chat_keeps_its_id_from_being_begun_to_being_stored(storage: Storage) -> None:
    databases = Databases(storage, Broadcast())
    draft = databases.begin()
    databases.change_begun(
        replace(draft, options=ChatOptions(system_prompt="Be brief.")), What.OPTIONS
    )
    begun = await databases.chat(draft.id)
    assert begun is not None
    assert (begun.id, begun.title, begun.options.system_prompt) == (draft.id, "", "Be brief.")
    assert await databases.summaries() == []
    changed = databases.begun(draft.id)
    assert changed is not None
    await _store(databases, changed, "Rivers")
    stored = await databases.chat(draft.id)
    assert stored is not None
    assert (stored.title, stored.options.system_prompt, stored.private) == (
        "Rivers", "Be brief.", False,
    )  # fmt: skip
    assert [chat.id for chat in await databases.summaries()] == [draft.id]


async def test_a_private_chat_is_in_memory_only_and_says_so(
    storage: Storage, tmp_path: Path
) -> None:
    databases = Databases(storage, Broadcast())
    kept, private = databases.begin(), databases.begin(private=True)
    await _store(databases, kept, "Kept")
    await _store(databases, private, "xylophone")
    found = await databases.chat(private.id)
    assert found is not None
    assert found.private
    assert [(chat.id, chat.private) for chat in await databases.summaries()] == [
        (private.id, True), (kept.id, False),
    ]  # fmt: skip
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or b"xylophone" not in path.read_bytes()
    await databases.close()


async def test_a_chat_that_nobody_wants_is_gone(storage: Storage) -> None:
    databases = Databases(storage, Broadcast())
    draft = databases.begin()
    databases.end_begun(draft.id)
    assert await databases.chat(draft.id) is None
