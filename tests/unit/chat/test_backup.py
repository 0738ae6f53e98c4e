"""Backups of a whole home, and what they bring back."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from headstart.chat.transfer.backup import Backups, Making, Places
from headstart.chat.transfer.intake import ImportJobRun
from headstart.core.chats.parts import FilePart
from headstart.core.errors import EnvironmentProblem
from headstart.core.servers import Connection
from headstart.core.updates import UpdateSettings
from headstart.storage.rescue.copies import copy_database
from headstart.storage.worker import Store
from tests.support import conversation_files as files
from tests.unit.chat.test_transfer import World


class Home(World):
    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        super().__init__(folder)
        self.places = Places(
            folder / "headstart.db",
            folder / "backups",
            folder / "blobs",
            folder / "settings.json",
            folder / "models.json",
            folder / "temporary",
        )
        self.backups = Backups(self.storage, self.places, self.preferences, self.broadcast)

    def close(self) -> None:
        self.storage.close()
        self.preferences.close()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    found = Home(tmp_path / "home")
    yield found
    found.close()


async def test_everything_comes_back_elsewhere(home: Home, tmp_path: Path) -> None:
    await home.take(home.file("a.json", files.dumps([files.chatgpt()])))
    await home.take(home.file("b.json", files.dumps([files.claude()])))
    home.preferences.update(system_prompt="Be kind.")
    home.preferences.state.update(window_size=(1000, 700))
    home.preferences.close()
    path = tmp_path / "x.headstart-backup.zip"
    making = Making()
    assert await home.backups.make(path, making)
    assert making.count == making.total - 1 == 1
    names = zipfile.ZipFile(path).namelist()
    assert {"headstart-backup.json", "headstart.db", "settings.json"} <= set(names)
    facts = json.loads(zipfile.ZipFile(path).read("headstart-backup.json"))
    assert (facts["format"], facts["chats"]) == ("headstart-backup", 2)
    before = path.read_bytes()
    other = Home(tmp_path / "other")
    try:
        plan = await other.backups.plan(path, ImportJobRun())
        assert plan.has_settings
        assert {chat.state for chat in plan.chats} == {"new"}
        assert await other.titles() == []
        result = await other.backups.restore(path, ImportJobRun(), with_settings=True)
        assert (result.new, result.report.lines) == (2, [])
        assert sorted(await other.titles()) == sorted(await home.titles())
        assert other.preferences.current.system_prompt == "Be kind."
        assert other.preferences.state.current.window_size is None
        for chat_id in await home.storage.run(lambda store: store.transfers.ids()):
            here = await home.exporting.conversation(chat_id, blobs=True)
            assert await other.exporting.conversation(chat_id, blobs=True) == here
        again = await other.backups.restore(path, ImportJobRun())
        assert (again.new, again.here) == (0, 2)
        assert not list(other.places.scratch.iterdir())
    finally:
        other.close()
    assert path.read_bytes() == before


def rename(store: Store, chat_id: str, title: str) -> None:
    store.chats.rename(chat_id, title, by_user=True)


async def test_an_automatic_copy_brings_back_what_is_gone(home: Home) -> None:
    await home.take(home.file("a.json", files.dumps([files.chatgpt()])))
    await home.take(home.file("b.json", files.dumps([files.claude()])))
    copy_database(home.places.database, home.places.backups, "daily", 5)
    first, second = await home.storage.run(lambda store: store.transfers.ids())
    await home.storage.run(partial(rename, chat_id=first, title="Changed since"))
    await home.storage.run(lambda store: store.chats.delete(second))
    (copy,) = await home.backups.copies()
    assert copy.kind == "daily"
    plan = await home.backups.plan(copy.path, ImportJobRun())
    assert sorted(chat.state for chat in plan.chats) == ["here", "trash"]
    assert not plan.has_settings
    result = await home.backups.restore(copy.path, ImportJobRun())
    assert (result.restored, result.here) == (1, 1)
    # what came since stays
    assert "Changed since" in await home.titles()
    for chat_id in (first, second):
        chat = await home.exporting.conversation(chat_id, blobs=True)
        for part in (part for node in chat.nodes for part in node.parts):
            assert not isinstance(part, FilePart) or part.blob.digest in chat.blobs


async def test_a_backup_of_an_older_schema_is_read_too(home: Home, tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    fixture = Path(__file__).parents[2] / "fixtures" / "databases" / "0003.sql"
    connection = sqlite3.connect(old)
    connection.executescript(fixture.read_text(encoding="utf-8"))
    connection.close()
    data = old.read_bytes()
    result = await home.backups.restore(old, ImportJobRun())
    assert result.new == 1
    assert await home.titles() == ["Rivers"]
    assert old.read_bytes() == data


async def test_what_is_no_backup_says_so(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("something", "else")
    with pytest.raises(EnvironmentProblem, match="no backup"):
        await home.backups.plan(path, ImportJobRun())
    with pytest.raises(EnvironmentProblem):
        await home.backups.plan(tmp_path / "gone.zip", ImportJobRun())


async def test_a_backup_that_is_stopped_leaves_nothing(home: Home, tmp_path: Path) -> None:
    await home.take(home.file("b.json", files.dumps([files.claude()])))
    making = Making()
    making.stop.set()
    assert not await home.backups.make(tmp_path / "x.zip", making)
    assert not (tmp_path / "x.zip").exists()
    assert not list(tmp_path.glob("*.partial"))
    with pytest.raises(EnvironmentProblem, match="could not be written"):
        await home.backups.make(tmp_path / "no" / "x.zip", Making())


async def test_a_backup_brings_no_permission_along(home: Home, tmp_path: Path) -> None:
    here = Connection("1", "Here", "http://127.0.0.1:8080/v1", allowed=True)
    there = Connection("2", "There", "https://other.example/v1", "/x.pem", allowed=True)
    await home.take(home.file("a.json", files.dumps([files.chatgpt()])))
    home.preferences.update(
        connections=(here, there),
        updates=UpdateSettings(look=True, address="https://elsewhere.example/new.json"),
        system_prompt="Be kind.",
    )
    home.preferences.close()
    path = tmp_path / "x.headstart-backup.zip"
    assert await home.backups.make(path, Making())
    other = Home(tmp_path / "other")
    try:
        other.preferences.update(connections=(here,))
        await other.backups.restore(path, ImportJobRun(), with_settings=True)
        now = other.preferences.current
        assert now.system_prompt == "Be kind."
        assert [(one.id, one.allowed, one.certificate) for one in now.connections] == [
            ("1", True, ""),
            ("2", False, ""),
        ]
        assert now.updates == UpdateSettings()
    finally:
        other.close()
