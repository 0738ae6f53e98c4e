"""Words are found in every message, in any language; the index follows the texts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from headstart.core.chats.parts import BlobRef, FilePart, TextPart, text_part
from headstart.core.chats.search import Filters, SearchHit, parsed
from headstart.core.chats.values import Chat, Message, MessageStatus, Role, new_id, now_ms
from headstart.storage.worker import Storage, Store
from tests.support.stored import behind_its_back

TEXTS = {
    "rivers": "The river Rhine flows north, the Nile too.",
    "code": "Use this:\n\n```python\nprint('hello river')\n```",
    "chinese": "今天我去北京看长城。天气很好。",
    "japanese": "東京タワーは高いです。カメラを持って行きます。",
    "korean": "한국어 문장입니다. 서울에 갑니다.",
    "german": "Die Größe der Änderung ist straßenweise verschieden.",
    "signs": 'He said: "foo(bar)" AND -x col:y * OR NEAR(',
}


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    storage = Storage(tmp_path / "headstart.db", tmp_path / "backups")
    for title, text in TEXTS.items():
        storage.submit(partial(_add, title=title, texts=(text,))).result()
    yield storage
    storage.close()


def _add(
    store: Store, title: str, texts: tuple[str, ...], folder: str = "", tags: tuple[str, ...] = ()
) -> Chat:
    chat = Chat(new_id(), title, now_ms(), now_ms(), folder=folder, tags=tags)
    parent, new = None, []
    for number, text in enumerate(texts):
        role = Role.ASSISTANT if number % 2 else Role.USER
        parts = text_part(text)
        message = Message(new_id(), chat.id, parent, role, MessageStatus.COMPLETE, parts, now_ms())
        if role is Role.ASSISTANT:
            message = replace(message, model="gemma-4-12b")
        new.append(message)
        parent = message.id
    store.messages.add(new, chat)
    return chat


async def found(storage: Storage, query: str, filters: Filters | None = None) -> list[SearchHit]:
    return await storage.run(lambda store: store.search.find(query, filters or Filters(), 50))


async def titles(storage: Storage, query: str) -> set[str]:
    chats = {one.id: one.title for one in await storage.run(lambda s: s.chats.summaries())}
    return {chats[one.chat_id] for one in await found(storage, query)}


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("river", {"rivers", "code"}),
        ("RIV", {"rivers", "code"}),
        ("river nile", {"rivers"}),
        ("nile river", {"rivers"}),
        ('"river rhine"', {"rivers"}),
        ('"rhine river"', set()),
        ("北京", {"chinese"}),
        ("京", {"chinese", "japanese"}),
        ("天气很好", {"chinese"}),
        ("カメラ", {"japanese"}),
        ("서울", {"korean"}),
        ("grosse", {"german"}),
        ("größe", {"german"}),
        ("anderung", {"german"}),
        ("foo(", {"signs"}),
        ("AND -x", {"signs"}),
        ("col:y", {"signs"}),
        ('"', set()),
        ("-", set()),
        ("NEAR(", {"signs"}),
        ("*", set()),
        ("", set()),
    ],
)
async def test_words_are_found(storage: Storage, query: str, wanted: set[str]) -> None:
    assert await titles(storage, query) == wanted


@given(st.text(max_size=30))
@settings(
    max_examples=200, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
def test_no_query_is_an_error(query: str) -> None:
    store = Storage(None)
    try:
        words, filters = parsed(query)
        store.submit(lambda store: store.search.find(words, filters, 10)).result()
    finally:
        store.close()


async def test_snippets_say_where_it_is(storage: Storage) -> None:
    (one,) = await found(storage, "rhine")
    text, marks = one.snippet.text, one.snippet.marks
    assert [text[begin:end] for begin, end in marks] == ["Rhine"]
    (one,) = await found(storage, "北京")
    assert one.snippet.text == "今天我去北京看长城。天气很好。"
    assert "".join(one.snippet.text[begin:end] for begin, end in one.snippet.marks) == "北京"


async def test_the_index_follows_what_is_written_and_removed(storage: Storage) -> None:
    chat = await storage.run(lambda store: _add(store, "new", ("a walrus", "an answer")))
    assert await titles(storage, "walrus") == {"new"}
    (one,) = await found(storage, "answer")
    await storage.run(
        lambda store: store.messages.finish(
            one.message_id, (TextPart("a better reply"),), MessageStatus.COMPLETE, None
        )
    )
    assert await found(storage, "answer") == []
    assert await titles(storage, "better") == {"new"}
    await storage.run(lambda store: store.chats.delete(chat.id))
    assert await found(storage, "walrus") == []
    await storage.run(lambda store: store.chats.restore(chat.id))
    assert await titles(storage, "walrus") == {"new"}
    await storage.run(lambda store: store.chats.delete(chat.id))
    await storage.purge()
    assert await found(storage, "walrus") == []


async def test_filters_narrow_it(storage: Storage) -> None:
    await storage.run(
        lambda store: _add(
            store, "filed", ("river one", "river two"), folder="Travel/Rivers", tags=("blue",)
        )
    )

    async def chats(query: str) -> set[str]:
        known = {one.id: one.title for one in await storage.run(lambda s: s.chats.summaries())}
        return {known[one.chat_id] for one in await found(storage, *parsed(query))}

    assert await chats("river folder:Travel") == {"filed"}
    assert await chats('river folder:"Travel/Rivers"') == {"filed"}
    assert await chats("river folder:Trav") == set()
    assert await chats("river tag:blue") == {"filed"}
    assert await chats("river tag:blu") == set()
    assert await chats("river model:GEMMA") == {"filed"}
    assert await chats("river has:code") == {"code"}
    assert await chats("has:code") == {"code"}
    assert await chats("river before:2020") == set()
    assert await chats("nile on:today") == {"rivers"}
    assert await chats("river has:file") == set()
    file = FilePart("walk.txt", BlobRef("0" * 64, 5, "text/plain"), "a walrus by the river")
    message = Message(
        new_id(), new_id(), None, Role.USER, MessageStatus.COMPLETE, (file,), now_ms()
    )
    chat = Chat(message.chat_id, "attached", now_ms(), now_ms())
    await storage.run(lambda store: store.messages.add([message], chat))
    assert await chats("walrus has:file") == {"attached"}
    assert (await found(storage, "walrus"))[0].kind == "file"


async def test_what_was_there_before_the_index_is_added_in_slices(
    storage: Storage, tmp_path: Path
) -> None:
    await storage.run(lambda store: store.search.make_again())
    assert await found(storage, "river") == []
    # what comes meanwhile is found at once, and what goes is no trouble
    await storage.run(lambda store: _add(store, "new", ("a river walrus",)))
    chats = await storage.run(lambda store: store.chats.summaries())
    gone = next(one.id for one in chats if one.title == "code")
    await storage.run(lambda store: store.chats.delete(gone))
    await storage.purge()
    assert await titles(storage, "river") == {"new"}
    while await storage.run(lambda store: store.search.build()):
        pass
    assert await titles(storage, "river") == {"new", "rivers"}
    storage.close()
    _check_index(tmp_path)


async def test_what_is_imported_is_found_once_it_was_added(storage: Storage) -> None:
    tree = await storage.run(lambda store: store.transfers.read(store.transfers.ids()[0]))
    assert tree is not None

    async def build() -> None:
        while await storage.run(lambda store: store.search.build()):
            pass

    for _ in range(3):
        # the numbers of its parts are given again each time
        await storage.run(lambda store: store.chats.delete(tree.chat.id))
        await storage.purge()
        await storage.run(lambda store: store.transfers.add([tree]))
        assert await found(storage, "said") == []
    await build()
    assert await titles(storage, "said") == {tree.chat.title}


@pytest.mark.logs("the index of words")
async def test_a_damaged_index_costs_no_text(storage: Storage, tmp_path: Path) -> None:
    storage.close()
    with behind_its_back(tmp_path / "headstart.db") as connection:
        connection.execute("UPDATE message_search_data SET block = x'00' WHERE id > 1")
        connection.execute("UPDATE message_search_data SET block = x'ffff' WHERE id = 1")
    again = Storage(tmp_path / "headstart.db", tmp_path / "backups")
    await again.run(lambda store: _add(store, "new", ("a walrus by the river",)))
    assert await titles(again, "walrus") == {"new"}
    while await again.run(lambda store: store.search.build()):
        pass
    assert await titles(again, "river") == {"new", "rivers", "code"}
    again.close()
    _check_index(tmp_path)


async def test_nothing_is_left_of_what_was_removed(storage: Storage, tmp_path: Path) -> None:
    chat = await storage.run(lambda store: _add(store, "new", ("an axolotlish walrus",)))
    await storage.run(lambda store: store.chats.delete(chat.id))
    await storage.purge()
    more = await storage.run(lambda store: store.search.merge(begin=True))
    while more:
        more = await storage.run(lambda store: store.search.merge())
    storage.close()
    assert b"axolotlish" not in (tmp_path / "headstart.db").read_bytes()


def _check_index(folder: Path) -> None:
    from headstart.core.text.folding import fold

    connection = sqlite3.connect(folder / "headstart.db")
    connection.create_function("fold", 1, fold, deterministic=True)
    connection.execute("INSERT INTO message_search(message_search) VALUES ('integrity-check')")
    connection.close()
