"""Why tokens were recomputed, as the end of a sentence."""

from __future__ import annotations

REASONS: dict[str, str] = {
    "system-changed": "the system prompt changed, and everything after it depends on it",
    "turns-dropped": "the oldest turns are left out now, because the context is full",
    "message-changed": (
        "message {number} (“{preview}”) changed, and everything after it depends on it"
    ),
    "message-changed-unquoted": ("message {number} changed, and everything after it depends on it"),
    "clock-in-message-unquoted": (
        "message {number} reads differently: the chat template writes the date or time into it"
    ),
    "template-in-message-unquoted": (
        "the chat template shows message {number} in another way than before"
    ),
    "new-session-shares": (
        "a new session: its first {tokens:n token is|tokens are} those of another one"
    ),
    "some-message-changed": "a message changed, and everything after it depends on it",
    "other-model": (
        "another model ({model}) worked on this chat last, and nothing is cached for this one"
    ),
    "other-settings": "the model's file, its KV settings or the library changed",
    "clock-in-system": (
        "the system prompt reads differently: the chat template writes the date or time into it"
    ),
    "clock-in-message": (
        "message {number} (“{preview}”) reads differently: the chat template writes the date or "
        "time into the prompt"
    ),
    "template-in-system": (
        "the system prompt reads differently: the chat template writes it in another way than when "
        "it was new"
    ),
    "template-in-message": (
        "message {number} (“{preview}”) reads differently: the chat template writes it in another "
        "way than when it was new"
    ),
    "cannot-cut": "this kind of model can only go back to positions that were cached",
    "not-on-disk": "the prompt cache of this chat is not kept on disk",
    "evicted": (
        "it was no longer cached: its space was needed, or the program ended before it was saved"
    ),
}
