"""A conversation as Markdown: front matter, then every message, its text unchanged. Code or a
comment that a reply left open when it was stopped is closed, so that what follows is none.

Only the headings of messages are added; code, HTML-like text and LaTeX stay as written. If a
message has a line that looks like such a heading, all headings carry a mark that occurs in no text,
so that reading the file back gives the same messages.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence

from headstart.core.chats.parts import Part, ReasoningPart, WrittenPart
from headstart.core.chats.prompt_words import label, words_in
from headstart.core.text.fences import open_fence, without_fenced
from headstart.exchange.fields import decode
from headstart.exchange.include import WORDS, Include
from headstart.exchange.tree import ChatNode, ExchangeChat
from headstart.exchange.writers.words import (
    heading_of,
    local_time,
    models_of,
    prompt_of,
    stats_words,
)

LOOKS_LIKE_HEADING = re.compile(r"^## (?:User|Assistant|System)\b", re.MULTILINE)
# after the end of what a message left open
CLOSED = "<!-- left open -->"
_CLOSED = re.compile(rf"\n(?:-->|`+|~+|(?:</[a-z]+>)+)\n{CLOSED}\Z")
# elements whose words are no Markdown, or folded, until they end
_TAGS = re.compile(
    r"(?:^ {0,3}<|<(?=/))(/?)(pre|script|style|textarea|details)\b", re.MULTILINE | re.IGNORECASE
)
REASONING = ("<details>\n<summary>Reasoning</summary>\n\n", "\n\n</details>")


def to_markdown(
    conversation: ExchangeChat, include: Include = WORDS, mirrored: bool = False
) -> str:
    """The whole document, ending in one line break. `mirrored`: it names its chat, so that it is
    never imported as a second one."""
    nodes = conversation.branch()
    system = prompt_of(conversation)
    bodies = [body_of(node, include) for node in nodes]
    mark = _mark([system, *bodies])
    blocks = [front_of(conversation, nodes, mark, conversation.id if mirrored else "")]
    if system:
        blocks.append(f"{_marked('## System', mark)}\n\n{system}")
    for node, body in zip(nodes, bodies, strict=True):
        heading = _marked(f"## {heading_of(node)}", mark)
        blocks.append(f"{heading}\n\n{body}" if body else heading)
    return "\n\n".join(blocks) + "\n"


def message_markdown(node: ChatNode, include: Include = WORDS) -> str:
    """One message, without a heading."""
    return body_of(node, include)


def front_of(
    conversation: ExchangeChat, nodes: Sequence[ChatNode], mark: str = "", chat: str = ""
) -> str:
    front = [f"title: {json.dumps(conversation.title, ensure_ascii=False)}"]
    if conversation.created_at > 0:
        front.append(f"date: {local_time(conversation.created_at)}")
    models = models_of(list(nodes))
    if models:
        front.append(f"model: {json.dumps(models, ensure_ascii=False)}")
    if chat:
        front.append(f"chat: {chat}")
    if mark:
        front.append(f"mark: {mark}")
    lines = "\n".join(front)
    kept = _kept_front(conversation)
    if kept is not None and kept[0] == lines:
        # the text from import, including other programs' keys
        lines = kept[1]
    return f"---\n{lines}\n---"


def _kept_front(conversation: ExchangeChat) -> tuple[str, str] | None:
    """The front matter that we would have written at import, and the actual text then."""
    if not conversation.extra:
        return None
    try:
        value = decode(conversation.extra.encode())
    except ValueError:
        return None
    front = value.get("front") if isinstance(value, dict) else None
    if not isinstance(front, list) or [type(one) for one in front] != [str, str]:
        return None
    return front[0], front[1]


def body_of(node: ChatNode, include: Include) -> str:
    pieces = [_piece(part) for part in node.parts if include.reasoning or not _thinks(part)]
    if include.stats and node.stats is not None:
        pieces.append(f"*{stats_words(node.stats)}*")
    return "\n\n".join(piece for piece in pieces if piece)


def _thinks(part: Part) -> bool:
    return isinstance(part, ReasoningPart)


def _piece(part: Part) -> str:
    text = words_in(part).strip("\n")
    if isinstance(part, ReasoningPart):
        return f"{REASONING[0]}{closed(text)}{REASONING[1]}" if text else ""
    if isinstance(part, WrittenPart):
        return closed(text)
    return f"> **{label(part)}**" + (f"\n\n{_fenced(text)}" if text else "")


def closed(text: str) -> str:
    """The text, with an end for what it left open."""
    fence = open_fence(text)
    if fence:
        return f"{text}\n{fence}\n{CLOSED}"
    outside = without_fenced(text)
    if outside.rfind("<!--") > outside.rfind("-->"):
        return f"{text}\n-->\n{CLOSED}"
    # the last one begun ends first
    begun: list[str] = []
    for found in _TAGS.finditer(outside):
        name = found[2].lower()
        if not found[1]:
            begun.append(name)
        elif name in begun:
            del begun[len(begun) - 1 - begun[::-1].index(name) :]
    ends = "".join(f"</{name}>" for name in reversed(begun))
    return f"{text}\n{ends}\n{CLOSED}" if ends else text


def opened(text: str) -> str:
    """The inverse of `closed`."""
    found = _CLOSED.search(text)
    if found is None:
        return text
    bare = text[: found.start()]
    return bare if closed(bare) == text else text


def _fenced(text: str) -> str:
    """Text as a fenced block that none of its lines can close."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"


def _mark(texts: Sequence[str]) -> str:
    """Letters that occur in no text; "" if no text can be mistaken for a heading."""
    texts = [text for text in texts if text]
    if not any(LOOKS_LIKE_HEADING.search(text) for text in texts):
        return ""
    digest = hashlib.sha256("\x1f".join(texts).encode("utf-8", "replace")).hexdigest()
    return next(
        digest[start : start + 6]
        for start in range(len(digest) - 6)
        if not any(digest[start : start + 6] in text for text in texts)
    )


def _marked(heading: str, mark: str) -> str:
    return f"{heading} <!-- {mark} -->" if mark else heading
