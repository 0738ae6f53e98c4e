"""Stored KV state: records, the chats that need them, bytes written, traces of prompts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    for name in ("from_memory", "from_disk", "ahead", "reread"):
        op.add_column("turns", sa.Column(name, sa.Integer, nullable=False, server_default="0"))
    op.add_column("turns", sa.Column("reread_reason", sa.Text, nullable=False, server_default=""))
    op.create_table(
        "prefix_records",
        sa.Column("key", sa.LargeBinary, primary_key=True),
        sa.Column("parent", sa.LargeBinary, nullable=False),
        sa.Column("family", sa.LargeBinary, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("start", sa.Integer, nullable=False),
        sa.Column("tokens", sa.LargeBinary, nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("used", sa.Integer, nullable=False),
    )
    op.create_table(
        "prefix_uses",
        sa.Column("chat_id", sa.Text, primary_key=True),
        sa.Column(
            "key",
            sa.LargeBinary,
            sa.ForeignKey("prefix_records.key", ondelete="CASCADE"),
            primary_key=True,
        ),
    )
    op.create_index("ix_prefix_uses_key", "prefix_uses", ["key"])
    op.create_table(
        "prefix_written",
        sa.Column("day", sa.Text, primary_key=True),
        sa.Column("bytes", sa.Integer, nullable=False),
    )
    op.create_table(
        "prefix_traces",
        sa.Column(
            "chat_id", sa.Text, sa.ForeignKey("chats.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("data", sa.Text, nullable=False),
    )
    op.create_table(
        "prefix_spellings",
        sa.Column(
            "chat_id", sa.Text, sa.ForeignKey("chats.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("digest", sa.LargeBinary, primary_key=True),
        sa.Column("tokens", sa.LargeBinary, nullable=False),
    )
