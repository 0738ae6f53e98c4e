"""Salvages everything readable in a damaged database into a new one. Storage thread.

Three sources, the most reliable first: SQLite itself, as far as it gets; rows found in the file's
bytes; the copies in `backups/`, for rows lost in the file. A message that lost its position in the
tree follows the one before it, and text that lost its message goes into a separate chat.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from sqlalchemy import Engine, Table, insert

from headstart.core.chats.values import MessageStatus, new_id, now_ms
from headstart.storage.rescue import carving
from headstart.storage.rescue.pages import Image, Record
from headstart.storage.tables import definitions as tables
from headstart.storage.tables import rows
from headstart.storage.trees import sound_tree

RECOVERED_CHAT, RECOVERED_TEXT = "Recovered chat", "Recovered text"
_MOST_FRAGMENTS = 2000
Row = dict[str, Any]


class Saved(Struct):
    """Rows by their keys, and statistics of the salvage."""

    chats: dict[str, Row] = field(default_factory=dict)
    messages: dict[str, Row] = field(default_factory=dict)
    parts: dict[tuple[str, int], Row] = field(default_factory=dict)
    journal: dict[tuple[str, int], Row] = field(default_factory=dict)
    turns: dict[int, Row] = field(default_factory=dict)
    folders: dict[str, Row] = field(default_factory=dict)
    unsent: dict[str, Row] = field(default_factory=dict)
    # counts of the rows read, before lost ones were replaced
    readable_messages: int = 0
    readable_chats: int = 0
    from_copies: int = 0
    damaged: int = 0
    loose: list[str] = field(default_factory=list)
    complete: bool = False


def read_damaged(data: bytes, log: bytes, copies: Sequence[Path], expected: int) -> Saved:
    """Remains of a database file and its write-ahead log, which held `expected` messages."""
    saved = Saved()
    image = Image(data, log)
    with _opened(image.data) as connection:
        _read_tables(connection, saved)
    _add_carved(saved, carving.carve(image))
    # pages of a torn log after its last intact commit, and older versions of lost pages
    image = Image.of_every_version(data, log)
    found = carving.carve(image)
    _add_carved(saved, found)
    seen = len(saved.messages)
    for copy in copies:
        with contextlib.suppress(OSError), _opened(copy.read_bytes()) as connection:
            _read_tables(connection, saved)
    saved.from_copies = len(saved.messages) - seen
    saved.damaged = sum(1 for part in saved.parts.values() if not _is_sound(part))
    lost_text = any(not _text_of(saved, one) for one in saved.messages)
    if saved.damaged or lost_text or len(saved.messages) < expected or not seen:
        saved.loose = list(_loose_text(saved, image, found))
    saved.readable_messages = len(saved.messages)
    saved.readable_chats = len(
        set(saved.chats) | {str(row["chat_id"]) for row in saved.messages.values()}
    )
    return saved


def write(saved: Saved, engine: Engine) -> None:
    """Write into an empty database with the current schema, in one transaction. Can be repeated."""
    if not saved.complete:
        _complete(saved)
        saved.complete = True
    with engine.begin() as connection:
        for table, found in (
            (tables.chats, saved.chats.values()),
            (tables.messages, _parents_first(saved)),
            (tables.parts, saved.parts.values()),
            (tables.journal, saved.journal.values()),
            (tables.turns, saved.turns.values()),
            (tables.folders, saved.folders.values()),
            (tables.unsent, saved.unsent.values()),
        ):
            # one by one: a damaged column costs its row at most
            for row in found:
                with contextlib.suppress(Exception), connection.begin_nested():
                    connection.execute(insert(table).values(**row))


# --- reading -----------------------------------------------------------------------------


@contextlib.contextmanager
def _opened(data: bytes) -> Iterator[sqlite3.Connection]:
    """The bytes as a database in memory; the disk is not touched."""
    connection = sqlite3.connect(":memory:")
    try:
        if len(data) >= 100:
            data = data[:18] + b"\1\1" + data[20:]
            with contextlib.suppress(sqlite3.Error):
                connection.deserialize(data)
        # text that is not UTF-8 is still text
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        connection.row_factory = sqlite3.Row
        yield connection
    finally:
        connection.close()


def _read_tables(connection: sqlite3.Connection, saved: Saved) -> None:
    """Read new rows, as far as SQLite gets, from both ends of each table."""
    places: tuple[tuple[Table, dict[Any, Row], tuple[str, ...]], ...] = (
        (tables.chats, saved.chats, ("id",)),
        (tables.messages, saved.messages, ("id",)),
        (tables.parts, saved.parts, ("message_id", "position")),
        (tables.journal, saved.journal, ("message_id", "seq")),
        (tables.turns, saved.turns, ("id",)),
        (tables.folders, saved.folders, ("path",)),
        (tables.unsent, saved.unsent, ("chat_id",)),
    )
    for table, known, keys in places:
        # the file's column names, and this version's
        columns = {column.name: column.key for column in table.columns}
        for order in ("", " ORDER BY rowid DESC"):
            with contextlib.suppress(sqlite3.Error, OverflowError, UnicodeError):
                for found in connection.execute(f"SELECT * FROM {table.name}{order}"):
                    row = {
                        columns[name]: found[name]
                        for name in found.keys()  # noqa: SIM118
                        if name in columns
                    }
                    key = tuple(row.get(name) for name in keys)
                    if None in key:
                        continue
                    one = key[0] if len(key) == 1 else key
                    if one not in known or (table is tables.parts and _better(row, known[one])):
                        known[one] = row


def _add_carved(saved: Saved, found: carving.CarvedRows) -> None:
    for record in found.chats:
        row = _row(tables.chats, record)
        saved.chats.setdefault(row["id"], row)
    for record in found.messages:
        row = _row(tables.messages, record)
        saved.messages.setdefault(row["id"], row)
    for record in found.parts:
        row = _row(tables.parts, record)
        key = row["message_id"], row["position"]
        known = saved.parts.get(key)
        if known is None and key in saved.journal:
            continue
        if known is None or _better(row, known):
            saved.parts[key] = row


def _row(table: Table, record: Record) -> Row:
    names = table.columns.keys()
    return {
        name: value.decode("utf-8", "replace") if isinstance(value, bytes) else value
        for name, value in zip(names, record.values, strict=False)
    }


def _is_sound(part: Row) -> bool:
    return rows.stored_part(part).is_sound


def _better(one: Row, other: Row) -> bool:
    """True if the newly found version of a part is more complete than the known one."""
    if _is_sound(one) != _is_sound(other):
        return _is_sound(one)
    return not _is_sound(other) and len(one["text"].strip("\0")) > len(other["text"].strip("\0"))


def _text_of(saved: Saved, message_id: str) -> bool:
    status = saved.messages[message_id].get("status")
    if status in (MessageStatus.OPEN.value, MessageStatus.FAILED.value):
        return True
    found = [position for one, position in saved.parts if one == message_id]
    # a gap means a lost part
    whole = bool(found) and sorted(found) == list(range(len(found)))
    return whole or any(key[0] == message_id for key in saved.journal)


def _loose_text(saved: Saved, image: Image, found: carving.CarvedRows) -> Iterator[str]:
    """Text in the file outside all rows."""
    known = "\n".join(
        str(row.get(name) or "")
        for table in (saved.parts, saved.journal, saved.chats, saved.messages)
        for row in table.values()
        for name in ("text", "title", "options", "origins", "model", "error")
    )
    told: set[str] = set()
    for text in carving.fragments(image, found):
        # the first and last character may be bytes of the row around the text
        if len(told) >= _MOST_FRAGMENTS:
            return
        if text not in told and text not in known and text[1:-1] not in known:
            told.add(text)
            yield text


# --- completion --------------------------------------------------------------------------


def _complete(saved: Saved) -> None:
    """Give every message a chat and a position, and every text a message."""
    now = now_ms()
    for one in {key[0] for key in (*saved.parts, *saved.journal)} - set(saved.messages):
        chat_id = _loose_chat(saved, RECOVERED_CHAT, now)
        _add_message(saved, one, chat_id, now)
    if saved.loose:
        chat_id = _loose_chat(saved, RECOVERED_TEXT, now)
        for text in saved.loose:
            one = new_id()
            _add_message(saved, one, chat_id, now)
            saved.parts[one, 0] = _part(one, text)
    for chat_id in {row["chat_id"] for row in saved.messages.values()} - set(saved.chats):
        saved.chats[chat_id] = _chat(chat_id, _first_words(saved, chat_id), now)
    by_chat: dict[str, list[_Node]] = {}
    for one, row in saved.messages.items():
        node = _Node(
            one,
            row.get("parent_id"),
            _whole(row.get("position")),
            row.get("active_child_id"),
        )
        by_chat.setdefault(row["chat_id"], []).append(node)
    for chat_id, nodes in by_chat.items():
        tree = sound_tree(nodes, saved.chats[chat_id].get("active_root_id"))
        for node in nodes:
            row = saved.messages[node.id]
            row["parent_id"] = tree.parents[node.id]
            row["active_child_id"] = tree.active.get(node.id)
            _fill(row, now)
        saved.chats[chat_id]["active_root_id"] = tree.active.get(None)
        saved.chats[chat_id]["shown"] = len(tree.branch())
    for chat in saved.chats.values():
        for name, value in _chat("", RECOVERED_CHAT, now).items():
            if chat.get(name) is None and name not in (
                "deleted_at",
                "model",
                "active_root_id",
                "shown",
            ):
                chat[name] = value
    for one, row in saved.messages.items():
        for position in _gaps(saved, one, row.get("role") == "user"):
            # marked as damaged when shown, and no reason to salvage again
            saved.parts[one, position] = {**_part(one, ""), "position": position, "digest": 0}
    for part in saved.parts.values():
        # a damaged file stays marked: its digest does not match
        for name in ("data", "blob"):
            part.setdefault(name, None)
        part.setdefault("digest", rows.stored_part(part).whole_digest())


def _gaps(saved: Saved, message_id: str, has_text: bool) -> list[int]:
    """Positions of a message's lost parts: those before others, or the only one."""
    found = {position for one, position in saved.parts if one == message_id}
    last = max(found, default=0 if has_text else -1)
    return [position for position in range(last + 1) if position not in found]


