"""Prompts saved under a name, and the built-in ones. Pure."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class SavedPrompt(Struct, frozen=True):
    """A text that the user inserts into messages again and again."""

    name: Annotated[str, Meta(min_length=1, max_length=80)]
    text: Annotated[str, Meta(min_length=1, max_length=100_000)]


# inserted into the message box for editing; the user's text follows
PROMPTS: tuple[SavedPrompt, ...] = (
    SavedPrompt("Explain", "Explain this so that somebody new to it understands it:\n\n"),
    SavedPrompt("Find mistakes", "List the mistakes in this text, each with what is right:\n\n"),
    SavedPrompt("Improve", "Improve this text; keep what it says and how it sounds:\n\n"),
    SavedPrompt("Questions", "Ask me five questions whose answers make this better:\n\n"),
    SavedPrompt("Reply", "Write a short and friendly reply to this message:\n\n"),
    SavedPrompt("Shorten", "Say this in half as many words:\n\n"),
    SavedPrompt("Summarise", "Summarise this in five short points:\n\n"),
    SavedPrompt("To-do list", "Make a to-do list of what this asks me to do:\n\n"),
    SavedPrompt("Translate", "Translate this into {{language}}:\n\n"),
)
