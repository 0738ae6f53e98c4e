"""Metadata of stored KV state; the table, used on the storage thread only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from sqlalchemy import Engine, bindparam, delete, func, select, update
from sqlalchemy.dialects.sqlite import insert

from headstart.core.prefixes import IndexState, RecordInfo, RecordKind
from headstart.storage.tables.definitions import (
    chats,
    prefix_records,
    prefix_reply_tokens,
    prefix_traces,
    prefix_uses,
    prefix_written,
)

# number of days for which "written today" is kept
KEPT_DAYS = 30


class PrefixTable:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def load(self) -> IndexState:
        """The whole index, after dropping the uses of purged chats."""
        with self._engine.begin() as connection:
            connection.execute(
                delete(prefix_uses).where(prefix_uses.c.chat_id.not_in(select(chats.c.id)))
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
        with self._engine.begin() as connection:
            connection.execute(delete(prefix_uses).where(prefix_uses.c.chat_id == chat_id))
            for table in (prefix_traces, prefix_reply_tokens):
                connection.execute(delete(table).where(table.c.chat_id == chat_id))

    def release(self, chat_id: str, key: bytes) -> None:
        with self._engine.begin() as connection:
            connection.execute(
                delete(prefix_uses).where(
                    prefix_uses.c.chat_id == chat_id, prefix_uses.c.key == key
                )
            )

    def load_trace(self, chat_id: str) -> bytes | None:
        with self._engine.begin() as connection:
            data = connection.execute(
                select(prefix_traces.c.data).where(prefix_traces.c.chat_id == chat_id)
            ).scalar()
        return None if data is None else str(data).encode()

    def load_reply_tokens(self, chat_id: str) -> list[tuple[bytes, bytes]]:
        table = prefix_reply_tokens.c
        with self._engine.begin() as connection:
            rows = connection.execute(
                select(table.digest, table.tokens).where(table.chat_id == chat_id)
            )
            return [(row.digest, row.tokens) for row in rows]

    def save_reply_tokens(self, chat_id: str, digest: bytes, tokens: bytes) -> None:
        values = insert(prefix_reply_tokens).values(chat_id=chat_id, digest=digest, tokens=tokens)
        with self._engine.begin() as connection:
            there = connection.execute(
                select(func.count()).select_from(chats).where(chats.c.id == chat_id)
            ).scalar()
            if there:
                connection.execute(values.prefix_with("OR REPLACE"))

    def save_trace(self, chat_id: str, data: bytes) -> None:
        row = insert(prefix_traces).values(chat_id=chat_id, data=data.decode())
        with self._engine.begin() as connection:
            there = connection.execute(
                select(func.count()).select_from(chats).where(chats.c.id == chat_id)
            ).scalar()
            if there:
                connection.execute(
                    row.on_conflict_do_update(
                        index_elements=["chat_id"], set_={"data": row.excluded.data}
                    )
                )
