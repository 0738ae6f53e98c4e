"""Metadata of stored KV state; the table, used on the storage thread only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct
from sqlalchemy import Connection, Engine, Table, bindparam, delete, func, select, update
from sqlalchemy.dialects.sqlite import insert

from headstart.core.chats.values import now_ms
from headstart.core.prefixes import IndexState, RecordInfo, RecordKind
from headstart.core.serving.session import KEPT_MS, is_beside
from headstart.storage.tables.definitions import (
    chats,
    prefix_records,
    prefix_reply_tokens,
    prefix_traces,
    prefix_uses,
    prefix_written,
    server_reply_tokens,
    server_sessions,
    server_traces,
)

# number of days for which "written today" is kept
KEPT_DAYS = 30


class PrefixTable:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def load(self) -> IndexState:
        """The whole index, after dropping the uses of purged chats and of old sessions."""
        with self._engine.begin() as connection:
            old = server_sessions.c.used_at < now_ms() - KEPT_MS
            connection.execute(delete(server_sessions).where(old))
            connection.execute(
                delete(prefix_uses).where(
                    prefix_uses.c.chat_id.not_in(select(chats.c.id)),
                    prefix_uses.c.chat_id.not_in(select(server_sessions.c.id)),
                )
            )
            records = [
                RecordInfo(
                    row.key,
                    row.parent,
                    row.namespace,
                    RecordKind(row.kind),
                    row.start,
                    row.tokens,
                    row.size,
                    row.used,
                )
                for row in connection.execute(select(prefix_records))
            ]
            uses = [(row.chat_id, row.key) for row in connection.execute(select(prefix_uses))]
            written = {row.day: row.bytes for row in connection.execute(select(prefix_written))}
        return IndexState(records, uses, written)

    def add(self, record: RecordInfo, chat_ids: Iterable[str], day: str) -> None:
        written = insert(prefix_written).values(day=day, bytes=record.size)
        with self._engine.begin() as connection:
            values = {
                "key": record.key,
                "parent": record.parent,
                "namespace": record.namespace,
                "kind": record.kind.value,
                "start": record.start,
                "tokens": record.tokens,
                "size": record.size,
                "used": record.used,
            }
            connection.execute(insert(prefix_records).values(values).on_conflict_do_nothing())
            for chat_id in chat_ids:
                self._use(connection.execute, chat_id, [record.key])
            connection.execute(
                written.on_conflict_do_update(
                    index_elements=["day"],
                    set_={"bytes": prefix_written.c.bytes + written.excluded.bytes},
                )
            )
            days = select(prefix_written.c.day).order_by(prefix_written.c.day.desc())
            connection.execute(
                delete(prefix_written).where(prefix_written.c.day.not_in(days.limit(KEPT_DAYS)))
            )

    def use(self, chat_id: str, keys: Iterable[bytes]) -> None:
        with self._engine.begin() as connection:
            self._use(connection.execute, chat_id, keys)

    @staticmethod
    def _use(execute: Callable[..., object], chat_id: str, keys: Iterable[bytes]) -> None:
        # skip records that were removed meanwhile
        for key in keys:
            there = select(bindparam("chat", chat_id), prefix_records.c.key).where(
                prefix_records.c.key == key
            )
            execute(
                insert(prefix_uses).from_select(["chat_id", "key"], there).prefix_with("OR IGNORE")
            )

    def touch(self, stamps: Mapping[bytes, int]) -> None:
        with self._engine.begin() as connection:
            for key, stamp in stamps.items():
                connection.execute(
                    update(prefix_records).where(prefix_records.c.key == key).values(used=stamp)
                )

    def remove(self, keys: Iterable[bytes]) -> None:
        with self._engine.begin() as connection:
            for key in keys:
                connection.execute(delete(prefix_records).where(prefix_records.c.key == key))

    def forget_chat(self, chat_id: str) -> None:
        kept = _Kept.of(chat_id)
        with self._engine.begin() as connection:
            connection.execute(delete(prefix_uses).where(prefix_uses.c.chat_id == chat_id))
            for table in (kept.traces, kept.tokens):
                connection.execute(delete(table).where(table.c.chat_id == chat_id))

    def release(self, chat_id: str, key: bytes) -> None:
        with self._engine.begin() as connection:
            connection.execute(
                delete(prefix_uses).where(
                    prefix_uses.c.chat_id == chat_id, prefix_uses.c.key == key
                )
            )

    def load_trace(self, chat_id: str) -> bytes | None:
        table = _Kept.of(chat_id).traces.c
        with self._engine.begin() as connection:
            data = connection.execute(select(table.data).where(table.chat_id == chat_id)).scalar()
        return None if data is None else str(data).encode()

    def load_reply_tokens(self, chat_id: str) -> list[tuple[bytes, bytes]]:
        table = _Kept.of(chat_id).tokens.c
        with self._engine.begin() as connection:
            rows = connection.execute(
                select(table.digest, table.tokens).where(table.chat_id == chat_id)
            )
            return [(row.digest, row.tokens) for row in rows]

    def save_reply_tokens(self, chat_id: str, digest: bytes, tokens: bytes) -> None:
        kept = _Kept.of(chat_id)
        values = insert(kept.tokens).values(chat_id=chat_id, digest=digest, tokens=tokens)
        with self._engine.begin() as connection:
            if kept.has(connection, chat_id):
                connection.execute(values.prefix_with("OR REPLACE"))

    def forget_reply_tokens(self, chat_id: str, digest: bytes) -> None:
        table = _Kept.of(chat_id).tokens
        with self._engine.begin() as connection:
            connection.execute(
                delete(table).where(table.c.chat_id == chat_id, table.c.digest == digest)
            )

    def save_trace(self, chat_id: str, data: bytes) -> None:
        kept = _Kept.of(chat_id)
        row = insert(kept.traces).values(chat_id=chat_id, data=data.decode())
        with self._engine.begin() as connection:
            if kept.has(connection, chat_id):
                connection.execute(
                    row.on_conflict_do_update(
                        index_elements=["chat_id"], set_={"data": row.excluded.data}
                    )
                )


class _Kept(Struct, frozen=True):
    """The tables of chats, or those of other programs' sessions and of documents."""

    owners: Table
    traces: Table
    tokens: Table

    @staticmethod
    def of(owner: str) -> _Kept:
        if is_beside(owner):
            return _Kept(server_sessions, server_traces, server_reply_tokens)
        return _Kept(chats, prefix_traces, prefix_reply_tokens)

    def has(self, connection: Connection, owner: str) -> bool:
        table = self.owners
        wanted = select(func.count()).select_from(table).where(table.c.id == owner)
        return bool(connection.execute(wanted).scalar())
