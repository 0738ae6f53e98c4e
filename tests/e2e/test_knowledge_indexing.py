"""Folders in the background, without a window's help: meanings by a real embedding model, edits and
moves, drives that are away, stops in the middle, damaged files."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from headstart.assembly import App
from headstart.chat.agent.toolbox import Caller
from headstart.chat.knowledge.knowledge import Knowledge
from headstart.chat.knowledge.tools import DATA
from headstart.core.chats.values import Chat
from headstart.core.knowledge.values import SourceState
from headstart.core.settings.library import LibrarySettings
from headstart.core.settings.schema import ChatOptions
from tests.conftest import OpenApp, until
from tests.support.bert_files import write_tiny
from tests.support.plain_pdf import plain_pdf, words

WORDS = ["pump", "tank", "tulip", "garden", "letter", "river", "coolant", "holds", "litres"]


@pytest.fixture(autouse=True)
def quick(shallow_starter: None) -> None:
    """No test here needs the starter model's words."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    root.mkdir()
    for number, body in enumerate(("pump tank coolant", "tulip garden", "letter river")):
        (root / f"{number}.md").write_text(f"# File {number}\n\n{body} {body}.\n")
    return root


def knowledge_of(app: App) -> Knowledge:
    return app.services.knowledge.knowledge


async def added(app: App, folder: Path) -> Knowledge:
    knowledge = knowledge_of(app)
    knowledge.add(str(folder))
    await knowledge.indexing.settled()
    return knowledge


async def looked(knowledge: Knowledge) -> SourceState:
    knowledge.look()
    await knowledge.indexing.settled()
    (state,) = await knowledge.states()
    return state


async def names(knowledge: Knowledge, query: str) -> list[str]:
    found = await knowledge.searching.find(query)
    return [hit.place.name for hit in found.hits]


async def test_meanings_are_compared_by_an_installed_model(
    running: OpenApp, folder: Path, tmp_path: Path
) -> None:
    models = tmp_path / "models"
    models.mkdir()
    async with running() as app:
        knowledge = await added(app, folder)
        assert not (await knowledge.searching.find("pump")).meant
        write_tiny(models / "tiny-embed.gguf", WORDS)
        app.services.preferences.update(library=LibrarySettings(folders=(str(models),)))
        knowledge.meaning.look_again()
        await until(lambda: not knowledge.meaning.working)
        (state,) = await knowledge.states()
        assert state.meaning_share == 1.0
        found = await knowledge.searching.find("tulip garden tulip garden.")
        assert found.meant
        assert found.hits[0].place.name == "1.md"
        # an edit costs the vector of its own piece
        (folder / "1.md").write_text("# File 1\n\nriver letter river letter.\n")
        knowledge.look()
        await knowledge.indexing.settled()
        await until(lambda: not knowledge.meaning.working)
        (state,) = await knowledge.states()
        assert (state.pieces, state.meant) == (3, 3)
    # switched off, words alone answer
    async with running() as app:
        settings = app.services.preferences.current.knowledge
        app.controllers.knowledge.settings_changed()
        knowledge = knowledge_of(app)
        assert settings.meaning
        app.window.settings.open("knowledge").knowledge.meaning.click()
        await app.controllers.settle()
        assert not (await knowledge.searching.find("river")).meant


async def test_moves_copies_and_edits_are_followed(running: OpenApp, folder: Path) -> None:
    async with running() as app:
        knowledge = await added(app, folder)
        (folder / "sub").mkdir()
        shutil.move(folder / "0.md", folder / "sub" / "moved.md")
        shutil.copy(folder / "2.md", folder / "copy.md")
        (folder / "1.md").write_text("# File 1\n\nnothing like before: elephants\n")
        state = await looked(knowledge)
        assert (state.files, state.pieces) == (4, 3), "a copy has no pieces of its own"
        assert await names(knowledge, "coolant") == ["moved.md"]
        assert await names(knowledge, "tulip") == []
        assert await names(knowledge, "elephants") == ["1.md"]


