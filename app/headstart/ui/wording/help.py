"""Words of help and reports."""

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
    "all-report-would-have-versions": (
        "This is all that a report would have: versions, settings without names or texts of yours, "
        "and the log, in which kinds of errors stand and no words of any chat. Read it first; "
        "nothing is sent from here."
    ),
    "report-problem": "Report a problem",
    "reading-log": "Reading the log…",
    "what-report-would-have": "What a report would have",
    "copy": "Copy",
    "save-to-folder": "Save to a folder…",
    "saved-to-folder": "Saved to {folder}",
    "copied": "Copied",
    "folder-for-report": "A folder for the report",
    "about": "Chats with language models on this computer. {versions}",
}
