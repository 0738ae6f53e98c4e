"""Parts of messages in the database: read and replaced. On the storage thread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, delete, insert, select, text

from headstart.core.chats.parts import Part, PassagePart
from headstart.storage.tables import rows
from headstart.storage.tables.definitions import parts
from headstart.storage.tables.rows import StoredPart


def stored_parts(connection: Connection, message_id: str) -> list[StoredPart]:
    """The parts of a message as they are stored."""
    found = connection.execute(select(parts).where(parts.c.message_id == message_id))
    return [rows.stored_part(row._asdict()) for row in found]


def write_parts(
    connection: Connection, message_id: str, new: Sequence[Part], damaged: bool = False
) -> None:
    """Replace the parts of a message. `damaged`: the old ones were, and the new ones stay marked as
    such."""
    connection.execute(delete(parts).where(parts.c.message_id == message_id))
    values = [
        {"message_id": message_id, "position": position, **rows.part_row(part)}
        for position, part in enumerate(new)
    ]
    if values:
        if damaged and all(rows.stored_part(value).is_sound for value in values):
            values[0]["digest"] = 0
        connection.execute(insert(parts), values)


def passages_of(
    connection: Connection, chat_id: str, ids: Iterable[str]
) -> tuple[PassagePart, ...]:
    """The passages that these messages of a chat were given, in no order."""
    # from the few passages to their messages: a chat may have 10,000 of these
    statement = text(
        "SELECT p.message_id, p.position FROM parts p CROSS JOIN messages m ON m.id = p.message_id"
        " WHERE p.kind = 'passage' AND m.chat_id = :chat"
    )
    wanted = set(ids)
    found: list[PassagePart] = []
    for message_id, position in connection.execute(statement, {"chat": chat_id}).all():
        if message_id not in wanted:
            continue
        same = parts.c.message_id == message_id, parts.c.position == position
        part, sound = rows.part_value(connection.execute(select(parts).where(*same)).one())
        if sound and isinstance(part, PassagePart) and not part.again:
            found.append(part)
    return tuple(found)


def chunks(ids: Sequence[str], size: int = 500) -> Iterable[Sequence[str]]:
    """Slices below SQLite's limit on bound variables."""
    return (ids[start : start + size] for start in range(0, len(ids), size))