async def test_a_folder_that_is_away_is_still_searched(running: OpenApp, folder: Path) -> None:
    async with running() as app:
        knowledge = await added(app, folder)
        folder.rename(folder.with_name("elsewhere"))
        state = await looked(knowledge)
        assert state.away
        assert await names(knowledge, "coolant") == ["0.md"]
        # a mount point without its disk is empty
        folder.mkdir()
        assert (await looked(knowledge)).away
        folder.rmdir()
        folder.with_name("elsewhere").rename(folder)
        state = await looked(knowledge)
        assert (state.away, state.files) == (False, 3)


async def test_files_without_text_are_counted_and_read_again_when_they_change(
    running: OpenApp, folder: Path
) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 broken")
    (folder / "noise").write_bytes(bytes(range(256)) * 40)
    (folder / "empty.txt").write_text("")
    async with running() as app:
        knowledge = await added(app, folder)
        state = await looked(knowledge)
        assert dict(state.left_out) == {"empty": 1, "no-text": 2}
        (folder / "broken.pdf").write_bytes(plain_pdf(words("The elephant has a trunk.")))
        state = await looked(knowledge)
        assert dict(state.left_out) == {"empty": 1, "no-text": 1}
        found = await knowledge.searching.find("elephant")
        assert [(hit.place.name, hit.place.page) for hit in found.hits] == [("broken.pdf", 1)]


async def test_a_stop_in_the_middle_loses_nothing(running: OpenApp, tmp_path: Path) -> None:
    root = tmp_path / "many"
    root.mkdir()
    for number in range(60):
        (root / f"{number}.txt").write_text(f"word{number} " * 40)
    async with running() as app:
        knowledge = knowledge_of(app)
        knowledge.add(str(root))
        state = knowledge.indexing.states
        await until(lambda: str(root) in state and 0 < state[str(root)].waiting < 50)
    async with running() as app:
        knowledge = knowledge_of(app)
        await knowledge.indexing.settled()
        (now,) = await knowledge.states()
        assert now.files == 60
        assert await names(knowledge, "word59") == ["59.txt"]


async def test_damaged_files_end_nothing(running: OpenApp, tmp_path: Path) -> None:
    """The sampled version: `tests.benchmarks.knowledge` has 5,000."""
    draw = random.Random(2)
    root = tmp_path / "damaged"
    root.mkdir()
    whole = plain_pdf(words("Some words on a page."))
    for number in range(60):
        data = bytearray(whole if number % 2 else os.urandom(2_000))
        for _ in range(draw.randrange(1, 30)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        ending = draw.choice(("pdf", "docx", "html", "txt", "md", "ipynb", "csv"))
        (root / f"{number}.{ending}").write_bytes(bytes(data[: draw.randrange(len(data))]))
    (root / "last.txt").write_text("the elephant is found")
    async with running() as app:
        knowledge = await added(app, root)
        assert knowledge.indexing.states[str(root)].problem is None
        assert await names(knowledge, "elephant") == ["last.txt"]


async def test_the_index_can_be_deleted_and_made_again(running: OpenApp, folder: Path) -> None:
    async with running() as app:
        knowledge = await added(app, folder)
        await knowledge.rebuild()
        await knowledge.indexing.settled()
        assert await names(knowledge, "coolant") == ["0.md"]
        found = await knowledge.searching.find('"tank coolant"')
        assert [hit.exact for hit in found.hits] == [True]


async def test_models_search_and_read_the_same_files(running: OpenApp, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "0.md").write_text("# Other\n\nanother file of this name\n")
    async with running() as app:
        await added(app, folder)
        box = app.services.tools.desk.toolbox
        options = ChatOptions(files_from=(str(folder),))
        caller = Caller(Chat("c", "", 0, 0, options=options), "")
        found = await box.run("search_files", '{"question": "coolant"}', caller)
        assert "0.md, line 1, from character 0" in found.text
        assert found.text.startswith(DATA)
        zebra = await box.run("search_files", '{"question": "zebra"}', caller)
        assert zebra.text.startswith("Nothing")
        read = await box.run("read_file", '{"path": "2.md", "from": 2}', caller)
        assert read.text.startswith(f"{DATA}\nFile 2")
        two = await box.run("read_file", '{"path": "0.md"}', caller)
        # the path is that of one of them
        assert "coolant" in two.text
        for arguments in ('{"path": "../secret"}', '{"path": "2.md", "from": 9999}', "{}"):
            assert (await box.run("read_file", arguments, caller)).failed


async def test_meanings_go_on_after_the_index_was_made_again(
    running: OpenApp, folder: Path, tmp_path: Path
) -> None:
    models = tmp_path / "models"
    models.mkdir()
    write_tiny(models / "tiny-embed.gguf", WORDS)
    async with running() as app:
        app.services.preferences.update(library=LibrarySettings(folders=(str(models),)))
        knowledge = await added(app, folder)
        knowledge.meaning.look_again()
        await until(lambda: not knowledge.meaning.working)
        await knowledge.rebuild()
        await knowledge.indexing.settled()
        knowledge.meaning.go_on()
        await until(lambda: not knowledge.meaning.working)
        (state,) = await knowledge.states()
        assert (state.pieces, state.meant) == (3, 3)
        assert (await knowledge.searching.find("tulip garden")).meant


async def test_hits_are_named_by_the_searched_sources_only(
    running: OpenApp, folder: Path, tmp_path: Path
) -> None:
    other = tmp_path / "a-private"
    other.mkdir()
    shutil.copy(folder / "0.md", other / "salaries.md")
    async with running() as app:
        knowledge = await added(app, other)
        await added(app, folder)
        found = await knowledge.searching.find("coolant", [str(folder)])
        assert [hit.place.name for hit in found.hits] == ["0.md"]
        await knowledge.remove(str(other))
        assert await names(knowledge, "coolant") == ["0.md"]


@pytest.mark.skipif(os.name != "posix", reason="names are bytes there")
async def test_a_name_that_is_no_text_is_read_like_any_other(
    running: OpenApp, folder: Path
) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.txt")).write_text("an elephant")
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / ".gitignore")
    async with running() as app:
        knowledge = await added(app, folder)
        assert (await looked(knowledge)).files == 4
        assert len(await names(knowledge, "elephant")) == 1


