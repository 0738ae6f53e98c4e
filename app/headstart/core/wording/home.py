"""Problems with the home folder and its content: what happened, and what to do."""

from __future__ import annotations

PROBLEMS: dict[str, tuple[str, str]] = {
    "already-open": (
        "Headstart is already open with the folder {path}.",
        "Use the window that is open, or choose another folder with --home.",
    ),
    "blob-damaged": (
        "This file was damaged on the disk.",
        "Add it again, if you still have it.",
    ),
    "blob-gone": (
        "This file is not kept any more.",
        "Add it again, if you still have it.",
    ),
    "database-cannot-be-opened": (
        "The chat database {path} cannot be opened: {reason:message}.",
        "{reason:remedy}",
    ),
    "database-closed": (
        "The chat database is closed.",
        "",
    ),
    "database-failed": (
        "The chat database could not be used: {reason:message}.",
        "{reason:remedy}",
    ),
    "database-newer": (
        "The chats in {path} were written by a newer version of Headstart.",
        "Nothing was changed. Start that version, or choose another folder with --home.",
    ),
    "database-path-too-long": (
        "The path of the chat database has more than {most} bytes, which SQLite does not take.",
        "Choose a folder with a shorter path with --home.",
    ),
    "database-of-another-program": (
        "{path} is a database of another program.",
        "Nothing was changed. Choose another folder with --home.",
    ),
    "settings-not-saved": (
        "The settings could not be saved: {error}.",
        "",
    ),
    "settings-unreadable": (
        "The settings could not be read: {error}; defaults apply.",
        "",
    ),
    "settings-damaged": (
        "The settings file was damaged; defaults apply.",
        "{aside:message}",
    ),
    "settings-partly-invalid": (
        "Some settings were not valid and are back to their defaults: {names}.",
        "{aside:message}",
    ),
    "key-not-kept": (
        "This computer's keychain cannot be used, so the key is kept only until Headstart ends.",
        "It was not written to any file.",
    ),
    "home-shared": (
        "The folder {path} holds other files, or other people write there: it stays as it is.",
        "Choose a new or an empty folder with --home.",
    ),
    "home-unusable": (
        "The folder {path} cannot be used: {reason}.",
        "Choose another one with --home.",
    ),
    "updates-address": (
        "“{address}” is no address that updates can be asked of.",
        "It begins with https://.",
    ),
    "updates-unreachable": (
        "{address} could not be asked for updates ({reason}).",
        "Is this computer online?",
    ),
    "updates-unreadable": (
        "{address} did not answer with a version.",
        "Look at the address in Settings, General.",
    ),
    "keychain-closed": (
        "The key cannot be read: this computer's keychain does not open.",
        "Unlock it and try again, or enter the key again under Settings, Servers.",
    ),
    "private-chat-not-kept": (
        "This private chat could not be kept.",
        "Is this computer out of memory?",
    ),
    "nothing-can-be-saved": (
        "Chats can be read but not changed: {reason:message}.",
        "{reason:remedy}",
    ),
    "read-only": (
        "This cannot be saved, because the chat database can only be read: {reason:message}.",
        "{reason:remedy}",
    ),
}
