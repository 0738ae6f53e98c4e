"""Sentences about imported and exported files."""

from __future__ import annotations

PROBLEMS: dict[str, tuple[str, str]] = {
    "backup-not-known": (
        "{name} is no backup that Headstart made.",
        "Choose a file that ends in .headstart-backup.zip, or one of the automatic copies.",
    ),
    "mirror-not-written": (
        "Chats could not be mirrored to {path} ({reason}).",
        "Check that the folder is there and can be written; the settings name another one.",
    ),
    "import-no-file": (
        "{name} cannot be read ({reason}).",
        "Check that it is still there, and that you may read it.",
    ),
    "import-not-known": (
        "{name} holds no conversations that Headstart knows.",
        (
            "It reads the exports of ChatGPT, Claude, Gemini, DeepSeek, LM Studio, Open WebUI, "
            "Jan, LibreChat and twenty other programs, lists of messages, and its own files."
        ),
    ),
    "import-broken-zip": (
        "{name} is no whole zip file.",
        "Download it once more: the end may be missing.",
    ),
    "import-broken-member": (
        "{name} cannot be unpacked: it is damaged, or wants a password.",
        "Unpack the archive with another program, and choose the folder.",
    ),
    "import-bomb": (
        "{name} in {archive} unpacks to far more than an export has.",
        "It was left out: such files are made to fill disks.",
    ),
    "import-too-many-files": (
        "{name} has more than {most:,} files.",
        "Choose the folder or the file with the conversations.",
    ),
    "import-too-large": ("{name} is too large ({size:size}).", "Split it, and try again."),
    "import-encoding": (
        "The text is not UTF-8.",
        "Save the file as UTF-8 with an editor, and try again.",
    ),
    "import-unreadable": ("It is damaged: no JSON that can be read.", ""),
    "import-broken-lines": ("{count:n line is|lines are} damaged, and left out.", ""),
    "import-chat-too-large": ("One conversation has {size:size}, which is too much.", ""),
    "import-message-too-long": (
        "A message is longer than 16 million characters; it is left out.",
        "",
    ),
    "import-empty": ("It has no messages.", ""),
    "import-mended": (
        "{count:n message has|messages have} no parent that is there; they follow the one before.",
        "",
    ),
    "import-numbers": ("{count:n number is|numbers are} impossible, and left out.", ""),
    "import-system-message": ("An instruction in the middle of the chat has no place here.", ""),
    "import-file-missing": ("The file {name} is not among the chosen files.", ""),
    "import-file-damaged": ("The file {name} has changed since it was exported.", ""),
    "import-step-unknown": ("A step of the kind “{name}” is left out.", ""),
    "import-role-unknown": ("A message of “{name}” is left out.", ""),
    "import-version-unknown": ("It is of version {version}, which Headstart does not know.", ""),
    "import-cut-short": (
        "The file breaks off after {count:n message|messages}, or goes on in an unknown way.",
        "",
    ),
    "import-piece-unknown": ("Content of the kind “{name}” is left out.", ""),
    "import-message-unread": ("A message of “{name}” has nothing that can be read.", ""),
    "import-note-left-out": ("A note of “{name}” that no model sees is left out.", ""),
    "import-lines-left-out": (
        "{count:n line is|lines are} left out that the program wrote for itself.",
        "",
    ),
    "import-unsent": ("Words that were not sent are left out.", ""),
    "import-page": (
        "{name} is the export as a page to look at.",
        "Choose conversations.json beside it, or the whole zip.",
    ),
    "import-twice": ("It is in the file a second time.", ""),
    "file-format-headstart": ("Headstart", "Everything: all versions, files, settings and figures"),
    "file-format-markdown": ("Markdown", "Text for editors and notes"),
    "file-format-html": ("Web page", "One file, for any browser"),
    "file-format-pdf": ("PDF", "For print"),
    "file-format-odt": ("Document", "For LibreOffice and Word"),
    "file-format-text": ("Plain text", "Nothing but words"),
    "file-format-trace": ("JSON lines, session trace", "As Hugging Face and llama.cpp read it"),
    "file-format-training": ("JSON lines, messages", "As OpenAI reads it for training"),
}
