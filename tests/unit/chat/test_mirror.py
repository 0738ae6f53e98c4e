"""The folder of Markdown files that follows the chats."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from headstart.chat.changes import Trouble
from headstart.chat.transfer.importing import Importing
from headstart.chat.transfer.intake import ImportJobRun
from headstart.chat.transfer.mirror import BOOK, Mirror
from tests.support.answers import Answer, Talk


class World:
    def __init__(self, talk: Talk, folder: Path) -> None:
        self.talk = talk
        self.folder = folder
        folder.mkdir()
        self.mirror = Mirror(
            talk.databases, talk.exporting, talk.preferences, talk.broadcast, talk.background
        )
        talk.listen(Trouble)
        talk.preferences.update(mirror_folder=str(folder))

    async def chat(self, text: str, title: str, private: bool = False) -> str:
        chat_id = self.talk.chat_list.begin(private).id
        self.talk.answerer.answers = [Answer([f"About {text}."])]
        await self.talk.say(chat_id, text)
        await self.talk.chat_list.rename(chat_id, title)
        return chat_id

    async def files(self) -> dict[str, str]:
        await self.mirror.write_now()
        return {
            path.relative_to(self.folder).as_posix(): path.read_text(encoding="utf-8")
            for path in sorted(self.folder.rglob("*.md"))
        }


@pytest.fixture
def world(loop: asyncio.AbstractEventLoop, talk: Talk, tmp_path: Path) -> Iterator[World]:
    async def make() -> World:
        return World(talk, tmp_path / "mirror")

    found = loop.run_until_complete(make())
    yield found
    found.mirror.close()


async def test_chats_have_a_file_each_that_follows_them(world: World) -> None:
    chat = await world.chat("rivers", "Rivers")
    files = await world.files()
    assert list(files) == ["Rivers.md"]
    assert "About rivers." in files["Rivers.md"]
    world.talk.answerer.answers = [Answer(["Lakes too."])]
    await world.talk.say(chat, "And lakes?")
    assert "Lakes too." in (await world.files())["Rivers.md"]
    await world.talk.chat_list.rename(chat, "Water: rivers/lakes")
    files = await world.files()
    assert list(files) == ["Water rivers lakes.md"]
    await world.talk.chat_list.delete(chat)
    assert await world.files() == {}
    await world.talk.chat_list.undo_delete(chat)
    assert len(await world.files()) == 1


async def test_what_others_wrote_there_stays(world: World) -> None:
    (world.folder / "Rivers.md").write_text("mine")
    (world.folder / "Notes.md").write_text("notes")
    chat = await world.chat("rivers", "Rivers")
    files = await world.files()
    assert sorted(files) == ["Notes.md", "Rivers (2).md", "Rivers.md"]
    assert files["Rivers.md"] == "mine"
    # a file of ours that somebody changed is theirs from then on
    (world.folder / "Rivers (2).md").write_text(files["Rivers (2).md"] + "\nmy words\n")
    world.talk.answerer.answers = [Answer(["More."])]
    await world.talk.say(chat, "More?")
    files = await world.files()
    assert "my words" in files["Rivers (2).md"]
    assert "More." in files["Rivers (3).md"]
    await world.talk.chat_list.delete(chat)
    assert sorted(await world.files()) == ["Notes.md", "Rivers (2).md", "Rivers.md"]


async def test_private_chats_are_never_written(world: World) -> None:
    await world.chat("secret", "Secret", private=True)
    await world.chat("rivers", "Rivers")
    assert list(await world.files()) == ["Rivers.md"]
    every = "".join(
        path.read_text(encoding="utf-8") for path in world.folder.rglob("*") if path.is_file()
    )
    assert "ecret" not in every


async def test_the_folder_is_brought_up_to_date_when_it_is_chosen(world: World) -> None:
    world.talk.preferences.update(mirror_folder="")
    await world.chat("rivers", "Rivers")
    await world.chat("rivers", "rivers")
    assert await world.files() == {}
    world.talk.preferences.update(mirror_folder=str(world.folder))
    assert sorted(await world.files()) == ["Rivers.md", "rivers (2).md"] or sorted(
        await world.files()
    ) == ["Rivers (2).md", "rivers.md"]
    # a file that went is written again with the next start
    (world.folder / "Rivers.md").unlink(missing_ok=True)
    world.talk.preferences.update(mirror_folder="")
    world.talk.preferences.update(mirror_folder=str(world.folder))
    assert len(await world.files()) == 2


async def test_names_in_the_book_lead_nowhere_else(world: World, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("mine")
    chat = await world.chat("rivers", "Rivers")
    await world.files()
    book = json.loads((world.folder / BOOK).read_text())
    book["files"]["x" * 32] = {"name": "../outside.md", "digest": "", "updated_at": 1}
    book["files"][chat]["name"] = "../outside.md"
    (world.folder / BOOK).write_text(json.dumps(book))
    await world.talk.chat_list.delete(chat)
    await world.files()
    assert outside.read_text() == "mine"


@pytest.mark.logs("the mirror was not written")
async def test_a_folder_that_cannot_be_written_is_told_once(world: World) -> None:
    (world.folder / "file").write_text("no folder")
    world.talk.preferences.update(mirror_folder=str(world.folder / "file" / "inside"))
    for name in ("rivers", "lakes"):
        await world.chat(name, name)
        await world.files()
    (trouble,) = world.talk.told
    assert isinstance(trouble, Trouble)
    assert "could not be mirrored" in trouble.told.text


async def test_a_mirrored_file_never_comes_in_twice(world: World, tmp_path: Path) -> None:
    chat = await world.chat("rivers", "Rivers")
    await world.files()
    importing = Importing(
        world.talk.storage, None, world.talk.preferences, world.talk.broadcast, tmp_path / "s"
    )
    result = await importing.run([world.folder / "Rivers.md"], ImportJobRun())
    assert (result.new, result.here, result.messages) == (0, 1, 0)
    await world.talk.chat_list.delete(chat)
    result = await importing.run([world.folder / "Rivers.md"], ImportJobRun())
    assert result.restored == 1
    assert await world.talk.texts(chat) == ["rivers", "About rivers."]
