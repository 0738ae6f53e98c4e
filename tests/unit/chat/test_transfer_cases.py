"""What went wrong once with chats that came in or went out, each mended."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headstart.chat.transfer.backup import Making
from headstart.chat.transfer.export_request import ExportJobRun as ExportRun
from headstart.chat.transfer.exporting import Exporting
from headstart.chat.transfer.intake import ImportJobRun
from headstart.core.chats.parts import TextPart
from headstart.core.chats.values import MessageStatus
from headstart.exchange import own_format
from headstart.exchange.fields import time_of
from headstart.exchange.readers.html_text import to_markdown
from headstart.exchange.writers.markdown import to_markdown as written
from tests.support import conversation_files as files
from tests.support.answers import Answer, Talk
from tests.support.conversations import read_all, read_bytes
from tests.unit.chat.test_backup import Home
from tests.unit.chat.test_mirror import World as Mirrored

pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    found = Home(tmp_path / "home")
    yield found
    found.close()


def line(*words: str, **more: object) -> bytes:
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(words)]
    return files.dumps({"messages": messages, **more}) + b"\n"


async def shown(home: Home, title: str) -> list[str]:
    (chat,) = [
        one
        for one in await home.storage.run(lambda store: store.chats.summaries())
        if one.title == title
    ]
    branch = await home.storage.run(lambda store: store.messages.branch(chat.id))
    return [message.text for message in branch]


async def test_a_chat_that_is_in_a_file_twice(home: Home) -> None:
    data = line("x", "1") + line("y", "2") + line("x", "1")
    result = await home.take(home.file("a.jsonl", data))
    assert (result.new, result.here) == (2, 1)


async def test_two_chats_with_the_same_message_ids(home: Home) -> None:
    await home.take(home.file("a.json", files.dumps([files.chatgpt()])))
    value = json.loads(own_format.to_json(await home.only()))
    value["id"], value["title"] = "b" * 32, "A copy"
    path = home.file("b.headstart.json", files.dumps(value))
    assert (await home.take(path)).new == 1
    assert await shown(home, "A copy") == await shown(home, "A vector, please")
    await home.take(path)
    assert len(await home.titles()) == 2
    assert len(await shown(home, "A copy")) == 3


async def test_ids_that_are_numbers_of_a_file_tell_nothing_about_another(home: Home) -> None:
    await home.take(home.file("a.jsonl", line("first", "1", id=1) + line("second", "2", id=2)))
    result = await home.take(home.file("b.jsonl", line("third", "3", id=1)))
    assert (result.new, len(await home.titles())) == (1, 3)
    for number in range(2):
        note = f'---\ntitle: "N{number}"\nchat: work\n---\n\n## User\n\nNote {number}\n'
        assert (await home.take(home.file("n.md", note.encode()))).new == 1


async def test_a_message_that_was_edited_in_place_is_another_version(home: Home) -> None:
    value = files.lmstudio()
    path = home.file("1.conversation.json", files.dumps(value))
    await home.take(path)
    version = value["messages"][2]["versions"][0]
    version["content"][0]["text"] = "Thanks, but why?"
    path.write_bytes(files.dumps(value))
    result = await home.take(path)
    assert (result.more, result.messages) == (1, 1)
    chat = await home.only()
    words = ["".join(p.text for p in n.parts if isinstance(p, TextPart)) for n in chat.nodes]
    assert "Thanks" in words
    assert "Thanks, but why?" in words
    assert (await home.take(path)).here == 1


async def test_a_reply_that_went_on_after_the_first_export(home: Home) -> None:
    value = files.chatgpt()
    for key in ("a1", "t2", "r2", "c2", "o2", "a2", "u2"):
        del value["mapping"][key]
    start = files.gpt_node("s", "u1", "assistant", "Starting research.", time=1_700_000_002)
    value["mapping"]["s"] = start
    value["current_node"] = "s"
    await home.take(home.file("a.json", files.dumps([value])))
    value["mapping"]["r"] = files.gpt_node("r", "s", "assistant", "THE REPORT", time=1_700_000_900)
    value["current_node"] = "r"
    result = await home.take(home.file("b.json", files.dumps([value])))
    assert result.more == 1
    every = [part.text for node in (await home.only()).nodes for part in node.parts]
    assert "Starting research.\n\nTHE REPORT" in every


def test_a_question_with_nothing_but_a_lost_image_stays_a_question(tmp_path: Path) -> None:
    image = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://gone"}
    content = {"content_type": "multimodal_text", "parts": [image]}
    nodes = [
        files.gpt_node("u1", None, "user", "hi"),
        files.gpt_node("a1", "u1", "assistant", "Answer ONE"),
        files.gpt_node("u2", "a1", "user", content=content),
        files.gpt_node("a2", "u2", "assistant", "Answer TWO"),
        files.gpt_node("a3", "a2", "assistant", ""),
    ]
    value = {"id": "x", "mapping": {str(node["id"]): node for node in nodes}, "current_node": "a3"}
    (chat,), report = read_bytes(files.dumps([value]), tmp_path)
    texts = ["".join(part.text for part in node.parts) for node in chat.branch()]
    assert texts == ["hi", "Answer ONE", "[image: gone]\n\n", "Answer TWO"]
    assert report.counts == {"import-file-missing": 1}
    attached = files.gpt_node(
        "u", None, "user", "Read it", metadata={"attachments": [{"id": "file-1", "name": "a.pdf"}]}
    )
    (tmp_path / "c").mkdir()
    value = {"id": "y", "mapping": {"u": attached}, "current_node": "u"}
    (tmp_path / "c" / "conversations.json").write_bytes(files.dumps([value]))
    (tmp_path / "c" / "file-1-a.pdf").write_bytes(b"%PDF")
    (chat,), report = read_all(tmp_path / "c", tmp_path)
    assert [part.kind.value for part in chat.branch()[0].parts] == ["file", "text"]
    assert not report.lines


def test_odd_values_and_markup_are_no_trouble(tmp_path: Path) -> None:
    assert time_of("²") == time_of(int("9" * 400)) == time_of("9" * 400) == 0
    assert to_markdown("<a " * 30_000 + "end").endswith("end")
    assert "words" in to_markdown("<!--" * 20_000 + "<p>words</p>")
    assert "after" in to_markdown("<![foo[ <b>x</b> after")
    many = [{"role": "user", "content": "q"}]
    many += [{"role": "assistant", "content": f"{n}"} for n in range(8_000)]
    (chat,), _ = read_bytes(files.dumps({"messages": many}), tmp_path)
    assert len(chat.branch()) == 2


@pipes
def test_a_pipe_in_a_folder_is_passed_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "a.json").write_bytes(files.FILES["claude"]())
    found, _ = read_all(tmp_path, tmp_path)
    assert len(found) == 1


@pipes
async def test_a_digest_that_is_a_path_opens_nothing(home: Home) -> None:
    os.mkfifo(home.folder / "pipe")
    blob = {"digest": str(home.folder / "pipe"), "size": 1, "media_type": "x"}
    part = {"kind": "file", "text": "t", "name": "n", "blob": blob}
    unknown = {"kind": "odd", "text": "t", "stored": {"blob": str(home.folder / "pipe")}}
    message = {"id": "1", "role": "user", "parts": [part, unknown]}
    value = {"format": "headstart-chat", "version": 1, "id": "c" * 32, "title": "T"}
    await home.take(home.file("x.json", files.dumps({**value, "messages": [message]})))
    path = await home.export("headstart", "out.headstart.zip")
    assert path.exists()


async def test_an_export_keeps_what_a_reply_became_meanwhile(talk: Talk, tmp_path: Path) -> None:
    chat = talk.databases.begin().id
    talk.answerer.answers = [Answer(["The whole answer."])]
    await talk.say(chat, "Q")
    reply = (await talk.branches.whole(chat))[-1]
    assert reply.status is MessageStatus.COMPLETE

    class Half:
        message_id = reply.id
        parts = (TextPart("The wh"),)

    half: Any = Half()
    exporting = Exporting(talk.databases, lambda _: half, None, talk.preferences)
    wanted = exporting.wanted([chat], "text", reasoning=True, stats=False, branches=False)
    await exporting.write(wanted, tmp_path / "x.md", ExportRun())
    assert "The whole answer." in (tmp_path / "x.md").read_text()


async def test_a_mirror_of_another_database_is_left_alone(talk: Talk, tmp_path: Path) -> None:
    folder = tmp_path / "mirror"
    folder.mkdir()
    book = {"version": 1, "files": {"f" * 32: {"name": "Old.md", "digest": "", "updated_at": 1}}}
    (folder / ".headstart-mirror.json").write_text(json.dumps(book))
    (folder / "Old.md").write_bytes(b"")
    shutil.rmtree(folder / "none", ignore_errors=True)
    folder.rename(tmp_path / "kept")
    world = Mirrored(talk, folder)
    for path in (tmp_path / "kept").iterdir():
        shutil.copy(path, folder)
    await world.chat("rivers", "Rivers")
    assert sorted(await world.files()) == ["Old.md", "Rivers.md"]
    # a title that is long in bytes, and one failure does not multiply the others
    await world.chat("lakes", "\U00020000" * 90)
    await world.chat("seas", "漢" * 81)
    assert len(await world.files()) == 4
    (folder / ".headstart-mirror.json").unlink()
    world.talk.preferences.update(mirror_folder="")
    world.talk.preferences.update(mirror_folder=str(folder))
    assert len(await world.files()) == 4
    world.mirror.close()


async def test_a_backup_with_much_that_was_deleted(home: Home, tmp_path: Path) -> None:
    await home.take(home.file("a.json", files.dumps([files.claude()])))
    with sqlite3.connect(home.places.database) as connection:
        connection.execute("PRAGMA secure_delete=ON")
        connection.execute("CREATE TABLE much (data BLOB)")
        connection.executemany("INSERT INTO much VALUES (zeroblob(1000000))", [()] * 90)
        connection.execute("DELETE FROM much")
        connection.execute("DROP TABLE much")
    connection.close()
    blob = next(home.places.blobs.glob("*/*"))
    os.utime(blob, (0, 0))
    path = tmp_path / "b.zip"
    assert await home.backups.make(path, Making())
    plan = await home.backups.plan(path, ImportJobRun())
    assert len(plan.chats) == 1


async def test_a_database_with_its_log_beside_it_comes_back_whole(
    home: Home, tmp_path: Path
) -> None:
    await home.take(home.file("a.json", files.dumps([files.claude()])))
    old = tmp_path / "old"
    old.mkdir()
    for name in ("headstart.db", "headstart.db-wal"):
        shutil.copy(home.folder / name, old / name)
    shutil.copytree(home.places.blobs, old / "blobs")
    other = Home(tmp_path / "other")
    try:
        assert (await other.backups.restore(old / "headstart.db", ImportJobRun())).new == 1
        assert (await other.only()).blobs
    finally:
        other.close()


async def test_a_mirrored_file_in_another_home_is_a_chat_of_its_own(
    home: Home, tmp_path: Path
) -> None:
    await home.take(home.file("a.json", files.dumps([files.chatgpt()])))
    chat = await home.only()
    own = home.file("own.headstart.json", own_format.to_json(chat))
    mirrored = home.file("m.md", written(chat, mirrored=True).encode())
    other = Home(tmp_path / "other")
    try:
        assert (await other.take(mirrored)).new == 1
        assert (await other.take(own)).new == 1
        (one,) = [await other.exporting.conversation(chat.id)]
        assert len(one.nodes) == len(chat.nodes)
        assert (await other.take(mirrored)).here == 1
    finally:
        other.close()
