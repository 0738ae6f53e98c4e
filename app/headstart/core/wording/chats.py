"""Problems with chats, addresses and choices: what happened, and what to do."""

from __future__ import annotations

PROBLEMS: dict[str, tuple[str, str]] = {
    "address-with-password": (
        "An address must not hold a name or password: it is stored and shown.",
        "Enter what the server wants as the key.",
    ),
    "as-written": (
        "{message}",
        "{remedy}",
    ),
    "cannot-run": (
        "{name} cannot run here: {why:message}.",
        "{why:remedy}",
    ),
    "certificate-missing": (
        "There is no certificate file {certificate}.",
        "Choose another one.",
    ),
    "chat-gone": (
        "This chat does not exist any more.",
        "Start a new one.",
    ),
    "closing": (
        "Headstart is closing.",
        "",
    ),
    "connection-gone": (
        "This connection is not there any more.",
        "",
    ),
    "deleted-chat-gone": (
        "This chat has been deleted for good.",
        "",
    ),
    "consent-needed": (
        "The text of this chat would be sent to {host}.",
        "Allow it, or choose a model on this computer.",
    ),
    "file-not-written": (
        "The file {path} could not be written: {reason}.",
        "Choose another folder, or free some disk space.",
    ),
    "internal": (
        "Internal error: {kind}: {text}.",
        "The chat is safe. Start with --debug and report the log.",
    ),
    "internal-kind": (
        "Internal error: {kind}.",
        "The chat is safe. Start with --debug and report the log.",
    ),
    "key-not-ascii": (
        "A key may contain only ASCII characters.",
        "Copy it again.",
    ),
    "message-gone": (
        "This message does not exist any more.",
        "",
    ),
    "no-draft-to-calibrate": (
        "There is no draft model to measure.",
        "Choose one under “Draft from” first.",
    ),
    "no-model-yet": (
        "There is no model yet.",
        "Open a GGUF file or an MLX folder with the model menu, or drop one here.",
    ),
    "not-an-address": (
        "“{text}” is not a server address.",
        "It looks like http://192.168.1.5:8080 or https://models.example.com/v1.",
    ),
    "branch-is-all": ("This is the whole chat.", "Delete the chat instead."),
    "folder-there": ("There is a folder “{name}” already.", "Choose another name."),
    "folder-name": ("A folder needs a name.", ""),
    "reply-being-written": (
        "A reply is being written here.",
        "Stop it first.",
    ),
    "server-removed": (
        "The server that offered {name} was removed from the settings.",
        "Choose another model.",
    ),
    "server-speculates-itself": (
        "A server decides for itself how it speculates.",
        "",
    ),
    "order-repaired": (
        "The order of this chat's messages was damaged and has been repaired.",
        "Nothing was removed; versions may be in other positions than before.",
    ),
    "not-saved-yet": (
        "Not saved yet: {problem:message}",
        "",
    ),
    "message-damaged": (
        "Part of this message was damaged on the disk. The rest is shown.",
        "",
    ),
    "reply-not-saved": (
        "This reply could not be saved. {problem:message}",
        "{problem:remedy}",
    ),
    "text-not-storable": (
        "Part of it cannot be stored ({kind}).",
        "It is still on the screen: copy what you need. Start with --debug and report the log.",
    ),
    "cache-not-written": (
        "The prompt cache cannot be kept on disk: {error}.",
        "Replies go on; after a restart, prompts are recomputed.",
    ),
    "cache-not-indexed": (
        "The prompt cache cannot be kept on disk. {problem:message}",
        "Replies go on; after a restart, prompts are recomputed.",
    ),
    "cache-disk-nearly-full": (
        "The prompt cache is not kept on disk: less than {least_gib:g} GiB of it is free.",
        "Replies go on; after a restart, prompts are recomputed.",
    ),
}
