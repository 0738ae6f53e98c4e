"""GPT4All's `gpt4all-*.chat` files: a stream in the format of Qt's QDataStream, big-endian, of
versions 1 to 12. Decoded with `struct`, so that its content never creates Qt objects.

Follows the order in which the program's source reads the fields of each version.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from urllib.parse import unquote, urlsplit

from headstart.core.chats.attachments import LARGEST
from headstart.core.chats.parts import Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from headstart.core.chats.values import MessageStatus, Role
from headstart.exchange.fields import time_of
from headstart.exchange.material import Material
from headstart.exchange.media import MediaBlobs
from headstart.exchange.readers.building import LONGEST_TEXT, Facts, ReadMessage, build, renamed
from headstart.exchange.readers.common import model_name, thinking_apart
from headstart.exchange.report import Report
from headstart.exchange.tree import ExchangeChat

SOURCE, NAME = "gpt4all", "GPT4All"
MAGIC = b"\xf5\xd5\x53\xcc"
_LAST_VERSION = 12
_NULL = 0xFFFFFFFF
# longest list: more than any chat has
_MOST = 1_000_000
_STRING_VARIANT = 10
_DEEPEST = 8


class _Broken(Exception):
    """The stream's content is invalid."""


class _Stream:
    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._at = 0

    def _take(self, size: int) -> memoryview:
        if size < 0 or size > len(self._data) - self._at:
            raise _Broken
        self._at += size
        return self._data[self._at - size : self._at]

    def skip(self, size: int) -> None:
        self._take(size)

    def number(self, form: str) -> int:
        (value,) = struct.unpack(f">{form}", self._take(struct.calcsize(form)))
        return int(value)

    def flag(self) -> bool:
        return self.number("B") != 0

    def count(self, form: str = "q") -> int:
        found = self.number(form)
        if not 0 <= found <= _MOST:
            raise _Broken
        return found

    def bytes(self, most: int = LARGEST) -> bytes:
        size = self.number("I")
        if size == _NULL:
            return b""
        taken = self._take(size)
        return bytes(taken) if size <= most else b""

    def text(self) -> str:
        size = self.number("I")
        if size == _NULL:
            return ""
        taken = self._take(size)
        return bytes(taken[: 2 * LONGEST_TEXT + 2]).decode("utf-16-be", "replace")

    def texts(self) -> list[str]:
        return [self.text() for _ in range(self.count("I"))]


def read(material: Material, members: Sequence[str], report: Report) -> Iterator[ExchangeChat]:
    for member in members:
        found = _conversation(_Stream(material.data(member)), member, report)
        if found is not None:
            yield found


def _conversation(stream: _Stream, member: str, report: Report) -> ExchangeChat | None:
    blobs = MediaBlobs()
    facts = Facts(blobs=blobs.found)
    seen: list[ReadMessage] = []
    try:
        stream.skip(len(MAGIC))
        version = stream.number("i")
        if not 1 <= version <= _LAST_VERSION:
            report.skip(member, "import-version-unknown", version=version)
            return None
        facts.created_at = time_of(stream.number("q"))
        facts.id, facts.title = stream.text(), " ".join(stream.text().split())
        stream.text()  # the user's name
        facts.model = model_name(stream.text())
        if version > 2:
            stream.texts()  # collections of documents
        _skip_state(stream, version)
        for number in range(stream.count("i")):
            one = _item(stream, version, number, blobs)
            one.parent = seen[-1].id if seen else None
            if one.role is Role.ASSISTANT:
                one.model = facts.model
            seen.append(one)
    except (_Broken, struct.error):
        # the messages up to here are complete
        report.skip(facts.title or member, "import-cut-short", count=len(seen))
    if not facts.id and not seen:
        return None
    return build(SOURCE, facts, renamed(seen, facts), report)


def _skip_state(stream: _Stream, version: int) -> None:
    """Skip the model's saved state, which files had up to version 10."""
    if version > 10:
        return
    with_state = stream.flag() if version >= 6 else True
    if version >= 2:
        stream.number("i")
        stream.number("i")
    stream.text()
    stream.text()
    stream.number("i")
    if not with_state:
        return
    if version < 4:
        stream.number("i")
    stream.number("i")
    if version >= 7:
        stream.number("i")
    if version < 9:
        stream.skip(4 * stream.number("Q"))
    stream.skip(4 * stream.number("Q"))
    stream.bytes(0)


def _item(stream: _Stream, version: int, number: int, blobs: MediaBlobs) -> ReadMessage:
    if version < 12:
        stream.number("i")
    kind = stream.text().strip().rstrip(":")
    value = stream.text()
    if version < 10:
        stream.text()
    stream.text()  # a corrected reply
    stream.flag()
    stopped = stream.flag()
    stream.skip(2)
    if version >= 11 and kind == "Response":
        stream.flag()
    _skip_sources(stream, version)
    files = _attachments(stream, blobs) if version >= 10 else []
    parts: list[Part] = []
    if version >= 12:
        for _ in range(stream.count()):
            parts += _sub_item(stream, 0)
    role = Role.USER if kind == "Prompt" else Role.SYSTEM if kind == "System" else Role.ASSISTANT
    own = thinking_apart(value) if role is Role.ASSISTANT else [TextPart(value)] if value else []
    status = MessageStatus.STOPPED if stopped and role is Role.ASSISTANT else MessageStatus.COMPLETE
    return ReadMessage(f"{number}", None, role, [*files, *parts, *own], status=status)


def _skip_sources(stream: _Stream, version: int) -> None:
    if version >= 8:
        for _ in range(stream.count()):
            for _ in range(7):
                stream.text()
            stream.skip(12)
    elif version >= 3:
        stream.text()
        stream.texts()


def _attachments(stream: _Stream, blobs: MediaBlobs) -> list[Part]:
    found: list[Part] = []
    for _ in range(stream.count()):
        address = stream.bytes().decode("utf-8", "replace")
        data = stream.bytes()
        name = unquote(urlsplit(address).path).rpartition("/")[2] if address else ""
        if data:
            text = data.decode("utf-8", "replace") if b"\0" not in data[:4096] else ""
            found.append(blobs.part(name or "attachment", data, text=text))
    return found


def _sub_item(stream: _Stream, depth: int) -> list[Part]:
    kind = stream.text().strip().rstrip(":")
    if depth > _DEEPEST or kind not in ("Response", "ToolCall", "ToolResponse", "Text", "Think"):
        raise _Broken
    value = stream.text()
    parts: list[Part] = []
    if kind == "ToolCall":
        name, result = _call_info(stream)
        parts = [ToolCallPart("", name, value)]
        if result:
            parts.append(ToolResultPart("", name, result))
    elif kind == "Think":
        stream.number("i")
        inside = value.strip().removeprefix("<think>").removesuffix("</think>").strip()
        parts = [ReasoningPart(inside)] if inside else []
    elif kind != "ToolResponse" and value:
        parts = [TextPart(value)]
    for _ in range(stream.count()):
        parts += _sub_item(stream, depth + 1)
    return parts


def _call_info(stream: _Stream) -> tuple[str, str]:
    """Name and result of a call; its parameters are in the text already."""
    name = stream.text()
    for _ in range(stream.count()):
        stream.text()
        stream.number("i")
        if stream.number("I") != _STRING_VARIANT:
            raise _Broken
        stream.flag()
        stream.text()
    result = stream.text()
    stream.number("i")
    stream.text()
    return name or "tool", result