async def test_a_pinned_text_outlives_its_file_and_the_index(
    running: OpenApp, folder: Path
) -> None:
    async with running() as app:
        await added(app, folder)
        pinning = app.services.knowledge.pinning
        document = await pinning.read(str(folder / "0.md"))
        chat = app.controllers.open.chat
        chat = replace(chat, options=replace(chat.options, pinned=(document,)))
        await pinning.keep_only(chat)
        (folder / "0.md").write_text("nothing like before\n")
        knowledge = knowledge_of(app)
        await looked(knowledge)
        await knowledge.rebuild()
        await knowledge.indexing.settled()
        assert "coolant" in (await knowledge.searching.whole(document.digest) or "")
        # the chat gives it up, or goes
        await pinning.keep_only(replace(chat, options=replace(chat.options, pinned=())))
        assert await knowledge.searching.whole(document.digest) is None


async def test_a_private_chats_document_is_in_memory_only(running: OpenApp, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("the elephant is hidden\n")
    async with running() as app:
        pinning = app.services.knowledge.pinning
        document = await pinning.read(str(tmp_path / "secret.md"))
        chat = replace(app.controllers.open.chat, private=True)
        chat = replace(chat, options=replace(chat.options, pinned=(document,)))
        await pinning.keep_only(chat)
        (text,) = await pinning.texts(chat)
        assert "elephant" in text.text
        home = app.home
    left = b"".join(path.read_bytes() for path in home.path.rglob("*") if path.is_file())
    assert b"elephant" not in left
    assert b"secret.md" not in left


async def test_the_index_leaves_the_last_of_the_disk_to_chats(
    running: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("The pump holds twenty litres.\n")
    async with running() as app:
        knowledge = app.services.knowledge.knowledge
        with monkeypatch.context() as full:
            full.setattr("headstart.storage.knowledge.index.DISK_RESERVE", 1 << 60)
            knowledge.add(str(folder))
            await knowledge.indexing.settled()
        (state,) = await knowledge.states()
        assert state.problem is not None
        assert state.problem.code == "knowledge-no-room"
        assert state.files == 0
        knowledge.look()
        await knowledge.indexing.settled()
        (state,) = await knowledge.states()
        assert state.problem is None
        assert state.files == 1
