"""Problems with the user's folders and their index: what happened, and what to do."""

from __future__ import annotations

PROBLEMS: dict[str, tuple[str, str]] = {
    "knowledge-away": (
        "{name} cannot be reached.",
        "Connect the disk, or choose another folder.",
    ),
    "knowledge-disk": (
        "The index of your files cannot be used: {reason}.",
        "Make room on the disk, or make it again under Settings, Knowledge. No chat is lost.",
    ),
    "document-lost": (
        "{name} has changed or cannot be found, and its text is no longer indexed: it is left out.",
        "Pin it again in the panel beside the chat, under Knowledge.",
    ),
    "knowledge-no-room": (
        (
            "The index of your files waits: {free:size} of the disk are free, and {least:size} are "
            "left to chats and settings."
        ),
        "Make room on the disk. The index goes on by itself.",
    ),
    "passages-doubtful": (
        "No passage of your files clearly answers this question.",
        "Choose whether those that resemble it go with it.",
    ),
    "survey-without-documents": (
        "This chat has no documents to ask.",
        "Choose a folder for it, or pin a document, in the panel beside the chat.",
    ),
    "knowledge-odd-name": (
        "The name of {name} is not valid text.",
        "Rename the folder, then add it again.",
    ),
}
