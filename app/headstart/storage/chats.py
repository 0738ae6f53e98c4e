"""Chats: create, list, rename, pin, delete with undo, options. On the storage thread."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, Engine, case, delete, func, select, update

from headstart.core.chats.bounds import moment_of
from headstart.core.chats.values import Chat, ChatSummary, MessageStatus, TrashedChat, now_ms
from headstart.core.models.profiles import ProfileKind
from headstart.core.settings.schema import ChatOptions
from headstart.storage.tables import rows
from headstart.storage.tables.definitions import (
    chats,
    messages,
    prefix_records,
    prefix_reply_tokens,
    prefix_traces,
    prefix_uses,
    speed_profiles,
    unsent,
)


class ChatTable:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def create(self, chat: Chat) -> None:
        with self._engine.begin() as connection:
            insert_chat(connection, chat)

    def get(self, chat_id: str) -> Chat | None:
        with self._engine.begin() as connection:
            row = connection.execute(
                select(chats).where(chats.c.id == chat_id, chats.c.deleted_at.is_(None))
            ).first()
        return None if row is None else rows.chat_value(row)

    def last_interrupted(self) -> str:
        """The id of the chat whose reply was interrupted last; "" for none."""
        query = (
            select(chats.c.id)
            .join(messages, messages.c.chat_id == chats.c.id)
            .where(messages.c.status == MessageStatus.INTERRUPTED.value)
            .where(chats.c.deleted_at.is_(None), chats.c.archived_at.is_(None))
            .order_by(messages.c.created_at.desc())
        )
        with self._engine.connect() as connection:
            return connection.execute(query.limit(1)).scalar() or ""

    def summaries(self, only: str | None = None) -> list[ChatSummary]:
        """All chats, pinned ones first, then the last used first; or `only` this one."""
        count = _shown().label("count_")
        query = (
            select(
                chats.c.id,
                chats.c.title,
                chats.c.updated_at,
                chats.c.pinned,
                chats.c.folder,
                chats.c.tags,
                chats.c.archived_at,
                chats.c.unseen,
                chats.c.model,
                count,
            )
            .where(chats.c.deleted_at.is_(None))
            .order_by(chats.c.pinned.desc(), chats.c.updated_at.desc())
        )
        if only is not None:
            query = query.where(chats.c.id == only)
        with self._engine.begin() as connection:
            return [
                ChatSummary(
                    row.id,
                    row.title,
                    moment_of(row.updated_at),
                    row.pinned,
                    row.count_,
                    folder=row.folder or "",
                    tags=rows.decode_names(row.tags) if row.tags else (),
                    archived=row.archived_at is not None,
                    unseen=bool(row.unseen),
                    model=row.model,
                )
                for row in connection.execute(query)
            ]

    def rename(self, chat_id: str, title: str, by_user: bool) -> None:
        """Set the title; an automatic one never replaces the user's."""
        query = update(chats).where(chats.c.id == chat_id)
        if not by_user:
            query = query.where(chats.c.titled_by_user.is_(False))
        with self._engine.begin() as connection:
            connection.execute(query.values(title=title, titled_by_user=by_user))

    def pin(self, chat_id: str, pinned: bool) -> None:
        self._set(chat_id, pinned=pinned)

    def move(self, ids: Sequence[str], folder: str) -> None:
        """Move chats into a folder; "" for none."""
        self._set_all(ids, folder=folder or None)

    def set_tags(self, chat_id: str, tags: Sequence[str]) -> None:
        self._set(chat_id, tags=rows.encode_names(tags))

    def archive(self, ids: Sequence[str], archived: bool) -> None:
        self._set_all(ids, archived_at=now_ms() if archived else None)

    def set_unseen(self, chat_id: str, unseen: bool) -> None:
        """Mark a chat as having a reply not yet shown, or clear the mark."""
        self._set(chat_id, unseen=unseen)

    def set_options(self, chat_id: str, options: ChatOptions) -> None:
        self._set(chat_id, options=rows.encode_options(options))

    def set_model(self, chat_id: str, model: str) -> None:
        self._set(chat_id, model=model)

    def move_model(self, before: str, now: str) -> list[str]:
        """Update the chats of a model that was moved. Returns their ids."""
        with self._engine.begin() as connection:
            found = connection.scalars(select(chats.c.id).where(chats.c.model == before)).all()
            connection.execute(update(chats).where(chats.c.model == before).values(model=now))
            return list(found)

    def using(self, model: str) -> int:
        """Number of chats that use a model."""
        wanted = (chats.c.model == model) & chats.c.deleted_at.is_(None)
        with self._engine.begin() as connection:
            return connection.execute(select(func.count()).where(wanted)).scalar() or 0

    def delete(self, chat_id: str) -> None:
        """Hide a chat; `restore` brings it back until `purge` removes it."""
        self._set(chat_id, deleted_at=now_ms())

    def restore(self, chat_id: str) -> bool:
        """Bring a deleted chat back; True if it still existed."""
        with self._engine.begin() as connection:
            found = connection.execute(
                update(chats).where(chats.c.id == chat_id).values(deleted_at=None)
            )
        return found.rowcount > 0

    def deleted(self) -> list[str]:
        """The ids of the deleted chats."""
        query = select(chats.c.id).where(chats.c.deleted_at.is_not(None))
        with self._engine.begin() as connection:
            return list(connection.execute(query).scalars())

    def trashed(self) -> list[TrashedChat]:
        """The deleted chats, the last deleted first."""
        query = (
            select(chats.c.id, chats.c.title, chats.c.deleted_at, _shown().label("count_"))
            .where(chats.c.deleted_at.is_not(None))
            .order_by(chats.c.deleted_at.desc())
        )
        with self._engine.begin() as connection:
            return [
                TrashedChat(row.id, row.title, moment_of(row.deleted_at), row.count_)
                for row in connection.execute(query)
            ]

    def purge(self, ids: Sequence[str]) -> None:
        """Remove chats for good."""
        with self._engine.begin() as connection:
            for one in ids:
                # set parents to None first: SQLite fails on cascades a thousand messages deep
                inside = messages.c.chat_id == one
                connection.execute(update(messages).where(inside).values(parent_id=None))
                connection.execute(delete(messages).where(inside))
                connection.execute(delete(unsent).where(unsent.c.chat_id == one))
                self._purge_tokens(connection, one)
                connection.execute(delete(chats).where(chats.c.id == one))
            if ids:
                # they do not record which chats their words come from
                mixed = speed_profiles.c.kind == ProfileKind.RECYCLED
                connection.execute(delete(speed_profiles).where(mixed))

    @staticmethod
    def _purge_tokens(connection: Connection, chat_id: str) -> None:
        """Tokens can be decoded to the text with the vocabulary. `Prefixes.forget` removes
        files."""
        uses = prefix_uses.c
        own = select(uses.key).where(uses.chat_id == chat_id)
        others = select(uses.key).where(uses.chat_id != chat_id)
        key = prefix_records.c.key
        connection.execute(delete(prefix_records).where(key.in_(own), key.not_in(others)))
        for table in (prefix_uses, prefix_traces, prefix_reply_tokens):
            connection.execute(delete(table).where(table.c.chat_id == chat_id))

    def _set_all(self, ids: Sequence[str], **values: object) -> None:
        with self._engine.begin() as connection:
            for one in ids:
                connection.execute(update(chats).where(chats.c.id == one).values(**values))

    def _set(self, chat_id: str, **values: object) -> None:
        with self._engine.begin() as connection:
            connection.execute(update(chats).where(chats.c.id == chat_id).values(**values))


def _shown() -> ColumnElement[int]:
    """Number of a chat's shown messages."""
    every = (
        select(func.count())
        .select_from(messages)
        .where(messages.c.chat_id == chats.c.id)
        .scalar_subquery()
    )
    return case((chats.c.shown.is_(None), every), else_=chats.c.shown)


def insert_chat(connection: Connection, chat: Chat) -> None:
    connection.execute(
        chats.insert().values(
            id=chat.id,
            title=chat.title,
            titled_by_user=chat.titled_by_user,
            pinned=chat.pinned,
            created_at=chat.created_at,
            updated_at=chat.updated_at,
            model=chat.model,
            options=rows.encode_options(chat.options),
            folder=chat.folder or None,
            tags=rows.encode_names(chat.tags),
            archived_at=chat.updated_at if chat.archived else None,
        )
    )
