"""Words are found in any script, however they are written; in messages, titles and one chat."""

from __future__ import annotations

import contextlib
import re
import sqlite3
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from headstart.core.chats.finding import spans_of
from headstart.core.chats.parts import text_part
from headstart.core.chats.search import Filters
from headstart.core.chats.values import Chat, Message, MessageStatus, Role
from headstart.core.text.folding import fold, match_of, plain, plain_places
from headstart.storage.tables.search import _INDEX, TABLE
from headstart.storage.worker import Storage
from tests.support.search_pairs import PAIRS


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    storage = Storage(tmp_path / "headstart.db", tmp_path / "backups")
    yield storage
    storage.close()


async def _put(storage: Storage, key: str, text: str) -> None:
    chat = Chat(key * 32, text, 1, 1, model="m")
    status = MessageStatus.COMPLETE
    message = Message(key * 31 + "0", chat.id, None, Role.USER, status, text_part(text), 1)
    await storage.run(lambda store: store.messages.add([message], chat))


@pytest.mark.parametrize(("query", "text", "other"), PAIRS, ids=[pair[0] for pair in PAIRS])
async def test_a_word_is_found_wherever_one_looks(
    query: str, text: str, other: str, storage: Storage
) -> None:
    await _put(storage, "a", text)
    await _put(storage, "b", other)
    while await storage.run(lambda store: store.search.build()):
        pass
    found = await storage.run(lambda store: store.search.find(query, Filters(), 9))
    assert [one.chat_id[0] for one in found] == ["a"]
    snippet = found[0].snippet
    assert snippet.text.strip("…") in text
    assert snippet.marks
    assert all(0 <= begin < end <= len(snippet.text) for begin, end in snippet.marks)
    if "Foo" not in text and "Parser" not in text:
        titles = await storage.run(lambda store: store.search.titles(query))
        assert [one[0] for one in titles] == ["a"]
    assert list(spans_of(query, text))
    assert not list(spans_of(query, other))


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("strasse", "die Straße, lang", ["Straße"]),
        ("file", "a ﬁle, a file", ["ﬁle", "file"]),
        ("ガラス", "xｶﾞﾗｽx", ["ｶﾞﾗｽ"]),
        ("كتاب", "x كِتَابٌ x", ["كِتَاب"]),
        ("creme", "la Crème", ["Crème"]),
        ("e", "e\u0301x", ["e\u0301"]),
    ],
)
def test_what_is_marked_is_all_of_what_was_found(query: str, text: str, found: list[str]) -> None:
    assert [text[begin:end].rstrip("ٌ") for begin, end in spans_of(query, text)] == found


@pytest.mark.parametrize("pair", PAIRS, ids=[pair[0] for pair in PAIRS])
def test_places_of_the_plain_way_are_in_order(pair: tuple[str, str, str]) -> None:
    shown, places = plain_places(pair[1])
    assert shown == plain(pair[1])
    assert len(places) == len(shown) + 1
    assert places == sorted(places)
    assert places[-1] == len(pair[1])


LETTERS = [
    letter
    for letter in map(chr, range(0x80, 0x1E000))
    if unicodedata.category(letter)[0] == "L" and plain(letter).strip() not in ("", letter)
]
# the index keeps them apart
OF_THEIR_OWN = re.compile("[ǠǡǢǣǮǯǼ-ǿ]")


@pytest.mark.parametrize("step", [11, pytest.param(1, marks=pytest.mark.proof)])
def test_letters_are_found_and_marked_as_they_are_and_in_their_plain_way(step: int) -> None:
    with contextlib.closing(sqlite3.connect(":memory:")) as base:
        _look_for(LETTERS[::step], base)


def _look_for(letters: Sequence[str], base: sqlite3.Connection) -> None:
    base.execute(_INDEX.replace(f"content='{TABLE}_texts', content_rowid='id',", ""))
    rows = ((ord(one), fold(f"qx{one}{ord(one)}zw")) for one in letters)
    base.executemany(f"INSERT INTO {TABLE}(rowid, text) VALUES (?, ?)", rows)
    for letter in letters:
        for way in (letter, plain(letter)):
            assert any(True for _ in spans_of(way, f"qx{letter}")), hex(ord(letter))
            if way != letter and OF_THEIR_OWN.fullmatch(letter):
                continue
            asked = match_of(f"qx{way}{ord(letter)}zw")
            found = base.execute(f"SELECT rowid FROM {TABLE} WHERE {TABLE} MATCH ?", (asked,))
            assert (ord(letter),) in found.fetchall(), hex(ord(letter))


async def test_an_index_of_another_make_is_made_again(tmp_path: Path) -> None:
    storage = Storage(tmp_path / "headstart.db", tmp_path / "backups")
    await _put(storage, "a", "die Straße")
    storage.close()
    connection = sqlite3.connect(tmp_path / "headstart.db")
    connection.create_function("fold", 1, lambda text: text, deterministic=True)
    older = _INDEX.replace("categories 'L* M* N* Co So'", "")
    for statement in (f"DROP TABLE {TABLE}", older, f"DELETE FROM {TABLE}_left"):
        connection.execute(statement)
    connection.execute(f"INSERT INTO {TABLE}({TABLE}) VALUES ('rebuild')")
    connection.commit()
    connection.close()
    storage = Storage(tmp_path / "headstart.db", tmp_path / "backups")
    while await storage.run(lambda store: store.search.build()):
        pass
    found = await storage.run(lambda store: store.search.find("strasse", Filters(), 9))
    assert len(found) == 1
    storage.close()


@pytest.mark.parametrize(
    "text", ["a" * 200_000, "aB" * 100_000, "=" * 300_000, "語" * 100_000, "é" * 100_000], ids=len
)
def test_a_text_without_words_is_looked_through_in_time(text: str) -> None:
    """A search that begins anew at each letter takes longer than any test may."""
    assert fold(text)
    assert list(spans_of("zebra", text)) == []


@pytest.mark.parametrize(
    "query",
    [
        '"two words"',
        "“two words”",
        "„two words“",
        "„two words”",
        "«two words»",
        "「two words」",
        "『two words』",
    ],
)
def test_a_phrase_is_quoted_as_any_language_quotes(query: str) -> None:
    assert match_of(query) == '"two words"'
    assert match_of(f"a1 {query} b1 ") == '"a1" AND "two words" AND "b1"'


def test_a_quotation_mark_alone_is_no_phrase() -> None:
    assert match_of("“two words ").count(" AND ") == 1
    assert match_of("it’s two ").count(" AND ") == match_of("it's two ").count(" AND ") == 1
