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
    "shown-as": "Shown as",
    "as-page": "Page",
    "as-text": "Text",
    "page-before": "Previous page",
    "page-after": "Next page",
    "page-of": "Page {page:,} of {pages:,}",
    "text-gone": "The file is no longer indexed.",
    "search-files": "Search in files",
    "words-or-question": "Words, “exact words” or a question",
    "passages": "Passages",
    "about-search": "Searches all folders and files under Settings, Knowledge.",
    "nothing-found": "Nothing found. Try fewer or other words.",
    "found-by-words": "{count:n passage|passages} by words",
    "found-by-meaning": "{count:n passage|passages} by words and meaning",
    "ask-about-these": "Ask about these",
    "ask-every": "Ask every document",
    "about-ask-every": (
        "Each document is read whole and says in a few words what it knows. Then one reply answers "
        "over all of them."
    ),
    "question-to-every": "A question to every document",
    "documents": "Documents",
    "looking-at-documents": "Looking at the documents…",
    "no-documents": (
        "This chat has no documents. Choose folders for it, or pin documents, in the panel beside "
        "the chat."
    ),
    "document-new": "{name} · about {tokens:n token|tokens}",
    "document-kept": "{name} · read before",
    "all-kept": "{count:n document|documents}, all read before: the answers begin at once.",
    "survey-cost": (
        "{count:n document|documents}. Reading {new:n new one|new ones}, about "
        "{tokens:n token|tokens}, takes {seconds:time} and {size:size} in the prompt cache, once."
    ),
    "survey-size": (
        "{count:n document|documents}. Reading {new:n new one|new ones}, about "
        "{tokens:n token|tokens}, takes {size:size} in the prompt cache, once."
    ),
    "survey-tokens": (
        "{count:n document|documents}, {new} of them new: about {tokens:n token|tokens} to read."
    ),
    "note-of-model": "The model’s note on the whole document: {note}",
}
