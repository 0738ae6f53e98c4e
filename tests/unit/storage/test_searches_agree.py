"""One folding for the searches of all chats, of their titles, of the open chat and of files: what
one of them finds by a spelling, the others find by it."""

from __future__ import annotations

import unicodedata

import pytest

from headstart.core.chats.finding import spans_of
from headstart.core.chats.parts import text_part
from headstart.core.chats.search import Filters
from headstart.core.chats.values import Chat, Message, MessageStatus, Role
from headstart.core.knowledge.terms import terms_of
from headstart.storage.knowledge.files import FileTable
from headstart.storage.knowledge.opening import open_index
from headstart.storage.knowledge.searching import KnowledgeSearch
from headstart.storage.worker import Storage
from tests.unit.storage.test_knowledge_index import put


def apart(text: str) -> str:
    """The text as macOS writes it into names: accents and syllables in parts."""
    return unicodedata.normalize("NFD", text)


# a text, and a query that finds it
FOUND = (
    ("call readLine here", "readline"),
    ("call readLine here", "read line"),
    ("call readLine here", "line"),
    ("call readline here", "readLine"),
    ("HTTPServer starts", "http server"),
    ("the XMLParser", "parser"),
    ("snake_case_name", "case"),
    ("path/to/file.txt", "file.txt"),
    ("node.js", "node.js"),
    ("in C++ and F#", "c++"),
    (apart("한국어 문서"), "한국어"),
    (apart("한국어 문서"), "국어"),
    ("한국어 문서", apart("한국어")),
    ("예산은 백만", apart("예산")),
    ("한글", "글"),
    ("我的猫很可爱", "猫"),
    ("白い猫がいる", "猫"),
    ("犬と猫", "犬"),
    ("カタカナ", "タ"),
    ("ｶﾀｶﾅ", "カタカナ"),
    ("カタカナ", "ｶﾀｶﾅ"),
    (apart("がぎぐ"), "がぎぐ"),
    ("がぎぐ", apart("ぎぐ")),
    ("プログラムA1", "A1"),
    ("straße", "strasse"),
    ("STRASSE", "straße"),
    ("Ångström", "angstrom"),
    (apart("café"), "café"),
    ("cafe", "café"),
    ("ﬁle", "file"),
    ("istanbul", "İstanbul"),
    ("Ёлка", "елка"),
    ("don’t", "don't"),
)
# a text, and a query that the open chat's search must not take for one of its words
NOT_IN_ONE = (("into the wind", "in to"), ("a breadline", "bread line"), ("HTTPS", "HTTP S"))


@pytest.mark.parametrize(("text", "query"), FOUND)
async def test_all_searches_find_a_spelling(text: str, query: str) -> None:
    assert list(spans_of(query, text)), "in the open chat"
    storage = Storage(None)
    try:
        chat = Chat("c", text, 1, 1)
        message = Message(
            "m", "c", None, Role.USER, MessageStatus.COMPLETE, text_part(f"So: {text}."), 1
        )
        await storage.run(lambda store: store.messages.add([message], chat))
        while await storage.run(lambda store: store.search.build()):
            pass
        found = await storage.run(lambda store: store.search.find(query, Filters(), 10))
        assert [one.message_id for one in found] == ["m"], "in all chats"
        assert await storage.run(lambda store: store.search.titles(query)) == ["c"], "in titles"
    finally:
        storage.close()
    engine = open_index(None)
    put(FileTable(engine), "folder", "a.txt", f"So: {text}.")
    words = KnowledgeSearch(engine).words(terms_of(query), 10)
    engine.dispose()
    assert words.ranked or words.exact, "in files"


@pytest.mark.parametrize(("text", "query"), NOT_IN_ONE)
def test_two_words_are_one_in_camel_case_only(text: str, query: str) -> None:
    assert not list(spans_of(query, text))
