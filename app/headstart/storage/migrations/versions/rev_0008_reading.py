"""Search and order: an index of words, folders with settings, tags, archive, unsent text; and the
duration of reasoning."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

from headstart.storage.tables.search import CREATE

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("turns", sa.Column("reasoning_seconds", sa.Float))
    op.add_column("chats", sa.Column("tags", sa.Text))
    op.add_column("chats", sa.Column("archived_at", sa.Integer))
    op.add_column("chats", sa.Column("unseen", sa.Boolean))
    op.create_table(
        "folders",
        sa.Column("path", sa.Text, primary_key=True),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("options", sa.Text, nullable=False),
        sa.Column("model", sa.Text),
        sa.Column("folded", sa.Boolean, nullable=False),
    )
    op.create_table(
        "unsent",
        sa.Column("chat_id", sa.Text, primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("parts", sa.Text, nullable=False),
        sa.Column("begun", sa.Text),
        sa.Column("updated_at", sa.Integer, nullable=False),
    )
    _take_tags()
    for statement in CREATE:
        op.get_bind().exec_driver_sql(statement)


def _take_tags() -> None:
    """Move tags out of `extra`, which held data without a column."""
    connection = op.get_bind()
    query = "SELECT id, extra FROM chats WHERE extra LIKE '%tags%'"
    for chat_id, text in connection.exec_driver_sql(query).all():
        try:
            extra = json.loads(text)
            tags = [str(tag) for tag in extra.pop("tags")]
        except (ValueError, TypeError, AttributeError, KeyError):
            continue
        connection.execute(
            sa.text("UPDATE chats SET tags = :tags, extra = :extra WHERE id = :id"),
            {
                "id": chat_id,
                "tags": json.dumps(tags, ensure_ascii=False),
                "extra": json.dumps(extra, ensure_ascii=False) if extra else None,
            },
        )
