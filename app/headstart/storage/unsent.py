"""Typed but unsent text with its attachments, by chat. On the storage thread."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Engine, Row, delete, select
from sqlalchemy.dialects.sqlite import insert

from headstart.core.chats.parts import OtherPart, WrittenPart, needed_blobs
from headstart.core.chats.unsent import Unsent
from headstart.core.chats.values import ChatDraft, now_ms
from headstart.storage.tables import rows
from headstart.storage.tables.definitions import chats, unsent


class UnsentTable:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def all(self) -> list[Unsent]:
        """All unsent texts, of existing chats and of new ones; the last written first."""
        gone = select(chats.c.id).where(chats.c.deleted_at.is_(None))
        query = (
            select(unsent)
            .where(unsent.c.begun.is_not(None) | unsent.c.chat_id.in_(gone))
            .order_by(unsent.c.updated_at.desc())
        )
        with self._engine.begin() as connection:
            return [_unsent(row) for row in connection.execute(query)]

    def used_blobs(self) -> set[str]:
        """The digests of blobs that unsent messages refer to."""
        return {digest for one in self.all() for digest in needed_blobs(one.parts)}

    def save(self, value: Unsent) -> None:
        """Store the value; an empty one is deleted."""
        with self._engine.begin() as connection:
            if not value:
                connection.execute(delete(unsent).where(unsent.c.chat_id == value.chat_id))
                return
            values = {
                "text": value.text,
                "parts": json.dumps([rows.part_row(part) for part in value.parts]),
                "begun": _encoded(value.begun),
                "updated_at": now_ms(),
            }
            connection.execute(
                insert(unsent)
                .values(chat_id=value.chat_id, **values)
                .on_conflict_do_update(index_elements=["chat_id"], set_=values)
            )


def _unsent(row: Row[Any]) -> Unsent:
    """Build the value; other programs may have written numbers in place of text."""
    text = str(row.text or "")
    return Unsent(row.chat_id, text, _parts(row.parts), _begun(row.chat_id, row.begun))


def _parts(text: str) -> tuple[OtherPart, ...]:
    """The readable ones."""
    found: list[OtherPart] = []
    try:
        values = json.loads(text)
    except ValueError:
        return ()
    for value in values if isinstance(values, list) else []:
        if isinstance(value, dict):
            part, _sound = rows.part_of(rows.stored_part(value), str(value.get("origins", "[]")))
            if not isinstance(part, WrittenPart):
                found.append(part)
    return tuple(found)


def _encoded(begun: ChatDraft | None) -> str | None:
    if begun is None:
        return None
    options = json.loads(rows.encode_options(begun.options))
    return json.dumps({"model": begun.model, "options": options, "folder": begun.folder})


def _begun(chat_id: str, text: str | None) -> ChatDraft | None:
    try:
        value: Any = json.loads(text) if text else None
    except ValueError:
        return ChatDraft(chat_id)
    if not isinstance(value, dict):
        return None
    return ChatDraft(
        chat_id,
        model=value.get("model"),
        options=rows.decode_options(json.dumps(value.get("options") or {})),
        folder=str(value.get("folder") or ""),
    )
