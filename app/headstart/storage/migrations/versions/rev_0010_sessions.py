"""Sessions of other programs: their last prompts, and their replies' tokens."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "server_sessions",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("program", sa.Text, nullable=False),
        sa.Column("used_at", sa.Integer, nullable=False),
    )
    op.create_table(
        "server_traces",
        sa.Column(
            "chat_id",
            sa.Text,
            sa.ForeignKey("server_sessions.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("data", sa.Text, nullable=False),
    )
    op.create_table(
        "server_spellings",
        sa.Column(
            "chat_id",
            sa.Text,
            sa.ForeignKey("server_sessions.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("digest", sa.LargeBinary, primary_key=True),
        sa.Column("tokens", sa.LargeBinary, nullable=False),
    )
