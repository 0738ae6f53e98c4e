"""Automatic titles, derived from the first message without a model; pure."""

from __future__ import annotations

import re

from headstart.core.chats.attachments import PASTED
from headstart.core.chats.parts import FilePart, OtherPart

NEW_CHAT = "New chat"
LONGEST = 48
# characters of a message that are examined
_LOOKED_AT = 20_000

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_MARKUP = re.compile(r"^[\s>#*\-–•]+|[*_`]+")
_LINK = re.compile(r"https?://(?:www\.)?([^/\s]+)\S*")
_REQUEST = (
    r"(?:please\b[, ]*|(?:can|could|would) you\b(?: please)?[, ]*|i(?:'d| would) like you to\b )"
)
# a greeting is removed along with the request it introduces, and kept otherwise
_POLITE = re.compile(
    rf"^(?:(?:hi|hello|hey)\b(?: there)?[,!. ]+(?={_REQUEST}))?{_REQUEST}+", re.IGNORECASE
)


def title_of(part: OtherPart) -> str:
    """The title of a chat whose first message is only this attachment."""
    if isinstance(part, FilePart) and part.name.startswith(PASTED):
        return title_from(part.text)
    name = part.name.strip() or NEW_CHAT
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def title_from(text: str) -> str:
    """A short title: the first sentence without pleasantries, cut between words."""
    text = text[:_LOOKED_AT]
    plain = _FENCE.sub(" ", text)
    lines = [_MARKUP.sub("", line).strip() for line in plain.splitlines()]
    first = next((line for line in lines if line), "")
    if not first:
        first = " ".join(text.replace("`", " ").split())
    first = _LINK.sub(r"\1", first)
    request = _POLITE.sub("", first).strip()
    # “Can you swim?” is a question, not a request
    first = request if len(request.split()) > 1 else first
    sentence = re.split(r"(?<=[.!?。！？])\s", first, maxsplit=1)[0]
    sentence = sentence.rstrip(" .,:;!…。")
    if not sentence:
        return NEW_CHAT
    if len(sentence) > LONGEST:
        cut = sentence[: LONGEST - 1]
        space = cut.rfind(" ")
        sentence = (cut[:space] if space > LONGEST // 2 else cut).rstrip(" ,;:-–") + "…"
    return sentence[0].upper() + sentence[1:]
