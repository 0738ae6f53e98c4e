"""Texts of attachments and overrides, which several parts show."""

from __future__ import annotations

WORDS: dict[str, str] = {
    "source-away": (
        "Cannot be reached now. {files:n file is|files are} still searched as last read."
    ),
    "source-reading": "{files:n file|files} read, {waiting:,} to go",
    "source-waits": "Waits to be read",
    "source-facts": "{files:n file|files}, {pieces:n passage|passages}; looked at {age:age}",
    "source-facts-now": "{files:n file|files}, {pieces:n passage|passages}; up to date",
    "left-out": "Left out: {reasons:list}",
    "left-out-hidden": "{count:n hidden entry|hidden entries}",
    "left-out-ignored": "{count:n entry|entries} named by .gitignore",
    "left-out-made": "{count:n folder|folders} made by programs",
    "left-out-link": "{count:n link|links}",
    "left-out-kind": "{count:n file|files} without text by kind",
    "left-out-large": "{count:n file|files} over 64 MB",
    "left-out-unreadable": "{count:n unreadable file|unreadable files}",
    "left-out-many": "{count:n file|files} beyond 100,000",
    "left-out-rules": "{count:n .gitignore file|.gitignore files} not followed in full",
    "left-out-empty": "{count:n empty file|empty files}",
    "left-out-no-text": "{count:n file|files} that could not be read",
    "passage-page": "{name}, page {page}",
    "passage-line": "{name}, line {line:,}",
    "doubted-title": "Nothing certain was found",
    "doubted": (
        "In {names:list}, no passage clearly answers this question. "
        "{count:n passage resembles|passages resemble} it:"
    ),
    "doubted-holds": (
        "Your answer holds for this chat. Change it in the panel beside it, under Knowledge."
    ),
    "without-files": "Without files",
    "send-with-these": "Send with {count:n passage|passages}",
    "coverage": "{read} of {total:n document|documents} read",
    "passage": "Passage {number}: {place}",
    "tool-servers": "Tool servers",
    "these-servers": "These:",
    "whole-documents": "Whole documents",
    "about-folder-documents": (
        "They stand first in each chat of the folder. A chat that has begun is processed once more."
    ),
    "choose-document": "Add a document…",
    "without-document": "Take {name} out",
    "searched-files": "Searched files",
    "no-text-to-read-scan": "no text to read: a scan",
    "missing-without-text": "{missing:n page|pages} without text",
    "reading-fraction": "reading… {fraction:.0%}",
    "reading": "reading…",
    "text-of-name": "Text of {name}",
    "save-copy": "Save a copy…",
    "into-message": "Put into the message",
    "choose-parts": "Choose parts…",
    "edits-stay": "The model gets the text as it is here. A file on the disk stays as it is.",
    "image-cannot-shown-here": "This image cannot be shown here.",
    "as-in-settings": "As in the settings",
    "system-prompt": "System prompt",
    "draft-from": "Draft from",
    "model-of-new-chats": "Model of new chats",
    "last-one-was-used": "The last one that was used",
    "automatic": "Automatic",
    "no-draft-model": "No draft model",
    "tokens": "{tokens:,} tokens",
    "about-tokens": "about {tokens:,} tokens",
    "pages": "{pages:n page|pages}",
    "chosen": "{unit:select page=pages|other=parts} {chosen} of {pages}",
    "file": "File {name} ({size:size})",
    "image": "Image {name} ({width} × {height})",
    "tool-call": "Call of {name}",
    "tool-of-server": "{tool} ({server})",
    "tool-calculate": "Calculator",
    "tool-time": "Date and time",
    "tool-search": "Search in your chats",
    "tool-read": "Read attached files",
    "tool-search-files": "Search in your files",
    "tool-read-indexed": "Read your files",
    "about-search-files": (
        "Finds passages in the folders and files of this chat (Knowledge). The model reads them."
    ),
    "about-read-indexed": "Reads such a file as it was indexed, a part at a time.",
    "about-calculate": "Computes terms exactly, on this computer.",
    "about-time": "Reads this computer’s clock.",
    "about-search": (
        "Looks for words in all your chats except private ones. The model reads the messages that "
        "have them."
    ),
    "about-read": "Reads a file that is attached to this chat, a part at a time.",
    "tool-failed": "{name} failed",
    "tool-result": "Result of {name}",
    "unknown-part": "Unknown content ({name})",
    "none": "none",
}
