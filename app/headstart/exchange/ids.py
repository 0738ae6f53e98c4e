"""Ids that are the same at every import of a file, so that nothing is stored twice."""

from __future__ import annotations

import hashlib
import re

OWN, MARKDOWN = "headstart", "markdown"
_OURS = re.compile(r"[0-9a-f]{32}")


def chat_id(source: str, conversation: str) -> str:
    """The id for another program's conversation; our own conversations keep theirs."""
    return _own(source, conversation) or _digest(source, conversation)


def is_own(text: str) -> bool:
    """True if it can be the id of one of our chats or messages."""
    return _OURS.fullmatch(text) is not None


def message_id(source: str, conversation: str, message: str) -> str:
    return _own(source, message) or _digest(source, conversation, message)


def content_id(*texts: str) -> str:
    """Id for a conversation whose file has none: a digest of its text."""
    return _digest(*texts)


def _own(source: str, known: str) -> str:
    return known if source == OWN and _OURS.fullmatch(known) else ""


def _digest(*words: str) -> str:
    whole = hashlib.blake2b(digest_size=16)
    for word in words:
        data = word.encode("utf-8", "surrogatepass")
        whole.update(len(data).to_bytes(8, "little") + data)
    return whole.hexdigest()
