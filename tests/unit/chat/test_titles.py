"""Automatic titles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.chat.titles import LONGEST, NEW_CHAT, title_from


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("What is the capital of France?", "What is the capital of France?"),
        (
            "Hi, can you please write a poem about the sea. Make it long.",
            "Write a poem about the sea",
        ),
        ("```python\nx = 1\n```\nWhat does this do?", "What does this do?"),
        ("# Heading\n\ntext", "Heading"),
        ("see https://www.example.org/a/b?c=d for more", "See example.org for more"),
        ("   \n\n ", NEW_CHAT),
        ("please", "Please"),
        ("Hello there, would you explain tides?", "Explain tides?"),
        ("Hello there with a question", "Hello there with a question"),
        ("Hi!", "Hi"),
        ("Can you swim?", "Can you swim?"),
        ("Will you marry me?", "Will you marry me?"),
        ("I want to die", "I want to die"),
        ("I'd like you to sort this list", "Sort this list"),
        ("日本の首都はどこですか。教えて", "日本の首都はどこですか。教えて"),
    ],
)
def test_titles(text: str, title: str) -> None:
    assert title_from(text) == title


@given(st.text(max_size=300))
def test_any_text_gives_a_short_title_of_one_line(text: str) -> None:
    title = title_from(text)
    assert title.strip()
    assert len(title) <= LONGEST
    assert "\n" not in title
