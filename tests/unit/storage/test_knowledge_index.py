"""The index of files: equal to one built anew after any edits and kills, deleted text gone from
disk, damaged files replaced, vectors kept by what they mean."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from sqlalchemy import Engine, text

from headstart.core.chats.attachments import Extracted, Unit, in_parts
from headstart.core.knowledge.terms import terms_of
from headstart.core.knowledge.values import FileStamp
from headstart.core.knowledge.vectors import cosines, nearest, packed, signs_of
from headstart.extraction.pieces_child import in_pieces
from headstart.storage.knowledge.files import FileTable
from headstart.storage.knowledge.meaning import MeaningSearch, VectorTable
from headstart.storage.knowledge.opening import open_index, open_reader
from headstart.storage.knowledge.searching import KnowledgeSearch
from headstart.storage.knowledge.texts import IndexedTexts

WORDS = [
    "pump",
    "tank",
    "door",
    "key",
    "garden",
    "tulip",
    "river",
    "stone",
    "letter",
    "box",
    "green",
    "north",
    "winter",
]


def put(table: FileTable, source: str, path: str, body: str, mtime: int = 1) -> None:
    data = body.encode()
    found = in_pieces(Extracted("text/plain", Unit.PART, in_parts(body)))
    stamp = FileStamp(path.encode(), len(data), mtime)
    table.put(source, stamp, hashlib.sha256(data).digest(), found)


def contents(engine: Engine) -> tuple[object, ...]:
    """Everything that the index says, without its own numbers."""
    with engine.connect() as connection:
        files = connection.execute(
            text(
                "SELECT f.source, f.path, c.digest, c.characters FROM files f"
                " JOIN contents c ON c.id = f.content ORDER BY 1, 2"
            )
        ).all()
        pieces = connection.execute(
            text(
                "SELECT c.digest, p.start, p.stop, p.line, p.heading, p.folded FROM pieces p"
                " JOIN contents c ON c.id = p.content ORDER BY 1, 2"
            )
        ).all()
        words = connection.execute(text("SELECT term, doc, cnt FROM vocabulary ORDER BY 1")).all()
        connection.exec_driver_sql("INSERT INTO words(words) VALUES ('integrity-check')")
    return tuple(map(tuple, files)), tuple(map(tuple, pieces)), tuple(map(tuple, words))


def test_random_edits_leave_an_index_like_a_new_one(tmp_path: Path) -> None:
    draw = random.Random(5)
    engine = open_index(tmp_path / "k.db")
    table, files = FileTable(engine), dict[tuple[str, str], str]()
    for step in range(300):
        source, path = draw.choice("ab"), f"{draw.randrange(12)}.txt"
        action = draw.random()
        if action < 0.55:
            body = " ".join(draw.choices(WORDS, k=draw.randrange(1, 900)))
            files[source, path] = body
            put(table, source, path, body, step)
        elif action < 0.75 and files:
            # a copy or a move
            body = files[draw.choice(list(files))]
            files[source, path] = body
            put(table, source, path, body, step)
        elif action < 0.95:
            rows = {row.path: row.id for row in table.of(source)}
            if files.pop((source, path), None) is not None:
                table.remove([rows[path.encode()]])
        else:
            engine.dispose()
            engine = open_index(tmp_path / "k.db")
            table = FileTable(engine)
    fresh = open_index(None)
    for (source, path), body in files.items():
        put(FileTable(fresh), source, path, body)
    assert contents(engine) == contents(fresh)


def test_removed_sources_are_overwritten_on_disk(tmp_path: Path) -> None:
    engine = open_index(tmp_path / "k.db")
    table = FileTable(engine)
    put(table, "a", "1.txt", "kept words about the river " * 50)
    put(table, "b", "2.txt", "secretword about the harbour " * 50)
    assert KnowledgeSearch(engine).words(terms_of("secretword"), 5).ranked
    table.remove_source("b")
    assert not KnowledgeSearch(engine).words(terms_of("secretword"), 5).ranked
    engine.dispose()
    left = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"secretword" not in left
    assert b"river" in left


def test_the_whole_text_is_its_pieces() -> None:
    engine = open_index(None)
    body = "# Ä 日本 QThread\n\n" + "camelCase und ﬁne Wörter 日本語。\n\n" * 200
    put(FileTable(engine), "a", "x", body)
    digest = hashlib.sha256(body.encode()).digest()
    assert IndexedTexts(engine).whole(digest) == body
    assert IndexedTexts(engine).whole(b"none") is None


def test_files_are_found_by_a_word_of_their_path() -> None:
    engine = open_index(None)
    table, texts = FileTable(engine), IndexedTexts(engine)
    for number, path in enumerate(("sub/Report.md", "report_2.txt", "reportx2.txt", "100%.txt")):
        put(table, "a", path, f"text {number}")
    put(table, "b", "", "a file of its own")
    put(table, "c", "report.md", "in another folder")
    known = ["a", "b"]
    found = [path for _source, path in texts.like("report", known, 9)]
    assert found == ["report_2.txt", "reportx2.txt", "sub/Report.md"]
    assert texts.like("report_2", known, 9) == [("a", "report_2.txt")]
    assert texts.like("%", known, 9) == [("a", "100%.txt")]
    assert len(texts.like("r", known, 2)) == 2
    assert texts.like("none", known, 9) == texts.like("report", [], 9) == []


def test_only_the_named_sources_are_searched() -> None:
    engine = open_index(None)
    table, search = FileTable(engine), KnowledgeSearch(engine)
    for source in ("a", "b"):
        put(table, source, "x", f"the tulip of {source}")
    found = search.words(terms_of("tulip"), 5, ["b"]).ranked
    assert [hit.place.source for hit in search.hits(found)] == ["b"]
    assert search.words(terms_of("tulip"), 5, []).ranked == ()


@pytest.mark.logs("the index of files is made again")
@pytest.mark.parametrize("damage", ["empty", "text", "cut", "other make", "tables gone"])
def test_a_damaged_index_is_made_again(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "k.db"
    engine = open_index(path)
    put(FileTable(engine), "a", "x", "tulip " * 3_000)
    if damage == "other make":
        with engine.begin() as connection:
            connection.exec_driver_sql("PRAGMA user_version=99")
    elif damage == "tables gone":
        with engine.begin() as connection:
            connection.exec_driver_sql("DROP TABLE words")
    engine.dispose()
    if damage == "empty":
        path.write_bytes(b"")
    elif damage == "text":
        path.write_bytes(b"no database at all" * 100)
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:2_000])
    again = open_index(path)
    put(FileTable(again), "a", "x", "tulip")
    assert KnowledgeSearch(again).words(terms_of("tulip"), 5).ranked


def test_a_search_goes_on_while_the_writer_is_in_a_transaction(tmp_path: Path) -> None:
    writer = open_index(tmp_path / "k.db")
    put(FileTable(writer), "a", "x", "tulip")
    reader = KnowledgeSearch(open_reader(tmp_path / "k.db"))
    with writer.begin() as connection:
        connection.exec_driver_sql("UPDATE files SET size = 9")
        assert reader.words(terms_of("tulip"), 5).ranked


# --- vectors ---------------------------------------------------------------------------------


def _vectors(count: int, width: int = 384) -> npt.NDArray[np.float32]:
    draw = np.random.default_rng(3)
    found = draw.standard_normal((count, width)).astype(np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found


def test_the_nearest_by_signs_have_the_nearest_by_cosine() -> None:
    rows = _vectors(4_000)
    stored = [packed(row) for row in rows]
    signs = signs_of([bits for bits, _ in stored], 384)
    right = 0
    for number in range(40):
        query = rows[number] + 0.08 * _vectors(100)[number]
        query = (query / np.linalg.norm(query)).astype(np.float32)
        near = nearest(signs, query, 600)
        exact = set(np.argsort(-(rows @ query))[:10].tolist())
        values = cosines([stored[one][1] for one in near], query)
        best = {int(near[one]) for one in np.argsort(-values)[:10]}
        right += len(exact & best)
        assert number in best
    # of 400, even among random vectors, whose neighbours are hardly nearer than others
    assert right >= 340


def test_an_edit_keeps_the_vectors_of_unchanged_pieces(tmp_path: Path) -> None:
    engine = open_index(tmp_path / "k.db")
    table, vectors = FileTable(engine), VectorTable(engine)
    parts = [f"# Part {number}\n\n" + f"{WORDS[number]} " * 200 for number in range(5)]
    put(table, "a", "x", "\n\n".join(parts))
    model = vectors.embedder("model")
    missing = vectors.missing(model, 100)
    rows = _vectors(len(missing))
    vectors.add(
        model, ((one.digest, row.tobytes()) for one, row in zip(missing, rows, strict=True))
    )
    assert vectors.missing(model, 100) == []
    search = MeaningSearch(open_reader(tmp_path / "k.db"), model)
    (best, near), *_ = search.nearest(rows[2], 3)
    assert near == pytest.approx(1.0, abs=1e-3)
    parts[4] = "# Part 4\n\nnothing like before"
    put(table, "a", "x", "\n\n".join(parts))
    left = vectors.missing(model, 100)
    assert len(left) == 1
    assert "nothing like before" in left[0].text
    # the search follows: the kept piece has another number now, and the old one is gone
    found = [piece for piece, _ in search.nearest(rows[2], 10)]
    assert best not in found
    assert len(found) == len(missing) - 1


def test_another_model_has_vectors_of_its_own() -> None:
    engine = open_index(None)
    put(FileTable(engine), "a", "x", "tulip")
    vectors = VectorTable(engine)
    first, second = vectors.embedder("one"), vectors.embedder("two")
    (missing,) = vectors.missing(first, 10)
    vectors.add(first, [(missing.digest, _vectors(1)[0].tobytes())])
    assert not vectors.begun(second)
    assert len(vectors.missing(second, 10)) == 1
    vectors.add(second, [(missing.digest, _vectors(1)[0].tobytes())])
    vectors.keep_only(second)
    assert not vectors.begun(first)
