"""Import and export of whole chats, many at once. On the storage thread.

A chat is imported with all its messages or not at all. An existing chat gets the messages that it
lacks; its own stay unchanged, except that a shown branch may continue.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Connection, Engine, func, insert, select, update

from headstart.core.chats.bounds import moment_of
from headstart.core.chats.parts import Part, joined
from headstart.core.chats.tree import ChatTree, KnownChat
from headstart.core.chats.values import Message, TurnStats
from headstart.storage.chats import insert_chat
from headstart.storage.database import durable
from headstart.storage.messages import MessageTable
from headstart.storage.search import indexed_later
from headstart.storage.tables import rows
from headstart.storage.tables.definitions import chats, messages, parts, turns

# below SQLite's limit on bound variables
_CHUNK = 500


class TransferTable:
    def __init__(self, engine: Engine, table: MessageTable) -> None:
        self._engine = engine
        self._table = table
        self._version: int | None = None

    def changed_elsewhere(self) -> bool:
        """True if another program has written to the database since the last call; drops the cached
        trees then."""
        with self._engine.connect() as connection:
            version = connection.exec_driver_sql("PRAGMA data_version").scalar()
        changed = self._version is not None and version != self._version
        self._version = version
        if changed:
            self._table.forget_all()
        return changed

    # --- import --------------------------------------------------------------------------

    def known(self, trees: Iterable[tuple[str, Sequence[str]]]) -> dict[str, KnownChat]:
        """Existing chats, by id, with the number of the given messages that they have."""
        wanted = dict(trees)
        found: dict[str, KnownChat] = {}
        with self._engine.begin() as connection:
            for ids in _chunks(list(wanted)):
                there = select(chats.c.id, chats.c.deleted_at).where(chats.c.id.in_(ids))
                for row in connection.execute(there):
                    have = _message_ids(connection, row.id)
                    count = sum(one in have for one in wanted[row.id])
                    found[row.id] = KnownChat(count, row.deleted_at is not None)
        return found

    def add(self, trees: Sequence[ChatTree]) -> None:
        """Store chats, all in one transaction, and wait for the disk."""
        durable(self._engine, True)
        try:
            with self._engine.begin() as connection:
                batch = _Batch()
                for tree in trees:
                    self._add(connection, tree, batch)
                with indexed_later(connection):
                    batch.write(connection)
        finally:
            durable(self._engine, False)
            for tree in trees:
                self._table.forget(tree.chat.id)
        self._table.on_stored()

    def _add(self, connection: Connection, tree: ChatTree, batch: _Batch) -> None:
        chat = tree.chat
        elsewhere = _in_other_chats(connection, tree) | batch.in_other_chats(tree)
        if elsewhere:
            # a copy that the user made by hand
            tree = _with_own_ids(tree, elsewhere)
        row = connection.execute(select(chats).where(chats.c.id == chat.id)).first()
        if row is None:
            # all new chats of a batch are inserted before their messages
            insert_chat(connection, chat)
            active, have, place = dict(tree.active), set[str](), 0
            shown, root = _shown(tree.messages, active), active.get(None)
            values: dict[str, Any] = {
                "extra": tree.extra or None, "active_root_id": root, "shown": shown
            }  # fmt: skip
        else:
            have = _message_ids(connection, chat.id)
            new = [message for message in tree.messages if message.id not in have]
            # importing a chat takes it out of the trash
            values = {"deleted_at": None}
            if not new:
                self._update(connection, chat.id, values)
                return
            place = (
                connection.execute(
                    select(func.max(messages.c.position)).where(messages.c.chat_id == chat.id)
                ).scalar()
                or 0
            )
            active, values["shown"] = self._go_on(connection, chat.id, row.active_root_id, new)
            values["updated_at"] = max(moment_of(row.updated_at), chat.updated_at)
        for message in tree.messages:
            if message.id not in have:
                place += 1
                batch.add(message, place, active.get(message.id), tree.of_messages)
        self._update(connection, chat.id, values)

    def _go_on(
        self, connection: Connection, chat_id: str, root: str | None, new: Sequence[Message]
    ) -> tuple[dict[str | None, str], int]:
        """The shown children after new messages are added, and the number of shown messages then;
        an old message without a child shows its first one."""
        found = connection.execute(
            select(messages.c.id, messages.c.active_child_id).where(messages.c.chat_id == chat_id)
        )
        active: dict[str | None, str] = {row[0]: row[1] for row in found if row[1] is not None}
        if root is not None:
            active[None] = root
        for message in new:
            if message.parent_id not in active:
                active[message.parent_id] = message.id
                connection.execute(
                    update(messages)
                    .where(messages.c.id == message.parent_id)
                    .values(active_child_id=message.id)
                )
        count, at = 0, active.get(None)
        while at is not None:
            count, at = count + 1, active.get(at)
        return active, count

    @staticmethod
    def _update(connection: Connection, chat_id: str, values: Mapping[str, Any]) -> None:
        connection.execute(update(chats).where(chats.c.id == chat_id).values(**values))

    # --- export --------------------------------------------------------------------------

    def read(self, chat_id: str) -> ChatTree | None:
        """A whole chat without its blobs; None if it does not exist or is in the trash."""
        with self._engine.begin() as connection:
            there = (chats.c.id == chat_id, chats.c.deleted_at.is_(None))
            row = connection.execute(select(chats).where(*there)).first()
            if row is None:
                return None
            tree = self._table.tree(connection, chat_id)
            inside = messages.c.chat_id == chat_id
            found = {one.id: one for one in connection.execute(select(messages).where(inside))}
            own = select(messages.c.id).where(inside)
            of_parts: dict[str, list[tuple[Part, bool]]] = defaultdict(list)
            for one in connection.execute(
                select(parts).where(parts.c.message_id.in_(own)).order_by(parts.c.position)
            ):
                of_parts[one.message_id].append(rows.part_value(one))
            of_turns: dict[str, TurnStats | None] = {}
            for one in connection.execute(
                select(turns).where(turns.c.message_id.in_(own)).order_by(turns.c.id)
            ):
                of_turns[one.message_id] = rows.stats_value(one)
            values = [
                rows.message_value(found[key], of_parts[key], of_turns.get(key), 1, 1, parent)
                for key, parent in tree.parents.items()
            ]
            extras = {key: one.extra for key, one in found.items() if one.extra}
            return ChatTree(
                rows.chat_value(row), tuple(values), dict(tree.active), row.extra or "", extras
            )

    def ids(self) -> list[str]:
        """Every chat outside the trash, the last used first."""
        there = select(chats.c.id).where(chats.c.deleted_at.is_(None))
        with self._engine.begin() as connection:
            return list(connection.execute(there.order_by(chats.c.updated_at.desc())).scalars())


class _Batch:
    """Rows of many messages, written together: one statement for each takes three times as long."""

    def __init__(self) -> None:
        self._messages: list[dict[str, Any]] = []
        self._chats: dict[str, str] = {}
        self._parts: list[dict[str, Any]] = []
        self._turns: list[dict[str, Any]] = []

    def in_other_chats(self, tree: ChatTree) -> set[str]:
        """Ids of its messages that another chat of this batch has."""
        chat = tree.chat.id
        return {one.id for one in tree.messages if self._chats.get(one.id, chat) != chat}

    def add(
        self, message: Message, place: int, child: str | None, extras: Mapping[str, str]
    ) -> None:
        self._chats[message.id] = message.chat_id
        self._messages.append(
            {
                "id": message.id,
                "chat_id": message.chat_id,
                "parent_id": message.parent_id,
                "position": place,
                "role": message.role.value,
                "status": message.status.value,
                "created_at": message.created_at,
                "model": message.model,
                "error": message.error,
                "active_child_id": child,
                "model_host": message.model_host,
                "model_key": message.model_key,
                "extra": extras.get(message.id) or None,
            }
        )
        self._parts += [
            {"message_id": message.id, "position": number, **rows.part_row(part)}
            for number, part in enumerate(joined(message.parts))
        ]
        if message.stats is not None:
            ended = {"message_id": message.id, "ended_at": message.created_at}
            self._turns.append({**_NO_TURN, **ended, **rows.stats_row(message.stats)})

    def write(self, connection: Connection) -> None:
        for table, values in (
            (messages, self._messages),
            (parts, self._parts),
            (turns, self._turns),
        ):
            if values:
                connection.execute(insert(table), values)


# rows that are written together have the same columns
_NO_TURN: dict[str, Any] = {
    column.key: None for column in turns.columns if column.nullable and not column.primary_key
}


def _in_other_chats(connection: Connection, tree: ChatTree) -> set[str]:
    """Ids of its messages that belong to other chats."""
    found: set[str] = set()
    for ids in _chunks([message.id for message in tree.messages]):
        query = select(messages.c.id).where(
            messages.c.id.in_(ids), messages.c.chat_id != tree.chat.id
        )
        found.update(connection.execute(query).scalars())
    return found


def _with_own_ids(tree: ChatTree, taken: set[str]) -> ChatTree:
    """The same tree with new ids for some messages, derived the same way each time."""

    def own(one: str) -> str:
        if one not in taken:
            return one
        return hashlib.blake2b(f"{tree.chat.id}/{one}".encode(), digest_size=16).hexdigest()

    values = tuple(
        replace(
            message,
            id=own(message.id),
            parent_id=own(message.parent_id) if message.parent_id is not None else None,
        )
        for message in tree.messages
    )
    active = {
        own(above) if above is not None else None: own(below)
        for above, below in tree.active.items()
    }
    extras = {own(one): extra for one, extra in tree.of_messages.items()}
    return replace(tree, messages=values, active=active, of_messages=extras)


def _message_ids(connection: Connection, chat_id: str) -> set[str]:
    query = select(messages.c.id).where(messages.c.chat_id == chat_id)
    return set(connection.execute(query).scalars())


def _shown(values: Sequence[Message], active: Mapping[str | None, str]) -> int:
    """Number of shown messages; `active` names a child for each message that has some."""
    known = {message.id for message in values}
    count, at = 0, active.get(None)
    while at in known:
        count, at = count + 1, active.get(at)
    return count


def _chunks(ids: Sequence[str]) -> Iterable[Sequence[str]]:
    return (ids[start : start + _CHUNK] for start in range(0, len(ids), _CHUNK))
