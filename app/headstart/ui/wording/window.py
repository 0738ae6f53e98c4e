"""Texts of attachments and overrides, which several parts show."""

from __future__ import annotations

WORDS: dict[str, str] = {
    "tool-servers": "Tool servers",
    "these-servers": "These:",
    "no-text-to-read-scan": "no text to read: a scan",
    "missing-without-text": "{missing:n page|pages} without text",
    "reading-fraction": "reading… {fraction:.0%}",
    "reading": "reading…",
    "text-of-name": "Text of {name}",
    "save-copy": "Save a copy…",
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
