"""Models' replies in earlier chats, for drafts. Rows are read on the storage thread only."""

from __future__ import annotations

import logging
from concurrent.futures import Future

import msgspec
from sqlalchemy import Engine, literal_column, or_, select

from headstart.core.chats.parts import PartKind
from headstart.core.chats.values import Role
from headstart.core.settings.schema import ChatOptions
from headstart.storage.tables.definitions import chats, messages, parts
from headstart.storage.worker import Storage

log = logging.getLogger(__name__)

# most rows examined, from the latest one back: bounds the cost of other models' long histories
_LOOKED_AT = 20_000


def replies_of(engine: Engine, name: str, key: str, most: int) -> list[str]:
    """See `EarlierReplies`; on the storage thread."""
    newest = (
        select(messages.c.id, messages.c.chat_id, messages.c.role, messages.c.model,
               messages.c.model_key, literal_column("messages.rowid").label("at"))
        .order_by(literal_column("messages.rowid").desc())
        .limit(_LOOKED_AT)
        .subquery()
    )  # fmt: skip
    query = (
        select(parts.c.text, chats.c.options)
        .join(newest, newest.c.id == parts.c.message_id)
        .join(chats, chats.c.id == newest.c.chat_id)
        .where(newest.c.role == Role.ASSISTANT.value)
        .where(or_(newest.c.model == name, newest.c.model_key == key))
        .where(parts.c.kind == PartKind.TEXT.value)
        .where(chats.c.deleted_at.is_(None))
        .order_by(newest.c.at.desc(), parts.c.position)
    )
    found: list[str] = []
    with engine.begin() as connection:
        for text, options in connection.execute(query):
            if not _allowed(options):
                continue
            found.append(text)
            most -= len(text)
            if most <= 0:
                break
    return found[::-1]


def _allowed(options: str) -> bool:
    try:
        return msgspec.json.decode(options, type=ChatOptions).keep_on_disk
    except msgspec.MsgspecError:
        return False


class StoredReplies:
    """`core.chats.replies.EarlierReplies` on the storage thread; called on the engine thread."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def of(self, name: str, key: str, most: int) -> Future[list[str]]:
        found = Future[list[str]]()

        def answer(asked: Future[list[str]]) -> None:
            problem = None if asked.cancelled() else asked.exception()
            if problem is not None:
                log.warning("earlier replies could not be read: %s", problem)
            none = asked.cancelled() or problem is not None
            found.set_result([] if none else asked.result())

        try:
            asked = self._storage.submit(lambda _store: self._of(name, key, most))
        except RuntimeError:
            # the storage has been closed
            found.set_result([])
        else:
            asked.add_done_callback(answer)
        return found

    def _of(self, name: str, key: str, most: int) -> list[str]:
        engine = self._storage.engine
        return [] if engine is None else replies_of(engine, name, key, most)
