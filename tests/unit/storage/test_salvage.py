"""What is saved of a damaged database, and what the user is told of it."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest
from msgspec.structs import replace

from headstart.core.chats.parts import (
    BlobRef,
    CoveragePart,
    FilePart,
    ImagePart,
    LeftOutPart,
    PartKind,
    PassagePart,
    ReasoningPart,
    SearchOutcome,
    SearchPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from headstart.core.chats.values import new_id
from headstart.core.errors import DatabaseProblem
from headstart.core.told import told
from headstart.storage.rescue import carving, copies, opening
from headstart.storage.rescue.pages import Image
from headstart.storage.tables.rows import DAMAGED
from headstart.storage.worker import Storage
from tests.support.stored import TEXTS, change, filled, opened

pytestmark = pytest.mark.logs(
    "a damaged database was replaced", "the database:", "no copy of the database"
)


async def test_a_database_that_shrank_is_not_taken_silently(tmp_path: Path) -> None:
    storage, chat, _ = await filled(tmp_path)
    copies.copy_database(tmp_path / "headstart.db", tmp_path / "backups", "daily", 5)
    storage.close()
    (tmp_path / "headstart.db").write_bytes(b"")
    messages, notices, _ = await opened(tmp_path, chat.id)
    assert [message.text for message in messages] == list(TEXTS)
    assert [notice.text for notice in notices[:2]] == [
        (
            "The chat database could not be used as it was: it was empty. 4 messages in 1 chat "
            "could be read."
        ),
        "4 messages came from a copy in backups.",
    ]
    assert (await opened(tmp_path, chat.id))[1] == ()


async def test_what_was_salvaged_once_is_not_salvaged_again(tmp_path: Path) -> None:
    storage, chat, new = await filled(tmp_path)
    storage.close()
    change(tmp_path, f"DELETE FROM parts WHERE message_id = '{new[2].id}'")
    messages, notices, _ = await opened(tmp_path, chat.id)
    assert notices[0].code == "database-salvaged"
    assert notices[-1].code == "damaged-file-kept"
    again, notices, _ = await opened(tmp_path, chat.id)
    assert notices == ()
    assert [message.text for message in again] == [TEXTS[0], TEXTS[1], "", TEXTS[3]]
    assert again[2].error == messages[2].error == told(DAMAGED).text


async def test_trouble_while_the_program_runs_is_salvaged_by_the_next_start(
    tmp_path: Path,
) -> None:
    storage, chat, _ = await filled(tmp_path)

    def stumble(_store: object) -> None:
        error = sqlite3.DatabaseError("database disk image is malformed")
        error.sqlite_errorcode = 11
        raise_as_sqlalchemy(error)

    with pytest.raises(DatabaseProblem, match="it is damaged"):
        await storage.run(stumble)
    storage.close()
    messages, notices, _ = await opened(tmp_path, chat.id)
    assert [message.text for message in messages] == list(TEXTS)
    assert notices[0].code == "database-salvaged"
    assert notices[-1].code == "damaged-file-kept"


def raise_as_sqlalchemy(error: sqlite3.DatabaseError) -> None:
    from sqlalchemy.exc import DatabaseError

    raise DatabaseError("SELECT", None, error)


async def test_chats_are_found_in_the_bytes_of_the_file(tmp_path: Path) -> None:
    storage, chat, _ = await filled(tmp_path)
    await storage.run(lambda store: store.chats.rename(chat.id, "Rivers of the north", True))
    storage.close()
    found = carving.carve(Image((tmp_path / "headstart.db").read_bytes(), b""))
    assert {record.values[1] for record in found.chats} == {b"Rivers of the north"}
    assert (len(found.messages), len(found.parts)) == (len(TEXTS), len(TEXTS))
    # the names in the file's own schema are nobody's text
    assert list(carving.fragments(Image(b"utableprefix_usesprefix_uses\0" * 3, b""), found)) == []


async def test_a_salvage_keeps_the_trash_and_says_what_it_could_read(tmp_path: Path) -> None:
    storage, chat, new = await filled(tmp_path)
    await storage.run(lambda store: store.chats.delete(chat.id))
    storage.close()
    change(
        tmp_path,
        f"DELETE FROM parts WHERE message_id = '{new[3].id}'",
        f"DELETE FROM messages WHERE id = '{new[3].id}'",
    )
    _, notices, _ = await opened(tmp_path, chat.id)
    assert "3 messages in 1 chat could be read" in notices[0].text
    assert "1 message could not be found." in [notice.text for notice in notices]
    again = Storage(tmp_path / "headstart.db", tmp_path / "backups")
    (trashed,) = await again.run(lambda store: store.chats.trashed())
    assert (trashed.id, trashed.title, trashed.messages) == (chat.id, "Rivers", 3)
    again.close()


async def test_a_salvage_that_was_cut_at_its_end_is_finished_by_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage, chat, new = await filled(tmp_path)
    storage.close()
    change(
        tmp_path,
        f"DELETE FROM parts WHERE message_id = '{new[3].id}'",
        f"DELETE FROM messages WHERE id = '{new[3].id}'",
    )

    def killed(_path: Path) -> bool:
        raise KeyboardInterrupt

    finish = opening.finish_replacing
    with monkeypatch.context() as patch:
        calls = iter((finish, killed))
        patch.setattr(opening, "finish_replacing", lambda path: next(calls)(path))
        with pytest.raises(KeyboardInterrupt):
            opening.open_home(tmp_path / "headstart.db", tmp_path / "backups")
    messages, notices, _ = await opened(tmp_path, chat.id)
    assert [message.text for message in messages] == list(TEXTS[:3])
    assert [notice.code for notice in notices] == ["salvage-finished"]
    assert len(list(tmp_path.glob("headstart-damaged-*.db"))) == 1


async def test_text_behind_a_file_is_found_missing(tmp_path: Path) -> None:
    storage, chat, messages = await filled(tmp_path)
    files = (ToolCallPart("1", "search", "{}"), ToolCallPart("2", "look", "{}"))
    question = replace(
        messages[0], id=new_id(), parent_id=messages[-1].id, parts=(*files, TextPart("Which sea?"))
    )
    await storage.run(lambda store: store.messages.add([question]))
    storage.close()
    change(tmp_path, f"DELETE FROM parts WHERE message_id = '{question.id}' AND position = 0")
    found, notices, _ = await opened(tmp_path, chat.id)
    assert notices
    last = next(message for message in found if message.id == question.id)
    assert last.error == told(DAMAGED).text
    assert last.text == "Which sea?"


def test_parts_of_every_kind_are_found_in_bytes(tmp_path: Path) -> None:
    asyncio.run(_write_every_kind(tmp_path))
    image = Image((tmp_path / "headstart.db").read_bytes(), b"")
    kinds = {str(record.values[2], "utf-8") for record in carving.carve(image).parts}  # type: ignore[arg-type]
    assert kinds == {kind.value for kind in PartKind if kind.value}


async def _write_every_kind(folder: Path) -> None:
    storage, _, messages = await filled(folder)
    blob = BlobRef("0" * 64, 3, "image/png")
    parts = (
        FilePart("notes.txt", blob, "text"),
        ImagePart("cat.png", blob, 6, 4, "a cat"),
        ReasoningPart("hm"),
        ToolCallPart("1", "search", "{}"),
        ToolResultPart("1", "search", "none"),
        PassagePart(1, "notes.txt", "a passage", note="a note"),
        CoveragePart(3, 2, 1, ("a.pdf",)),
        SearchPart(("notes",), 1, SearchOutcome.RESEMBLING),
        LeftOutPart(told("images-refused", name="a model").stored),
        TextPart("See?"),
    )
    more = replace(messages[0], id=new_id(), parent_id=messages[-1].id, parts=parts)
    await storage.run(lambda store: store.messages.add([more]))
    storage.close()


def _page(kind: int, *pieces: bytes) -> bytes:
    """A page of a database with these bytes somewhere in it."""
    return (bytes([kind]) + b"\0" * 7 + b"\0\1\2".join(pieces)).ljust(4096, b"\0")


def test_recovered_text_is_text() -> None:
    """Neither keys, nor the words of the index, nor what lies around a text in its row."""
    one = b"90f2bd83bd944e53a5b175e2f81c6963"
    text = "The river carries stones, «and» sand.".encode()
    table, index, link = 0x0D, 0x0A, b"abcd"
    more = (text + b" and so on" * 500)[:4092]
    data = b"".join(
        (
            _page(table),
            _page(index, b"M\t" + one, b"a key with some words in it"),
            _page(table, b"M\t\t" + one, "0straße5715*".encode(), b"I\r0meadow694013"),
            _page(table, one + b"\x01text" + text + b'[[7,"draft"],[30,"target"]]\x07aS'),
            # a page that a long text goes on in, and one without spaces
            link + more,
            _page(table, "河流把石头从山上带到海里，大海又把雨水还给它。".encode()),
        )
    )
    found = list(carving.fragments(Image(data), carving.CarvedRows()))
    assert found == [
        text.decode(),
        more.decode(),
        "河流把石头从山上带到海里，大海又把雨水还给它。",
    ]
