"""Rows of chats, messages and their text found in the bytes of a damaged database, at any position.
Pure.

A row is recognized by its record header: types and lengths that only such a row has. That requires
none of the pages above it. Text whose own row is damaged is found as a fragment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct, field

from headstart.core.chats.parts import PartKind
from headstart.storage.rescue.pages import Image, Record, header_at
from headstart.storage.tables.definitions import metadata

_KINDS = tuple(kind.value.encode() for kind in PartKind if kind.value)
# serial types of texts with these lengths in a record
_KIND_TYPES = b"".join(b"\\x%02x" % (13 + 2 * length) for length in sorted(set(map(len, _KINDS))))
# a text of 32 characters, like an id; small integers; the name of a kind
_PART = re.compile(rb"[\x06-\x12]\x4d[\x00-\x04\x08\x09](?=[%s])" % _KIND_TYPES)
_MESSAGE = re.compile(rb"[\x0a-\x18]\x4d\x4d(?=[\x4d\x00])")
_CHAT = re.compile(rb"[\x0b-\x1f]\x4d(?=[\x0d-\xff])")
_ID = re.compile(rb"[0-9a-f]{32}")
_ROLES = (b"user", b"assistant", b"system")
# shorter ones occur too often by chance
_LEAST_FRAGMENT = 12
# printable ASCII, line ends, and bytes that may be UTF-8
_PRINTABLE = re.compile(rb"[\t\n\r\x20-\x7e\xc2-\xf4\x80-\xbf]{%d,}" % _LEAST_FRAGMENT)
_KIND = re.compile(b"|".join(_KINDS))
_SPACE = re.compile(r"[ \n]")
_ASCII = re.compile(r"[A-Za-z0-9]")
# kinds of pages that hold keys only, never a text
_INDEX_PAGES = (0x02, 0x0A)
# bytes of an overflow page's link
_LINK = 4
# parts of a row around its text: an id and a kind; origins of drafted text
_OF_ROW = re.compile(
    rf"^.{{0,12}}?[0-9a-f]{{32}}.{{0,2}}?(?:{'|'.join(kind.decode() for kind in _KINDS)})"
    r"|\[(?:\[\d+,\"\w+\"\],?)*\].{0,8}$"
)


class CarvedRows(Struct):
    """Rows found in a file. Values are as in the tables, in the order of the columns."""

    chats: list[Record] = field(default_factory=list)
    messages: list[Record] = field(default_factory=list)
    # rows of parts and of the journal, which look alike
    parts: list[Record] = field(default_factory=list)


def carve(image: Image) -> CarvedRows:
    found = CarvedRows()
    for at in _starts(_PART, image.data):
        record = _record(image, at, (5, 6, 8))
        if record is not None and _is_part(record):
            found.parts.append(record)
    for at in _starts(_MESSAGE, image.data):
        record = _record(image, at, (10, 12, 13))
        if record is not None and _is_message(record):
            found.messages.append(record)
    for at in _starts(_CHAT, image.data):
        record = _record(image, at, (10, 11, 13, 16))
        if record is not None and _is_chat(record):
            found.chats.append(record)
    return found


def fragments(image: Image, found: CarvedRows) -> Iterator[str]:
    """Readable text outside the found rows that may be a user's or a model's."""
    taken = sorted(
        (record.start, record.end) for record in (*found.chats, *found.messages, *found.parts)
    )
    edges = [(0, 0), *taken, (len(image.data), len(image.data))]
    for (_, start), (end, _) in pairwise(edges):
        for match in _PRINTABLE.finditer(image.data, start, max(start, end)):
            page, at = divmod(match.start(), image.page_size)
            if image.data[page * image.page_size] in _INDEX_PAGES:
                continue
            # an overflow page begins with the number of the next one
            first = match.start() + max(0, _LINK - at)
            if _ID.fullmatch(image.data, max(0, first - 33), max(0, first - 1)):
                # a position lies between the id and the kind of a part
                kind = _KIND.match(image.data, first, match.end())
                first = kind.end() if kind else first
            data = image.data[first : match.end()]
            text = _OF_ROW.sub("", data.decode("utf-8", "ignore")).strip()
            if len(text) >= _LEAST_FRAGMENT and not _is_ours(text):
                yield text


def _is_ours(text: str) -> bool:
    """True if a text is the program's own: SQL, ids, measurements, digests."""
    if _OURS.search(text):
        return True
    if not _SPACE.search(text) and len(_ASCII.findall(text)) > len(text) / 3:
        # words of the index stand alone, with numbers between them; Chinese has no spaces
        return True
    letters = sum(character.isalpha() for character in text)
    return letters < len(text) / 4 or re.fullmatch(r"\W*[0-9a-f]{16,}\W*.{0,24}", text) is not None


def _names() -> str:
    """Names of tables and indexes in the file's own schema."""
    names = [table.name for table in metadata.tables.values()]
    names += [str(index.name) for table in metadata.tables.values() for index in table.indexes]
    # a single word may be a user's
    return "|".join(re.escape(name) for name in names if "_" in name)


_OURS = re.compile(
    r"CREATE (TABLE|INDEX|UNIQUE|VIEW|VIRTUAL|TRIGGER)|message_search|"
    r"SQLite format|sqlite_|alembic_|\"(unit|costs|curves)\"|" + _names()
)


def _starts(shape: re.Pattern[bytes], data: bytes) -> Iterator[int]:
    """Positions at which the shape begins, overlapping ones included."""
    match = shape.search(data)
    while match is not None:
        yield match.start()
        match = shape.search(data, match.start() + 1)


def _record(image: Image, at: int, columns: tuple[int, ...]) -> Record | None:
    head = header_at(image.data, at)
    if head is None or len(head[0]) not in columns:
        return None
    return image.record(at, *head)


def _is_part(record: Record) -> bool:
    one, position, kind, text, origins = record.values[:5]
    return (
        _is_id(one)
        and isinstance(position, int)
        and kind in _KINDS
        and isinstance(text, bytes)
        and isinstance(origins, bytes)
        # a torn long text has lost the columns after it
        and (origins.startswith(b"[") or not record.whole)
    )


def _is_message(record: Record) -> bool:
    one, chat, parent, position, role, status = record.values[:6]
    ids = _is_id(one) and _is_id(chat) and (parent is None or _is_id(parent))
    numbers = isinstance(position, int) and isinstance(record.values[6], int)
    if not isinstance(role, bytes) or not isinstance(status, bytes):
        return False
    # a role or a status may have lost a letter, but not both
    return ids and numbers and (role in _ROLES or status.isalpha())


def _is_chat(record: Record) -> bool:
    one, title, by_user, pinned, created, updated = record.values[:6]
    return (
        _is_id(one)
        and isinstance(title, bytes)
        and by_user in (0, 1)
        and pinned in (0, 1)
        and isinstance(created, int)
        and isinstance(updated, int)
        and isinstance(record.values[8], bytes)
    )


def _is_id(value: object) -> bool:
    return isinstance(value, bytes) and _ID.fullmatch(value) is not None
