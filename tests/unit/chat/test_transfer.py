"""Chats in and out of a real database."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import Change, ChatsChanged
from headstart.chat.databases import Databases
from headstart.chat.preferences import Preferences
from headstart.chat.transfer.export_request import ExportCancelled, ExportRequest
from headstart.chat.transfer.export_request import ExportJobRun as ExportRun
from headstart.chat.transfer.exporting import Exporting
from headstart.chat.transfer.importing import Importing
from headstart.chat.transfer.intake import ImportJobRun, Result
from headstart.core.chats.parts import FilePart, ImagePart, TextPart
from headstart.core.chats.values import Message, Role
from headstart.core.errors import EnvironmentProblem
from headstart.core.settings.schema import Settings
from headstart.exchange import own_format
from headstart.exchange.include import Include
from headstart.exchange.tree import ChatNode, ExchangeChat
from headstart.storage.adapters.settings_file import SettingsFile
from headstart.storage.worker import Storage, Store
from tests.support import conversation_files as files


def branch_of(store: Store, chat_id: str) -> list[Message]:
    return store.messages.branch(chat_id)


class World:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.storage = Storage(folder / "headstart.db", folder / "backups")
        self.preferences = Preferences(Settings(), SettingsFile(folder / "settings.json"))
        self.broadcast = Broadcast()
        self.told: list[Change] = []
        self.broadcast.on(ChatsChanged, self.told.append)
        self.importing = Importing(
            self.storage, None, self.preferences, self.broadcast, folder / "scratch"
        )
        databases = Databases(self.storage, self.broadcast)
        self.exporting = Exporting(databases, lambda _: None, None, self.preferences)

    def file(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(data)
        return path

    async def take(self, *paths: Path) -> Result:
        return await self.importing.run(paths, ImportJobRun())

    async def titles(self) -> list[str]:
        return [chat.title for chat in await self.storage.run(lambda s: s.chats.summaries())]

    async def only(self) -> ExchangeChat:
        (chat_id,) = await self.storage.run(lambda store: store.transfers.ids())
        return await self.exporting.conversation(chat_id, blobs=True)

    async def export(self, form: str, name: str, **include: bool) -> Path:
        path = self.folder / name
        await self.exporting.write(ExportRequest((), form, Include(**include)), path, ExportRun())
        return path


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    found = World(tmp_path)
    yield found
    found.storage.close()
    found.preferences.close()


@pytest.mark.parametrize("kind", list(files.FILES))
async def test_every_format_comes_in_and_twice_adds_nothing(kind: str, world: World) -> None:
    path = world.file("some.file", files.FILES[kind]())
    plan = await world.importing.plan([path], ImportJobRun())
    assert {chat.state for chat in plan.chats} == {"new"}
    assert await world.titles() == []
    first = await world.take(path)
    assert first.new == len(plan.chats) == len(await world.titles())
    assert first.messages == sum(chat.messages for chat in plan.chats)
    assert isinstance(world.told[-1], ChatsChanged)
    again = await world.take(path)
    assert (again.new, again.more, again.messages, again.here) == (0, 0, 0, first.new)
    plan = await world.importing.plan([path], ImportJobRun())
    assert {chat.state for chat in plan.chats} == {"here"}
    # every tree is sound, and can be read
    for summary in await world.storage.run(lambda store: store.chats.summaries()):
        branch = await world.storage.run(partial(branch_of, chat_id=summary.id))
        assert summary.messages == len(branch) > 0
    assert await world.storage.run(lambda store: store.messages.take_repaired()) == []


async def test_a_later_export_adds_what_is_new(world: World) -> None:
    await world.take(world.file("a.json", files.dumps([files.chatgpt()])))
    later = files.chatgpt()
    for node in (
        files.gpt_node("a3", "u2", "assistant", "You are welcome.", time=1_700_000_009),
        files.gpt_node("a0", "u1", "assistant", "A third try.", time=1_700_000_010),
    ):
        later["mapping"][node["id"]] = node
    result = await world.take(world.file("b.json", files.dumps([later])))
    assert (result.new, result.more, result.messages) == (0, 1, 2)
    chat = await world.only()
    # the branch on show goes on; the other try is a version
    assert [part.text for part in chat.branch()[-1].parts] == ["You are welcome."]
    assert len(chat.other_branches(chat.branch())) == 2


async def test_what_the_user_changed_stays(world: World) -> None:
    path = world.file("a.json", files.dumps([files.chatgpt()]))
    await world.take(path)
    (chat_id,) = await world.storage.run(lambda store: store.transfers.ids())
    await world.storage.run(lambda store: store.chats.rename(chat_id, "Mine", by_user=True))
    reply = (await world.storage.run(lambda store: store.messages.branch(chat_id)))[1]
    await world.storage.run(lambda store: store.messages.show_version(reply.id, -1))
    await world.take(path)
    assert await world.titles() == ["Mine"]
    shown = (await world.storage.run(lambda store: store.messages.branch(chat_id)))[1]
    assert shown.text == "The first answer."


async def test_folders_and_pins_are_kept(world: World, tmp_path: Path) -> None:
    folder = tmp_path / "lm-studio" / "conversations" / "Travel" / "Rivers"
    folder.mkdir(parents=True)
    (folder / "1.conversation.json").write_bytes(files.dumps(files.lmstudio()))
    result = await world.take(tmp_path / "lm-studio")
    assert result.new == 1
    found = await world.only()
    assert (found.folder, found.pinned) == ("Travel/Rivers", True)
    path = await world.export("headstart", "back.headstart.json")
    again = own_format.from_json(path.read_bytes())
    assert (again.folder, again.pinned) == ("Travel/Rivers", True)


async def test_a_chat_in_the_trash_comes_back(world: World) -> None:
    path = world.file("a.json", files.dumps([files.chatgpt()]))
    await world.take(path)
    (chat_id,) = await world.storage.run(lambda store: store.transfers.ids())
    await world.storage.run(lambda store: store.chats.delete(chat_id))
    plan = await world.importing.plan([path], ImportJobRun())
    assert [chat.state for chat in plan.chats] == ["trash"]
    result = await world.take(path)
    assert (result.restored, result.messages) == (1, 0)
    assert await world.titles() == ["A vector, please"]


async def test_our_own_file_brings_everything_back(world: World, tmp_path: Path) -> None:
    data = [files.chatgpt(), files.chatgpt_image("sediment://file_1")]
    (tmp_path / "export").mkdir()
    (tmp_path / "export" / "conversations.json").write_bytes(files.dumps(data))
    (tmp_path / "export" / "file_1.dat").write_bytes(files.png())
    await world.take(tmp_path / "export")
    archive = await world.export("headstart", "all.headstart.zip")
    (tmp_path / "other").mkdir()
    other = World(tmp_path / "other")
    try:
        result = await other.take(archive)
        assert (result.new, result.report.lines) == (2, [])
        for chat_id in await world.storage.run(lambda store: store.transfers.ids()):
            before = await world.exporting.conversation(chat_id, blobs=True)
            after = await other.exporting.conversation(chat_id, blobs=True)
            assert after == before
        # at home it is known already
        assert (await world.take(archive)).here == 2
    finally:
        other.storage.close()
        other.preferences.close()


async def test_unknown_keys_of_a_file_come_out_again(world: World) -> None:
    await world.take(world.file("a.json", files.dumps([files.chatgpt()])))
    chat = json.loads(own_format.to_json(await world.only()))
    chat["id"] = "e" * 32
    chat["mood"] = "good"
    for message in chat["messages"]:
        message["id"] = message["id"][::-1]
        message["parent"] = message["parent"] and message["parent"][::-1]
        message["weather"] = ["sun"]
    chat["selected"] = {}
    await world.take(world.file("b.headstart.json", files.dumps(chat)))
    found = await world.exporting.conversation("e" * 32)
    again = json.loads(own_format.to_json(found))
    assert again["mood"] == "good"
    assert all(message["weather"] == ["sun"] for message in again["messages"])


async def test_images_are_kept_and_go_out(world: World, tmp_path: Path) -> None:
    await world.take(world.file("w.json", files.dumps([files.openwebui()])))
    chat = await world.only()
    (image,) = [part for part in chat.branch()[0].parts if isinstance(part, ImagePart)]
    blob = await world.storage.run(lambda store: store.blobs.get(image.blob))
    assert blob == files.png()
    page = (await world.export("html", "x.html")).read_text(encoding="utf-8")
    assert "data:image/png;base64," in page


async def test_words_of_files_come_along_and_what_cannot_be_read_is_told(world: World) -> None:
    def attached(key: str, name: str) -> dict[str, str]:
        return {"id": key, "name": name, "mime_type": "text/plain"}

    metadata = {"attachments": [attached("file-A", "recipe.txt"), attached("file-B", "x.bin")]}
    message = {"author": {"role": "user"}, "metadata": metadata,
               "content": {"content_type": "text", "parts": ["How much?"]}}  # fmt: skip
    node = {"id": "1", "parent": None, "message": message}
    folder = world.folder / "export"
    folder.mkdir()
    (folder / "file-A-recipe.txt").write_bytes("Käse, 10 g salt".encode("cp1252"))
    (folder / "file-B-x.bin").write_bytes(b"\x7fELF\0\0\1\2" * 9)
    (folder / "conversations.json").write_bytes(files.dumps([{"id": "c", "mapping": {"1": node}}]))
    result = await world.take(folder)
    assert [line.why.code for line in result.report.lines] == ["attachment-no-text"]
    recipe, other, words = (await world.only()).branch()[0].parts
    assert isinstance(recipe, FilePart)
    assert recipe.text == "Käse, 10 g salt"
    assert isinstance(other, FilePart)
    assert (other.text, other.blob.size) == ("", 72)
    assert words == TextPart("How much?")


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("markdown", "all.zip"),
        ("html", "all.zip"),
        ("text", "all.zip"),
        ("trace", "all.jsonl"),
        ("training", "all.jsonl"),
        ("headstart", "all.headstart.zip"),
    ],
)
async def test_several_chats_go_out_together(form: str, name: str, world: World) -> None:
    both = [files.chatgpt(), files.chatgpt(conversation_id="2"), files.claude()]
    await world.take(world.file("a.json", files.dumps(both[:2])))
    await world.take(world.file("b.json", files.dumps(both[2:])))
    path = await world.export(form, name)
    if name.endswith(".zip"):
        names = zipfile.ZipFile(path).namelist()
        chats = [one for one in names if not one.startswith("blobs/")]
        assert len(set(chats)) == 3
        assert any("A vector, please (2)" in one for one in chats)
    else:
        assert len(path.read_bytes().splitlines()) >= 3
    # what can be read again is known
    if form == "headstart":
        assert (await world.take(path)).here == 3
    assert not list(world.folder.glob("*.partial"))


async def test_a_folder_gets_a_file_for_each_and_keeps_what_is_there(world: World) -> None:
    await world.take(world.file("a.json", files.dumps([files.chatgpt()])))
    folder = world.folder / "out"
    folder.mkdir()
    (folder / "A vector, please.md").write_text("mine")
    await world.exporting.write(ExportRequest((), "markdown", Include()), folder, ExportRun())
    assert (folder / "A vector, please.md").read_text() == "mine"
    assert "second answer" in (folder / "A vector, please (2).md").read_text(encoding="utf-8")


async def test_cancelling_leaves_nothing_half(world: World) -> None:
    path = world.file("a.json", files.dumps([files.chatgpt()]))
    stopped = ImportJobRun()
    stopped.stop.set()
    result = await world.importing.run([path], stopped)
    assert result.stopped
    assert await world.titles() == []
    await world.take(path)
    run = ExportRun()
    run.stop.set()
    target = world.folder / "x.zip"
    with pytest.raises(ExportCancelled):
        await world.exporting.write(ExportRequest((), "markdown", Include()), target, run)
    assert not target.exists()
    assert not list(world.folder.glob("*.partial"))


async def test_where_a_file_cannot_be_written_is_said(world: World) -> None:
    await world.take(world.file("a.json", files.dumps([files.chatgpt()])))
    with pytest.raises(EnvironmentProblem):
        await world.export("markdown", "no/such/folder.md")


async def test_a_file_of_the_user_is_left_as_it_is(world: World) -> None:
    path = world.file("a.json", files.dumps([files.chatgpt()]))
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    await world.take(path)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert not list((world.folder / "scratch").iterdir())


async def test_very_many_messages_in_one_chat(world: World) -> None:
    await world.take(world.file("x.headstart.json", own_format.to_json(long_chat(3_000))))
    again = await world.only()
    assert len(again.branch()) == 3_000


def long_chat(count: int) -> ExchangeChat:
    roles = (Role.USER, Role.ASSISTANT)
    nodes = tuple(
        ChatNode(f"{n:032x}", f"{n - 1:032x}" if n else None, roles[n % 2], (TextPart(f"{n}"),))
        for n in range(count)
    )
    return ExchangeChat("headstart", "d" * 32, "Long", nodes)
