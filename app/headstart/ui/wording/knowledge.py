"""Texts of passages and of the search in files."""

from __future__ import annotations

WORDS: dict[str, str] = {
    "pin-document": "Choose documents",
    "pin-question": "Put {name} first in this chat?",
    "pin": "Add it",
    "pin-cost": (
        "About {tokens:n token|tokens}: {seconds:time} to read, once, and {size:size} in the "
        "prompt cache. Questions after that start at once, in every chat over it."
    ),
    "pin-size": (
        "About {tokens:n token|tokens}, and {size:size} in the prompt cache. It is read once; "
        "questions after that start at once, in every chat over it."
    ),
    "pin-too-long": (
        "It has about {tokens:n token|tokens}, more than the context of {context:n token|tokens}. "
        "A reply will not begin."
    ),
    "text-of": "Text of {name}",
    "changed-since": (
        "The file has changed since, or is no longer indexed: this is the passage as it was read."
    ),
    "text-gone": "The file is no longer indexed.",
    "search-files": "Search in files",
    "words-or-question": "Words, “exact words” or a question",
    "passages": "Passages",
    "about-search": "Searches all folders and files under Settings, Knowledge.",
    "nothing-found": "Nothing found. Try fewer or other words.",
    "found-by-words": "{count:n passage|passages} by words",
    "found-by-meaning": "{count:n passage|passages} by words and meaning",
    "ask-about-these": "Ask about these",
}