class _Node(Struct, frozen=True):
    id: str
    parent_id: str | None
    position: int
    active_child_id: str | None


def _fill(row: Row, now: int) -> None:
    row["position"] = _whole(row.get("position"))
    for name, value in (("role", "?"), ("status", "?"), ("created_at", now)):
        if row.get(name) is None:
            row[name] = value
    for name in ("model_host", "model_key"):
        row.setdefault(name, None)


def _loose_chat(saved: Saved, title: str, now: int) -> str:
    for key, row in saved.chats.items():
        if row["title"] == title and row.get("options") == "{}":
            return key
    chat_id = new_id()
    saved.chats[chat_id] = _chat(chat_id, title, now)
    return chat_id


def _add_message(saved: Saved, one: str, chat_id: str, now: int) -> None:
    saved.messages[one] = {
        "id": one,
        "chat_id": chat_id,
        "parent_id": None,
        "position": now + len(saved.messages),
        "role": "assistant",
        "status": MessageStatus.STOPPED.value,
        "created_at": now,
        "model": None,
        "error": None,
        "active_child_id": None,
    }
    siblings = [row for row in saved.messages.values() if row["chat_id"] == chat_id]
    if len(siblings) > 1:
        # in sequence, so that all of them are shown
        saved.messages[one]["parent_id"] = siblings[-2]["id"]
        siblings[-2]["active_child_id"] = one


def _chat(chat_id: str, title: str, now: int) -> Row:
    return {
        "id": chat_id,
        "title": title,
        "titled_by_user": False,
        "pinned": False,
        "created_at": now,
        "updated_at": now,
        "deleted_at": None,
        "model": None,
        "options": "{}",
        "active_root_id": None,
        "shown": None,
    }


def _part(message_id: str, text: str) -> Row:
    return {
        "message_id": message_id,
        "position": 0,
        "kind": "text",
        "text": text,
        "origins": "[]",
        "digest": rows.digest_of(text),
    }


def _first_words(saved: Saved, chat_id: str) -> str:
    ordered = sorted(
        (row for row in saved.messages.values() if row["chat_id"] == chat_id),
        key=lambda row: _whole(row.get("position")),
    )
    for row in ordered:
        text = " ".join(str(saved.parts.get((row["id"], 0), {}).get("text", "")).split())
        if text:
            return text[:40]
    return RECOVERED_CHAT


def _parents_first(saved: Saved) -> Iterable[Mapping[str, Any]]:
    return sorted(saved.messages.values(), key=lambda row: (row["chat_id"], row["position"]))


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0
