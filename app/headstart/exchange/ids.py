"""Ids that are the same whenever the same file comes in, so that nothing is stored twice."""

from __future__ import annotations

import hashlib
import re

OWN, MARKDOWN = "headstart", "markdown"
_OURS = re.compile(r"[0-9a-f]{32}")


def chat_id(source: str, conversation: str) -> str:
    """The id of another program's conversation; our own keep theirs."""
    return _own(source, conversation) or _digest(source, conversation)


def is_own(text: str) -> bool:
    """True if it can be the id of a chat or a message of ours."""
    return _OURS.fullmatch(text) is not None


def message_id(source: str, conversation: str, message: str) -> str:
    return _own(source, message) or _digest(source, conversation, message)


def content_id(*texts: str) -> str:
    """For a conversation whose file has no id: its words are what it is known by."""
    return _digest(*texts)


def _own(source: str, known: str) -> str:
    return known if source == OWN and _OURS.fullmatch(known) else ""


def _digest(*words: str) -> str:
    whole = hashlib.blake2b(digest_size=16)
    for word in words:
        data = word.encode("utf-8", "surrogatepass")
        whole.update(len(data).to_bytes(8, "little") + data)
    return whole.hexdigest()
