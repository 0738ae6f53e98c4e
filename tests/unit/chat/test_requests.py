"""What a reply that goes on is told that it has already."""

from __future__ import annotations

from pathlib import Path

import pytest

from headstart.chat.requests import Asked
from headstart.core.chats.parts import Part, ReasoningPart, TextPart
from headstart.core.chats.values import Chat
from headstart.core.models.ref import ModelRef
from headstart.core.requests import WrittenSoFar

MODEL = ModelRef(Path("/m/one.gguf"), "one", 1)
THOUGHT, TEXT = ReasoningPart("Two and two"), TextPart("Four")


@pytest.mark.parametrize(
    ("parts", "by", "so_far"),
    [
        ((THOUGHT,), MODEL.key, WrittenSoFar("Two and two", "", closed=False)),
        # what another model was thinking has ended
        ((THOUGHT,), "/m/other.gguf", WrittenSoFar("Two and two", "", closed=True)),
        # of old messages nobody knows who wrote them
        ((THOUGHT,), "", WrittenSoFar("Two and two", "", closed=False)),
        ((THOUGHT, TEXT), MODEL.key, WrittenSoFar("Two and two", "Four", closed=True)),
        ((TEXT,), MODEL.key, WrittenSoFar("", "Four", closed=True)),
    ],
)
def test_an_open_thought_is_closed_for_another_model_only(
    parts: tuple[Part, ...], by: str, so_far: WrittenSoFar
) -> None:
    asked = Asked(Chat("c", "", 0, 0), (), "r", parts, by)
    assert asked.so_far(MODEL) == so_far
