"""Questions to every document: stretches, notes, their places, what fits, as tables and
properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.core.chats.attachments import about_tokens
from headstart.core.chats.parts import CoveragePart, PassagePart, TextPart
from headstart.core.chats.prompt_words import NOTED, label, prompt_text
from headstart.core.knowledge.passages import cited_texts
from headstart.core.knowledge.pieces import PAGE_BREAK, cut
from headstart.core.knowledge.pinned import DocumentText, with_documents
from headstart.core.knowledge.survey import (
    Stretch,
    SurveyDocument,
    begin_of,
    document_begin,
    document_owner,
    fitted,
    is_document,
    noted,
    says_nothing,
    shared_texts,
    smaller_stretch,
    stretch_tokens,
    stretches,
)
from headstart.engine.shared_texts import shared_ends
from tests.unit.core.test_knowledge import LINES

DOCUMENT = SurveyDocument("/docs", "sub/report.pdf", "ab" * 32, 100, paged=True)
TEXTS = st.lists(LINES, max_size=80).map("\n".join)


@given(TEXTS, st.integers(300, 900), st.booleans())
def test_stretches_cover_a_text_and_fit(text: str, tokens: int, paged: bool) -> None:
    found, pieces = stretches(text, tokens, paged), cut(text, paged)
    assert "".join(one.text for one in found) == text or not text.strip()
    assert [one.number for one in found] == list(range(1, len(found) + 1))
    for one in found:
        assert one.total == len(found)
        assert text[one.start : one.start + len(one.text)] == one.text
        # nothing is smaller than a piece of the whole document
        end = one.start + len(one.text)
        inside = [piece for piece in pieces if one.start <= piece.start < end]
        assert about_tokens(one.text) <= tokens or len(inside) == 1


def test_a_stretch_ends_before_a_heading_where_there_is_one() -> None:
    body = "Some words about it. " * 60
    text = "\n\n".join(f"# Chapter {number}\n\n{body}" for number in range(12))
    found = stretches(text, 1_000)
    assert len(found) > 2
    assert all(one.text.startswith("# Chapter") for one in found)


@given(TEXTS, st.data())
def test_notes_have_the_places_of_their_quotes(text: str, data: st.DataObject) -> None:
    if not text.strip():
        return
    places = st.integers(0, len(text))
    quotes = []
    for _ in range(data.draw(st.integers(0, 5))):
        start = data.draw(places)
        quotes.append(text[start : start + data.draw(st.integers(1, 300))])
    note = " and ".join(f"“{one}”" for one in quotes) + " So it is."
    for stretch in stretches(text, 500, True):
        parts = noted(DOCUMENT, text, stretch, note, 7)
        assert [one.number for one in parts] == list(range(7, 7 + len(parts)))
        assert [bool(one.note) for one in parts] == [True, *(False for _ in parts[1:])]
        for one in parts:
            assert text[one.start : one.end] == one.text
            before = text[: one.start]
            assert one.page == before.count(PAGE_BREAK) + 1
            assert one.line == before.rpartition(PAGE_BREAK)[2].count("\n") + 1
            assert one.end <= stretch.start + len(stretch.text)


def test_quotes_that_a_document_does_not_have_get_no_place() -> None:
    text = "The tank holds 20 litres.\fThe pump is green."
    (only,) = noted(DOCUMENT, text, Stretch(1, 1, 0, text), "It “holds 30 litres of oil”.", 1)
    assert (only.text, only.start, only.end) == ("", 0, 0)
    first, second = noted(
        SurveyDocument("/docs/a.txt", "", "cd" * 32, 9),
        "The tank holds 20 litres." + "\n\nAnd so on." * 60 + "\n\nThe pump is green.",
        Stretch(
            1, 1, 0, "The tank holds 20 litres." + "\n\nAnd so on." * 60 + "\n\nThe pump is green."
        ),
        "“the tank holds 20 litres”, “The *pump* is green”",
        4,
    )
    assert (first.text, first.line, first.page) == ("The tank holds 20 litres", 1, 0)
    assert (second.text, second.line, second.number) == ("The pump is green", 123, 5)
    # either number stands for all that was quoted from the document
    texts = cited_texts({4: first, 5: second, 6: PassagePart(6, "b", "else", digest="x")})
    assert texts[4] == texts[5] == "The tank holds 20 litres\nThe pump is green"
    assert texts[6] == "else"


@pytest.mark.parametrize(
    ("note", "nothing"),
    [
        ("NOTHING", True),
        ("Nothing.", True),
        ("  nothing  \n", True),
        ("**NOTHING**", True),
        ("", True),
        ("…", True),
        ("Nothing is said of it.", True),
        ("Nothing in the contract allows an early end: “the term is fixed”.", False),
        ("It holds 20 litres.", False),
        ("无", False),
    ],
)
def test_a_note_that_says_nothing(note: str, nothing: bool) -> None:
    assert says_nothing(note) is nothing
    stretch = Stretch(1, 1, 0, "text")
    assert (noted(DOCUMENT, "text", stretch, note, 1) == ()) is nothing


@given(st.lists(st.tuples(st.integers(1, 900), st.booleans()), max_size=40), st.integers(60, 4_000))
def test_notes_fit_and_those_left_out_are_counted(
    sizes: list[tuple[int, bool]], tokens: int
) -> None:
    parts = [
        PassagePart(number, "a.txt", "quoted" if quoted else "", note="word " * size)
        for number, (size, quoted) in enumerate(sizes, 1)
    ]
    kept, short = fitted(parts, tokens)
    assert len(kept) + short == len(parts)
    assert [one.number for one in kept] == sorted(one.number for one in kept)
    assert len(kept) <= 1 or sum(about_tokens(one.note) for one in kept) <= tokens
    if short:
        # a note with a quote is not left out before one without
        left = {one.number for one in parts} - {one.number for one in kept}
        quoted = [one for one in parts if one.number in left and one.text]
        assert not quoted or all(one.text for one in kept)


def test_a_long_prompt_is_cut_by_what_was_counted() -> None:
    stretch = Stretch(1, 1, 0, "word " * 7_200)
    assert about_tokens(stretch.text) == 10_000
    assert smaller_stretch(stretch, {"tokens": 16_000, "size": 8_000}) == 4_000
    assert smaller_stretch(stretch, {}) == 5_000
    assert stretch_tokens(0) > 1_000
    assert stretch_tokens(8_000) >= 8_000


def test_owners_tell_documents_models_and_parts_apart() -> None:
    whole = document_owner("ab" * 32, "model")
    owners = {
        whole,
        document_owner("cd" * 32, "model"),
        document_owner("ab" * 32, "other"),
        document_owner("ab" * 32, "model", Stretch(1, 2, 0, "")),
        document_owner("ab" * 32, "model", Stretch(2, 2, 0, "")),
    }
    assert len(owners) == 5
    assert document_owner("ab" * 32, "model", Stretch(1, 1, 0, "")) == whole
    assert all(is_document(one) for one in owners)
    assert not is_document("0" * 32)


def test_notes_in_prompts_have_their_frame_and_the_coverage() -> None:
    coverage = CoveragePart(20, 18, 1, ("scan.pdf", "big.csv"), 2)
    note = PassagePart(3, "a.pdf", "quoted", page=4, note="“quoted”: so it is.")
    text = prompt_text((coverage, note, TextPart("How?")))
    assert text.startswith(f"[{label(coverage)}]\n\n{NOTED}\n\n[3: a.pdf, page 4]\n“quoted”: so")
    assert text.endswith("How?")
    assert label(coverage) == (
        "18 of 20 documents were read whole for this question; 1 says something on it; no room for"
        " 2 of the notes. Not read: scan.pdf, big.csv"
    )


@given(
    st.lists(st.text(st.sampled_from("ab \n[]1:"), min_size=1, max_size=60), min_size=1, max_size=5)
)
def test_the_ends_of_documents_are_found_in_their_prompt(texts: list[str]) -> None:
    documents = [DocumentText(f"{n}.txt", text, f"{n:064x}") for n, text in enumerate(texts)]
    rendered = f"<system>{with_documents(documents, 'Be brief.')}</system>"
    shared = shared_texts(documents, "model")
    assert len({one.owner for one in shared}) == len(documents)
    # a token for each character
    ends = shared_ends(shared, rendered, [*rendered.encode()], lambda token: bytes([token]))
    assert [owner for owner, _ in ends] == [one.owner for one in shared]
    places = [end for _, end in ends]
    assert places == sorted(places)
    for number, (document, end) in enumerate(zip(documents, places, strict=True), 1):
        body = f"[Document {number}: {document.name}]\n{document.text.strip()}"
        assert body in rendered[:end]
    # alone, a document has the state that a question to it computes
    assert shared[0].owner == document_owner(documents[0].digest, "model")
    assert shared_ends((), rendered, [1], lambda _token: b"") == ()


@given(st.integers(1, 60_000), st.integers(1, 60_000), st.integers(500, 60_000))
def test_a_smaller_stretch_is_always_smaller(words: int, tokens: int, size: int) -> None:
    """What was counted may be a part of the prompt: it must not be asked for ever."""
    stretch = Stretch(1, 1, 0, "word " * words)
    before = about_tokens(stretch.text)
    for facts in ({"tokens": tokens, "size": size}, {}, {"tokens": 0, "size": size}):
        assert smaller_stretch(stretch, facts) < max(1, before)


def test_many_notes_are_fitted_in_no_time() -> None:
    """The time is linear: at ten times as many the window would stand still for minutes."""
    note = PassagePart(1, "a.txt", "quoted", note="word " * 30)
    kept, short = fitted([note] * 60_000, 4_000)
    assert len(kept) + short == 60_000


def test_a_private_chat_shares_a_document_with_nobody() -> None:
    alone = document_owner("ab" * 32, "m", None, "chat")
    assert is_document(alone)
    assert alone != document_owner("ab" * 32, "m")
    assert begin_of(alone) == document_begin("ab" * 32) == begin_of(document_owner("ab" * 32, "m"))


def test_only_some_names_of_unread_documents_stand_in_the_prompt() -> None:
    shown = label(CoveragePart(2_000, 0, 0, tuple(f"{n}.pdf" for n in range(2_000))))
    assert shown.endswith("19.pdf, and 1980 more")
