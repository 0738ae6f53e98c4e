"""The message tree, turns and the journal of an unfinished reply. On the storage thread.

A branch is the path from a root down the active children. Nothing in this module removes text: an
edit or another try adds a sibling and makes it the active one.
"""

from __future__ import annotations

import contextlib
import logging
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, Row, delete, func, insert, select, update
from sqlalchemy.exc import SQLAlchemyError

from headstart.core.chats.parts import Part, joined
from headstart.core.chats.values import (
    PAGE,
    BranchPage,
    Chat,
    Message,
    MessageStatus,
    TurnStats,
    now_ms,
)
from headstart.storage.chats import insert_chat
from headstart.storage.database import durable
from headstart.storage.part_rows import chunks, passages_of, stored_parts, write_parts
from headstart.storage.tables import rows
from headstart.storage.tables.definitions import chats, journal, messages, parts, turns
from headstart.storage.tables.rows import StoredPart
from headstart.storage.trees import SoundTree, sound_tree

log = logging.getLogger(__name__)

# relative to a damaged text's length: bytes that are no longer characters count differently
_SAME_LENGTH = 0.9
# number of cached trees
_TREES = 4


class MessageTable:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # of the most recently used chats
        self._trees: OrderedDict[str, SoundTree] = OrderedDict()
        self._repaired: list[str] = []
        # finds a damaged text, by message and position, in the copies of the database
        self.find_copy: Callable[[str, int], list[StoredPart]] = lambda *_: []
        # called after messages were stored
        self.on_stored: Callable[[], None] = lambda: None

    def add(self, new: Sequence[Message], chat: Chat | None = None) -> None:
        """Store messages and make each the active child of its parent, all or nothing.

        `chat` is created before them, in the same transaction.

        Waits for the disk: from then on the user's text survives a power cut.
        """
        durable(self._engine, True)
        try:
            with self.changing() as connection:
                if chat is not None:
                    insert_chat(connection, chat)
                for message in new:
                    self._add(connection, message)
                for chat_id in {message.chat_id for message in new}:
                    self.note_shown(connection, chat_id)
        finally:
            durable(self._engine, False)
        self.on_stored()

    def reopen(self, message_id: str) -> None:
        """Open a stored message again, to continue it."""
        with self._engine.begin() as connection:
            connection.execute(
                update(messages)
                .where(messages.c.id == message_id)
                .values(status=MessageStatus.OPEN.value, error=None)
            )

    def set_parts(self, message_id: str, new: Sequence[Part]) -> None:
        """Replace the parts of a message."""
        with self._engine.begin() as connection:
            damaged = any(not part.is_sound for part in stored_parts(connection, message_id))
            write_parts(connection, message_id, joined(new), damaged)

    def branch(self, chat_id: str) -> list[Message]:
        """The chat's active messages from the root to the leaf, with parts and latest stats."""
        return self.page(chat_id, count=0).messages

    def page(self, chat_id: str, before: str | None = None, count: int = PAGE) -> BranchPage:
        """The last `count` messages of the branch, or of the part before `before`; 0: all.

        A damaged tree is repaired first; `take_repaired` reports it.
        """
        with self._engine.begin() as connection:
            tree = self.tree(connection, chat_id)
            ids = tree.branch()
            end = ids.index(before) if before in ids else len(ids)
            first = max(0, end - count) if count else 0
            values = self.values(connection, tree, ids[first:end])
            given = passages_of(connection, chat_id, ids[:first]) if first else ()
            return BranchPage(values, first, tree.leaves, given)

    def get(self, message_id: str) -> Message | None:
        """One message; None if it does not exist."""
        with self._engine.begin() as connection:
            chat_id = connection.execute(
                select(messages.c.chat_id).where(messages.c.id == message_id)
            ).scalar()
            if chat_id is None:
                return None
            found = self.values(connection, self.tree(connection, chat_id), [message_id])
        return found[0] if found else None

    def values(self, connection: Connection, tree: SoundTree, ids: Sequence[str]) -> list[Message]:
        """Messages by their ids, in that order; missing ones are skipped."""
        by_id: dict[str, Row[Any]] = {}
        found: dict[str, list[tuple[Part, bool]]] = defaultdict(list)
        stats: dict[str, TurnStats | None] = {}
        for chunk in chunks(ids):
            for row in connection.execute(select(messages).where(messages.c.id.in_(chunk))):
                by_id[row.id] = row
            for row in connection.execute(
                select(parts)
                .where(parts.c.message_id.in_(chunk))
                .order_by(parts.c.message_id, parts.c.position)
            ):
                found[row.message_id].append(self._part(connection, row))
            for row in connection.execute(
                select(turns).where(turns.c.message_id.in_(chunk)).order_by(turns.c.id)
            ):
                stats[row.message_id] = rows.stats_value(row)
        result = []
        for one in ids:
            if one not in by_id:
                continue
            parent = tree.parents[one]
            siblings = tree.children[parent]
            place = siblings.index(one) + 1
            result.append(
                rows.message_value(
                    by_id[one], found[one], stats.get(one), place, len(siblings), parent
                )
            )
        return result

    def _part(self, connection: Connection, row: Row[Any]) -> tuple[Part, bool]:
        """A part; a damaged one is restored from a copy if possible."""
        part, sound = rows.part_value(row)
        if sound:
            return part, True
        for copy in self.find_copy(row.message_id, row.position):
            # the digest itself may be damaged; a shorter text is from before the reply was
            # continued
            same_text = len(copy.text) >= _SAME_LENGTH * len(part.text)
            if not (copy.digest == row.digest or same_text) or not copy.is_sound:
                continue
            same = (parts.c.message_id == row.message_id, parts.c.position == row.position)
            with contextlib.suppress(SQLAlchemyError), connection.begin_nested():
                connection.execute(update(parts).where(*same).values(**copy._asdict()))
            return rows.part_of(copy, row.origins)
        return part, False

    def used_blobs(self, of_chats: Sequence[str] | None = None) -> set[str]:
        """The digests of blobs that messages refer to: all, or those of some chats."""
        found = select(parts.c.blob).where(parts.c.blob.is_not(None)).distinct()
        if of_chats is not None:
            inside = select(messages.c.id).where(messages.c.chat_id.in_(of_chats))
            found = found.where(parts.c.message_id.in_(inside))
        with self._engine.begin() as connection:
            return set(connection.execute(found).scalars())

    def take_repaired(self) -> list[str]:
        """The chats whose trees were repaired since the last call."""
        repaired, self._repaired = self._repaired, []
        return repaired

    def forget(self, chat_id: str) -> None:
        """Drop the cached tree of a chat whose messages were changed elsewhere."""
        self._trees.pop(chat_id, None)

    def forget_all(self) -> None:
        """Drop all cached trees."""
        self._trees.clear()

    def tree(self, connection: Connection, chat_id: str) -> SoundTree:
        """The chat's tree: read from the database once, then kept up to date."""
        known = self._trees.get(chat_id)
        if known is not None:
            self._trees.move_to_end(chat_id)
            return known
        columns = (
            messages.c.id, messages.c.parent_id, messages.c.position, messages.c.active_child_id,
        )  # fmt: skip
        table = connection.execute(
            select(*columns).where(messages.c.chat_id == chat_id).order_by(messages.c.position)
        ).all()
        root = connection.execute(
            select(chats.c.active_root_id).where(chats.c.id == chat_id)
        ).scalar()
        tree = sound_tree(table, root)
        if not tree.sound:
            self._repaired.append(chat_id)
            try:
                with connection.begin_nested():
                    self._repair(connection, chat_id, tree)
            except SQLAlchemyError:
                # a read-only database is shown repaired all the same
                log.warning("a damaged tree could not be repaired on the disk")
        self._trees[chat_id] = tree
        while len(self._trees) > _TREES:
            self._trees.popitem(last=False)
        return tree

    @contextlib.contextmanager
    def changing(self) -> Iterator[Connection]:
        """A transaction that changes trees; drops the cached ones if it fails."""
        try:
            with self._engine.begin() as connection:
                yield connection
        except BaseException:
            self._trees.clear()
            raise

    def _repair(self, connection: Connection, chat_id: str, tree: SoundTree) -> None:
        for one, parent in tree.moved.items():
            connection.execute(
                update(messages).where(messages.c.id == one).values(parent_id=parent)
            )
        for above, child in tree.switched.items():
            self.activate(connection, chat_id, above, child)
        shown = len(tree.branch())
        connection.execute(update(chats).where(chats.c.id == chat_id).values(shown=shown))

    def show_version(self, message_id: str, step: int) -> None:
        """Activate the sibling `step` positions further; stops at the ends."""
        with self.changing() as connection:
            row = connection.execute(select(messages).where(messages.c.id == message_id)).one()
            same_parent = (
                messages.c.parent_id.is_(None)
                if row.parent_id is None
                else messages.c.parent_id == row.parent_id
            )
            ids = list(
                connection.execute(
                    select(messages.c.id)
                    .where(messages.c.chat_id == row.chat_id, same_parent)
                    .order_by(messages.c.position)
                ).scalars()
            )
            target = ids[min(max(ids.index(message_id) + step, 0), len(ids) - 1)]
            self.activate(connection, row.chat_id, row.parent_id, target)
            self.note_shown(connection, row.chat_id)

    def journal(self, message_id: str, new: Iterable[Part]) -> None:
        """Append parts of a reply that are not yet stored; called at least once a second."""
        with self._engine.begin() as connection:
            last = connection.execute(
                select(func.max(journal.c.seq)).where(journal.c.message_id == message_id)
            ).scalar()
            connection.execute(
                insert(journal),
                [
                    {"message_id": message_id, "seq": seq, **rows.journal_row(part)}
                    for seq, part in enumerate(new, start=(last or 0) + 1)
                ],
            )

    def finish(
        self,
        message_id: str,
        all_parts: Sequence[Part],
        status: MessageStatus,
        stats: TurnStats | None,
        error: str | None = None,
    ) -> None:
        """End a turn: its parts, stats and status in one transaction."""
        with self._engine.begin() as connection:
            damaged = any(not part.is_sound for part in stored_parts(connection, message_id))
            write_parts(connection, message_id, joined(all_parts), damaged)
            connection.execute(delete(journal).where(journal.c.message_id == message_id))
            chat_id = connection.execute(
                update(messages)
                .where(messages.c.id == message_id)
                .values(status=status.value, error=error)
                .returning(messages.c.chat_id)
            ).scalar()
            now = now_ms()
            if stats is not None:
                connection.execute(
                    insert(turns).values(
                        message_id=message_id, ended_at=now, **rows.stats_row(stats)
                    )
                )
            connection.execute(update(chats).where(chats.c.id == chat_id).values(updated_at=now))

    def recover(self) -> int:
        """Close messages that a killed program left open, with their journaled text; returns their
        number."""
        with self._engine.begin() as connection:
            left = list(
                connection.execute(
                    select(messages.c.id).where(messages.c.status == MessageStatus.OPEN.value)
                ).scalars()
            )
            for message_id in left:
                damaged = any(not part.is_sound for part in stored_parts(connection, message_id))
                kept = [
                    rows.part_value(row)[0]
                    for table, order in ((parts, parts.c.position), (journal, journal.c.seq))
                    for row in connection.execute(
                        select(table).where(table.c.message_id == message_id).order_by(order)
                    )
                ]
                write_parts(connection, message_id, joined(kept), damaged)
                connection.execute(delete(journal).where(journal.c.message_id == message_id))
                connection.execute(
                    update(messages)
                    .where(messages.c.id == message_id)
                    .values(status=MessageStatus.INTERRUPTED.value)
                )
        return len(left)

    def _add(self, connection: Connection, message: Message) -> None:
        last = connection.execute(
            select(func.max(messages.c.position)).where(messages.c.chat_id == message.chat_id)
        ).scalar()
        connection.execute(
            insert(messages).values(
                id=message.id,
                chat_id=message.chat_id,
                parent_id=message.parent_id,
                position=(last or 0) + 1,
                role=message.role.value,
                status=message.status.value,
                created_at=message.created_at,
                model=message.model,
                model_host=message.model_host,
                model_key=message.model_key,
                error=message.error,
            )
        )
        write_parts(connection, message.id, message.parts)
        tree = self._trees.get(message.chat_id)
        if tree is not None:
            tree.add(message.id, message.parent_id)
        self.activate(connection, message.chat_id, message.parent_id, message.id)
        connection.execute(
            update(chats).where(chats.c.id == message.chat_id).values(updated_at=message.created_at)
        )

    def note_shown(self, connection: Connection, chat_id: str) -> None:
        """Store the number of shown messages, for the list of chats."""
        shown = len(self.tree(connection, chat_id).branch())
        connection.execute(update(chats).where(chats.c.id == chat_id).values(shown=shown))

    def activate(
        self, connection: Connection, chat_id: str, parent_id: str | None, child_id: str | None
    ) -> None:
        """Show this child of a message, or of the chat; None if it has no children."""
        tree = self._trees.get(chat_id)
        if tree is not None and child_id is not None:
            tree.active[parent_id] = child_id
        elif tree is not None:
            tree.active.pop(parent_id, None)
        if parent_id is None:
            connection.execute(
                update(chats).where(chats.c.id == chat_id).values(active_root_id=child_id)
            )
        else:
            connection.execute(
                update(messages).where(messages.c.id == parent_id).values(active_child_id=child_id)
            )
