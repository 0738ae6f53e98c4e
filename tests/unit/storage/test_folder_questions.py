"""Questions to small folders of papers that resemble each other, alone and inside a large index."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from headstart.core.knowledge.terms import terms_of
from headstart.storage.knowledge.files import FileTable
from headstart.storage.knowledge.opening import open_index
from headstart.storage.knowledge.searching import KnowledgeSearch, WordHits
from tests.support import alike_papers
from tests.support.alike_papers import AlikeQuestion
from tests.unit.storage.test_knowledge_index import WORDS, put


def fill(engine: Engine, folders: list[Path]) -> None:
    table = FileTable(engine)
    for folder in folders:
        for path in sorted(folder.iterdir()):
            put(table, folder.name, path.name, path.read_text("utf-8"))


def names(engine: Engine, hits: WordHits, folder: str, answers: bool = True) -> list[str]:
    """The files of the passages that a question is given, best first."""
    kept = [one for one in hits.ranked if not answers or one in hits.strong or one in hits.exact]
    return [one.place.path for one in KnowledgeSearch(engine).hits(kept, (), [folder])]


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], list[AlikeQuestion]]:
    root = tmp_path_factory.mktemp("alike")
    asked = alike_papers.write(root)
    return sorted(root.iterdir()), asked


def test_each_small_folder_alone_gives_the_right_paper(
    papers: tuple[list[Path], list[AlikeQuestion]],
) -> None:
    folders, asked = papers
    for folder in folders:
        engine = open_index(None)
        fill(engine, [folder])
        search = KnowledgeSearch(engine)
        for one in asked:
            hits = search.words(terms_of(one.text), 8, [folder.name])
            if one.folder == folder.name and one.file:
                assert one.file in names(engine, hits, folder.name)[:3], one
            elif not one.file:
                assert names(engine, hits, folder.name) == [], (folder.name, one)
        engine.dispose()


def test_small_folders_in_a_large_index_give_the_right_paper(
    papers: tuple[list[Path], list[AlikeQuestion]],
) -> None:
    """Numbers and names of the small folders are frequent in the others."""
    folders, asked = papers
    engine, draw = open_index(None), random.Random(4)
    fill(engine, folders)
    table = FileTable(engine)
    numbers = [str(number) for number in range(12)]
    for number in range(900):
        words = draw.choices([*WORDS, *numbers, "project", "budget", "contact", "total"], k=900)
        put(table, "large", f"{number}.txt", " ".join(words))
    search = KnowledgeSearch(engine)
    for one in asked:
        hits = search.words(terms_of(one.text), 8, [one.folder])
        found = names(engine, hits, one.folder)
        assert one.file in found[:3] if one.file else found == [], one
    engine.dispose()


def test_a_folder_is_no_reason_to_match_once_for_each_of_its_pieces() -> None:
    engine = open_index(None)
    put(FileTable(engine), "one", "a.txt", "The pump holds twenty litres of coolant.")
    plans: list[str] = []

    def explain(*given: Any) -> None:
        statement, values = given[2:4]
        if "MATCH" in statement and not statement.startswith("EXPLAIN"):
            raw = engine.raw_connection()
            rows = raw.cursor().execute(f"EXPLAIN QUERY PLAN {statement}", values).fetchall()
            plans.extend(str(row[3]) for row in rows if "VIRTUAL TABLE" in str(row[3]))

    event.listen(engine, "before_cursor_execute", explain)
    found = KnowledgeSearch(engine).words(terms_of("How much coolant does P-7 hold?"), 8, ["one"])
    assert len(found.ranked) == 1
    assert plans
    # "=" in the index of a virtual table: looked up by row, and matched anew for each
    assert not [one for one in plans if "=" in one.partition("INDEX")[2]]
    engine.dispose()


def test_a_question_without_a_telling_word_finds_what_it_can_and_answers_nothing() -> None:
    engine = open_index(None)
    put(FileTable(engine), "one", "a.txt", "What is it that they have there?")
    search = KnowledgeSearch(engine)
    hits = search.words(terms_of("What is it?"), 8, ["one"])
    assert len(hits.ranked) == 1
    assert not hits.sharing
    assert not hits.strong
    assert not search.words(terms_of("What is zirconium?"), 8, ["one"]).sharing
    engine.dispose()
