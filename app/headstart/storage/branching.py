"""Branches of a chat: showing a message's branch, the map of all branches, removing one.
On the storage thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace
from sqlalchemy import Engine, case, delete, func, select, update

from headstart.core.chats.bounds import moment_of
from headstart.core.chats.finding import FoundInChat, spans_of
from headstart.core.chats.parts import PartKind, joined_text
from headstart.core.chats.tree import RemovedBranch, TreeNode
from headstart.core.chats.values import Message
from headstart.storage.messages import MessageTable
from headstart.storage.tables.definitions import messages, parts
from headstart.storage.tables.rows import role_of
from headstart.storage.transfers import TransferTable

# characters of a message in the map
_WORDS = 120
# below SQLite's limit on bound variables
_CHUNK = 500


class BranchTable:
    def __init__(self, engine: Engine, table: MessageTable, transfers: TransferTable) -> None:
        self._engine = engine
        self._table = table
        self._transfers = transfers

    def show(self, message_id: str) -> bool:
        """Show the branch with this message; returns whether that changed anything."""
        with self._table.changing() as connection:
            chat_id = connection.scalar(
                select(messages.c.chat_id).where(messages.c.id == message_id)
            )
            if chat_id is None:
                return False
            tree = self._table.tree(connection, chat_id)
            changed, at = False, message_id
            while at in tree.parents:
                parent = tree.parents[at]
                if tree.active.get(parent) != at:
                    self._table.activate(connection, chat_id, parent, at)
                    changed = True
                if parent is None:
                    break
                at = parent
            if changed:
                self._table.note_shown(connection, chat_id)
        return changed

    def from_end(self, chat_id: str, message_id: str) -> int | None:
        """Number of messages of the shown branch from this one on; None if it is on another
        branch."""
        with self._engine.begin() as connection:
            ids = self._table.tree(connection, chat_id).branch()
        return len(ids) - ids.index(message_id) if message_id in ids else None

    def map(self, chat_id: str) -> list[TreeNode]:
        """Every message, each after its parent, with its first words."""
        inside = messages.c.chat_id == chat_id
        words = func.substr(func.group_concat(func.substr(parts.c.text, 1, _WORDS), " "), 1, _WORDS)
        query = (
            select(
                messages.c.id, messages.c.role, messages.c.status, messages.c.model,
                messages.c.created_at, words.label("words"),
            )
            .select_from(messages)
            .outerjoin(parts, (parts.c.message_id == messages.c.id) & (parts.c.kind == "text"))
            .where(inside)
            .group_by(messages.c.id)
        )  # fmt: skip
        with self._engine.begin() as connection:
            tree = self._table.tree(connection, chat_id)
            shown = set(tree.branch())
            rows = {row.id: row for row in connection.execute(query)}
        return [
            TreeNode(
                id=one,
                parent=parent,
                role=role_of(rows[one].role, rows[one].model),
                words=" ".join((rows[one].words or "").split()),
                model=rows[one].model or "",
                created_at=moment_of(rows[one].created_at),
                shown=one in shown,
            )
            for one, parent in tree.parents.items()
            if one in rows
        ]

    def siblings(self, chat_id: str, message_id: str) -> list[Message]:
        """All versions of a message, in order."""
        with self._engine.begin() as connection:
            tree = self._table.tree(connection, chat_id)
            if message_id not in tree.parents:
                return []
            ids = tree.children[tree.parents[message_id]]
            return self._table.values(connection, tree, ids)

    def below(self, chat_id: str, message_id: str) -> list[str]:
        """A message and all its descendants, on every branch."""
        with self._engine.begin() as connection:
            tree = self._table.tree(connection, chat_id)
        found, left = [], [message_id] if message_id in tree.parents else []
        while left:
            one = left.pop()
            found.append(one)
            left += tree.children.get(one, ())
        return found

    def find(self, chat_id: str, query: str, everywhere: bool) -> list[FoundInChat]:
        """Messages that match a query, in the order of the shown branch; with `everywhere`, those
        of other branches after them."""
        with self._engine.begin() as connection:
            tree = self._table.tree(connection, chat_id)
            ids = tree.branch()
            shown = set(ids)
            if everywhere:
                ids += [one for one in tree.parents if one not in shown]
            pieces: dict[str, list[tuple[str, str]]] = {}
            # calls separate texts; their own words are not searched
            words = case((parts.c.kind == PartKind.TEXT, parts.c.text), else_="")
            kinds = (PartKind.TEXT, PartKind.TOOL_CALL, PartKind.TOOL_RESULT)
            for chunk in _chunks(ids):
                for message_id, kind, text in connection.execute(
                    select(parts.c.message_id, parts.c.kind, words)
                    .where(parts.c.message_id.in_(chunk), parts.c.kind.in_(kinds))
                    .order_by(parts.c.message_id, parts.c.position)
                ):
                    pieces.setdefault(message_id, []).append((kind, text))
        found = []
        for one in ids:
            count = sum(1 for _ in spans_of(query, joined_text(pieces.get(one, ()))))
            if count:
                found.append(FoundInChat(one, count, one in shown))
        return found

    def remove(self, chat_id: str, message_id: str) -> RemovedBranch | None:
        """Remove a message and its descendants; returns them for `put_back`. None if there is no
        such message."""
        whole = self._transfers.read(chat_id)
        if whole is None:
            return None
        gone = _below(whole.messages, message_id)
        if not gone:
            return None
        ids = [message.id for message in gone]
        with self._table.changing() as connection:
            tree = self._table.tree(connection, chat_id)
            parent = tree.parents[message_id]
            siblings = list(tree.children[parent])
            place, shown = siblings.index(message_id), tree.active.get(parent) == message_id
            siblings.remove(message_id)
            positions: dict[str, int] = {}
            for chunk in _chunks(ids):
                inside = messages.c.id.in_(chunk)
                found = connection.execute(select(messages.c.id, messages.c.position).where(inside))
                positions |= {row[0]: row[1] for row in found}
                # set parents to None first: SQLite fails on cascades a thousand messages deep
                connection.execute(update(messages).where(inside).values(parent_id=None))
            for chunk in _chunks(ids):
                connection.execute(delete(messages).where(messages.c.id.in_(chunk)))
            self._table.forget(chat_id)
            if shown:
                nearest = siblings[min(place, len(siblings) - 1)] if siblings else None
                self._table.activate(connection, chat_id, parent, nearest)
            self._table.note_shown(connection, chat_id)
        self._table.on_stored()
        active: dict[str | None, str] = {
            one: whole.active[one] for one in ids if one in whole.active
        }
        extras = {one: whole.of_messages[one] for one in ids if one in whole.of_messages}
        removed = replace(whole, messages=tuple(gone), active=active, of_messages=extras)
        return RemovedBranch(removed, positions, shown)

    def put_back(self, removed: RemovedBranch) -> None:
        """Restore the messages that `remove` took out, at their positions."""
        tree = removed.tree
        self._transfers.add([tree])
        with self._table.changing() as connection:
            inside = messages.c.chat_id == tree.chat.id
            taken = {
                row[0]: row[1]
                for row in connection.execute(
                    select(messages.c.position, messages.c.id).where(inside)
                )
            }
            for one, position in removed.positions.items():
                if taken.get(position, one) == one:
                    connection.execute(
                        update(messages).where(messages.c.id == one).values(position=position)
                    )
            self._table.forget(tree.chat.id)
            for above, below in tree.active.items():
                self._table.activate(connection, tree.chat.id, above, below)
        if removed.shown:
            self.show(tree.messages[0].id)


def _below(values: Sequence[Message], message_id: str) -> list[Message]:
    """A message and all its descendants, each after its parent."""
    inside, found = {message_id}, []
    for message in values:
        if message.id in inside or message.parent_id in inside:
            inside.add(message.id)
            found.append(message)
    return found


def _chunks(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[start : start + _CHUNK] for start in range(0, len(ids), _CHUNK))
