"""First schema: chats, messages, parts, turns, journal."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "chats",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("titled_by_user", sa.Boolean, nullable=False),
        sa.Column("pinned", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.Integer, nullable=False),
        sa.Column("updated_at", sa.Integer, nullable=False),
        sa.Column("deleted_at", sa.Integer),
        sa.Column("model", sa.Text),
        sa.Column("options", sa.Text, nullable=False),
        sa.Column("active_root_id", sa.Text),
    )
    op.create_index("ix_chats_updated_at", "chats", ["updated_at"])
    op.create_table(
        "messages",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column(
            "chat_id", sa.Text, sa.ForeignKey("chats.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("parent_id", sa.Text, sa.ForeignKey("messages.id", ondelete="CASCADE")),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("created_at", sa.Integer, nullable=False),
        sa.Column("model", sa.Text),
        sa.Column("error", sa.Text),
        sa.Column("active_child_id", sa.Text),
    )
    op.create_index("ix_messages_chat", "messages", ["chat_id", "position"])
    op.create_index("ix_messages_parent", "messages", ["parent_id"])
    op.create_index("ix_messages_status", "messages", ["status"])
    op.create_table(
        "parts",
        sa.Column(
            "message_id",
            sa.Text,
            sa.ForeignKey("messages.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("origins", sa.Text, nullable=False),
    )
    op.create_table(
        "turns",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column(
            "message_id",
            sa.Text,
            sa.ForeignKey("messages.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("ended_at", sa.Integer, nullable=False),
        sa.Column("finish", sa.Text, nullable=False),
        sa.Column("prompt_tokens", sa.Integer, nullable=False),
        sa.Column("reused_tokens", sa.Integer, nullable=False),
        sa.Column("read_seconds", sa.Float, nullable=False),
        sa.Column("first_token_seconds", sa.Float),
        sa.Column("generated_tokens", sa.Integer, nullable=False),
        sa.Column("generate_seconds", sa.Float, nullable=False),
        sa.Column("seed", sa.Integer),
    )
    op.create_index("ix_turns_message", "turns", ["message_id"])
    op.create_table(
        "journal",
        sa.Column(
            "message_id",
            sa.Text,
            sa.ForeignKey("messages.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("origins", sa.Text, nullable=False),
    )
