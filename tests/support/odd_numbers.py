"""Numbers that no program would write, in place of each number of our own conversation file."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from headstart.exchange.tree import ExchangeChat
from tests.support.conversation_files import png

# as JSON: negative, beyond Qt's 32 bits, beyond SQLite's 64, beyond a double, and no numbers at all
ODD = (
    "-1", "0", "2147483648", "4294967297", "-9223372036854775809", "9223372036854775808", "1e300",
    "1e999", "5e-324", "2.5", "NaN", "-Infinity", '"7"', '""', "true", "null", "[]", "{}",
    '"-000001-01-01"', '"+1000000-01-01T00:00:00Z"', "9" * 400, "9" * 5_000,
)  # fmt: skip
WORDS = ("A question about harbours", "The harbour freezes", "Another answer", "Thoughts on ice")
_TIMES = ("created_at", "updated_at")
_MARK = "\u2603"
Place = tuple[str | int, ...]


def conversation(number: int = 0) -> dict[str, Any]:
    """A chat with every kind of part, and every number that the format has."""
    picture = png(3, 2)
    blob = {"digest": hashlib.sha256(picture).hexdigest(), "size": len(picture)}
    image, text = {**blob, "media_type": "image/png"}, {**blob, "media_type": "text/plain"}
    moment = "2026-01-02T03:04:05.000Z"
    asked = [
        {"kind": "text", "text": WORDS[0], "origins": [[4, "target"], [3, "draft"]]},
        {"kind": "image", "text": "", "name": "a.png", "blob": image, "width": 3, "height": 2},
        {"kind": "file", "text": "[Page 1]\nIce", "name": "a.txt", "blob": text, "pages": 4,
         "unit": "page", "chosen": "1–2"},
        {"kind": "passage", "text": "Ice", "number": 1, "name": "b.txt", "digest": "0" * 64,
         "start": 3, "end": 6, "page": 2, "line": 5},
        {"kind": "coverage", "text": "", "total": 5, "read": 4, "found": 2, "short": 1},
    ]  # fmt: skip
    said = [
        {"kind": "reasoning", "text": WORDS[3], "origins": [[5, "draft"]]},
        {"kind": "tool call", "text": "{}", "id": "c1", "name": "look", "origins": [[2, "draft"]]},
        {"kind": "tool result", "text": "cold", "id": "c1", "name": "look", "seconds": 0.5,
         "whole": text},
        {"kind": "text", "text": WORDS[1], "origins": [[3, "repeat"], [4, "head"]]},
    ]  # fmt: skip
    stats = {
        "finish": "end", "prompt_tokens": 40, "reused_tokens": 20, "prefill_seconds": 0.25,
        "first_token_seconds": 0.5, "generated_tokens": 30, "generate_seconds": 1.5, "seed": 7,
        "reasoning_seconds": 0.75,
        "speculation": {"rounds": 9, "draft_verified": 20, "draft_accepted": 15,
                        "lookup_verified": 8, "lookup_accepted": 4, "plain_seconds": 4.5},
        "prefix": {"from_memory": 5, "from_disk": 6, "ahead": 7, "recomputed": 8},
    }  # fmt: skip
    one, two, three = (f"{number:08x}{place:024x}" for place in range(3))
    common = {"status": "complete", "created_at": moment}
    return {
        "format": "headstart-chat",
        "version": 1,
        "id": f"{number:032x}",
        "title": f"Chat {number}",
        "created_at": moment,
        "updated_at": moment,
        "options": {"sampling": {"temperature": 0.5, "top_k": 30, "seed": 3, "max_tokens": 99}},
        "selected": {"": one, one: two},
        "messages": [
            {"id": one, "parent": None, "role": "user", "parts": asked, **common},
            {"id": two, "parent": one, "role": "assistant", "parts": said, "stats": stats,
             **common},
            {"id": three, "parent": one, "role": "assistant",
             "parts": [{"kind": "text", "text": WORDS[2]}], **common},
        ],
        "blobs": {blob["digest"]: base64.b64encode(picture).decode()},
    }  # fmt: skip


def places(value: Any, above: Place = ()) -> Iterator[Place]:
    """The places of all numbers and times."""
    inside: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else ()
    for key, one in enumerate(value) if isinstance(value, list) else inside:
        here = (*above, key)
        is_number = isinstance(one, int | float) and not isinstance(one, bool)
        if key in (*_TIMES, "chosen") or (is_number and key != "version"):
            yield here
        yield from places(one, here)


def written(document: dict[str, Any], at: Iterable[Place], odd: str) -> bytes:
    """The file with `odd`, which is JSON, at these places."""
    changed = copy.deepcopy(document)
    for place in at:
        inner: Any = changed
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = _MARK
    return json.dumps(changed, ensure_ascii=False).replace(f'"{_MARK}"', odd).encode()


def assert_bounded(chat: ExchangeChat) -> None:
    """Every number within the bounds that its field has."""
    for node in chat.nodes:
        for value in (*node.parts, *filter(None, (node.stats,))):
            plain = msgspec.to_builtins(value)
            assert msgspec.convert(plain, type(value)) == value
            runs = getattr(value, "origins", ())
            assert sum(run.length for run in runs) <= len(getattr(value, "text", ""))
        assert 0 <= node.created_at < 1 << 48
