"""The parts of messages: as text for a model, joined, and named."""

from __future__ import annotations

import pytest

from headstart.core.chats.parts import (
    BlobRef,
    FilePart,
    ImagePart,
    Origin,
    OriginRun,
    OtherPart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    joined,
)
from headstart.core.chats.prompt_words import label, prompt_text

BLOB = BlobRef("0" * 64, 12_000, "text/plain")
NOTES = FilePart("notes.txt", BLOB, "Rivers flow.")


def test_text_alone_is_sent_as_it_was_written() -> None:
    assert prompt_text([TextPart("  one\n\n"), TextPart(" two ")]) == "  one\n\n two "
    assert prompt_text([ReasoningPart("hm"), TextPart("yes")]) == "yes"
    assert prompt_text([]) == ""


def test_what_is_no_text_is_a_paragraph_with_its_label() -> None:
    assert prompt_text([NOTES, TextPart("What is this?")]) == (
        "[File notes.txt (12 kB)]\nRivers flow.\n\nWhat is this?"
    )
    image = ImagePart("cat.png", BLOB, 640, 480)
    assert prompt_text([TextPart("See:"), image]) == "See:\n\n[Image cat.png (640 × 480)]"


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (ToolCallPart("1", "search", "{}"), "Call of search"),
        (ToolResultPart("1", "search", "found"), "Result of search"),
        (ToolResultPart("1", "search", "no network", failed=True), "search failed"),
    ],
)
def test_calls_of_tools_are_named(part: OtherPart, text: str) -> None:
    assert label(part) == text


def test_neighbouring_text_is_joined_and_nothing_else() -> None:
    one, two = (OriginRun(1, Origin.DRAFT),), (OriginRun(2, Origin.DRAFT),)
    parts: list[Part] = [
        TextPart("a", one),
        TextPart("bc", two),
        TextPart(""),
        NOTES,
        TextPart("d"),
    ]
    assert joined(parts) == (TextPart("abc", (OriginRun(3, Origin.DRAFT),)), NOTES, TextPart("d"))
    assert joined([ReasoningPart("a"), TextPart("b")]) == (ReasoningPart("a"), TextPart("b"))
