"""Data of conversation files beyond their text: a chat's folder, and JSON kept for export."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("chats", sa.Column("folder", sa.Text))
    op.add_column("chats", sa.Column("extra", sa.Text))
    op.add_column("messages", sa.Column("extra", sa.Text))
