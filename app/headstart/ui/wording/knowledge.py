"""Texts of passages and of the search in files."""

from __future__ import annotations

WORDS: dict[str, str] = {
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
