"""Text that no database takes, from wherever it came: it is stored with whole characters, and
nothing beside it is lost."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from headstart.core.chats.parts import ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from headstart.core.chats.values import Chat, Folder, Message, MessageStatus, Role, new_id, now_ms
from headstart.core.settings.schema import ChatOptions, Settings
from headstart.storage.adapters.settings_file import SettingsFile
from headstart.storage.worker import Storage

ODD = (
    ("a\0b", "a\ufffdb"),
    ("half \ud83c", "half \ufffd"),
    ("pair \ud83c\udf0a", "pair \U0001f30a"),
    ("\udfff\0\ud800 end", "\ufffd\ufffd\ufffd end"),
)  # fmt: skip


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    found = Storage(tmp_path / "a.db", tmp_path / "backups")
    yield found
    found.close()


@pytest.mark.parametrize(("text", "shown"), ODD)
async def test_it_is_stored_whole(storage: Storage, text: str, shown: str) -> None:
    options = ChatOptions(system_prompt=text)
    chat = Chat(new_id(), text, now_ms(), now_ms(), model=text, options=options, folder=text)
    parts = (
        TextPart(text),
        ReasoningPart(text),
        ToolCallPart(text, "1", text),
        ToolResultPart(text, "1", text),
    )
    message = Message(
        new_id(), chat.id, None, Role.ASSISTANT, MessageStatus.FAILED, parts, now_ms(), model=text,
        error=text,
    )  # fmt: skip
    await storage.run(lambda store: store.folders.save(Folder(text)))
    await storage.run(lambda store: store.messages.add([message], chat))
    await storage.run(lambda store: store.chats.rename(chat.id, text, by_user=True))
    await storage.run(lambda store: store.chats.set_tags(chat.id, [text]))
    found = await storage.run(lambda store: store.chats.get(chat.id))
    assert found is not None
    assert (found.title, found.folder, found.model) == (shown,) * 3
    assert found.options.system_prompt == shown
    (back,) = await storage.run(lambda store: store.messages.branch(chat.id))
    assert [part.text for part in back.parts] == [shown] * 4
    assert back.error is not None
    assert [one.path for one in await storage.run(lambda store: store.folders.all())] == [shown]


@pytest.mark.parametrize(("text", "shown"), ODD)
def test_settings_are_written_all_the_same(tmp_path: Path, text: str, shown: str) -> None:
    file = SettingsFile(tmp_path / "settings.json")
    file.save(Settings(system_prompt=text))
    back, problem = file.load()
    assert problem is None
    assert back.system_prompt == shown


async def test_values_that_other_programs_wrote_are_set_aside(
    storage: Storage, tmp_path: Path
) -> None:
    chat = Chat(new_id(), "A chat", now_ms(), now_ms(), model="m", folder="Work")
    await storage.run(lambda store: store.folders.save(Folder("Work")))
    await storage.run(lambda store: store.chats.create(chat))
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("UPDATE folders SET position = 'x', options = 7, model = 3")
        connection.execute(
            "INSERT INTO unsent (chat_id, text, parts, updated_at) VALUES (?, 42, '[]', 1)",
            (chat.id,),
        )
    connection.close()
    (folder,) = await storage.run(lambda store: store.folders.all())
    assert (folder.path, folder.position, folder.model) == ("Work", 0, "3")
    (unsent,) = await storage.run(lambda store: store.unsent.all())
    assert unsent.text == "42"
