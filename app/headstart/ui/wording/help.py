"""Texts of the help and of reports."""

from __future__ import annotations

WORDS: dict[str, str] = {
    "about-headstart": "About Headstart",
    "headstart-version": "Headstart {version}",
    "licences": "Licences",
    "close": "Close",
    "made-with": "Made with",
    "guide-not-here-belongs-to": (
        "The guide is not here. It belongs to the program: installing it again brings it back."
    ),
    "guide": "Guide",
    "pages-of-guide": "Pages of the guide",
    "about-report": (
        "A report contains this and nothing else: versions, settings without names or texts of "
        "yours, and the log, which has kinds of errors and no words of any chat. Read it first; "
        "nothing is sent from here."
    ),
    "report-problem": "Report a problem",
    "reading-log": "Reading the log…",
    "contents-of-report": "Contents of the report",
    "copy": "Copy",
    "save-to-folder": "Save to a folder…",
    "saved-to-folder": "Saved to {folder}",
    "copied": "Copied",
    "folder-for-report": "A folder for the report",
    "about": "Chats with language models on this computer.",
}
