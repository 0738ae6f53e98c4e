"""Statistics of speculation in a turn, and measured speeds."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    for name in ("rounds", "draft_tested", "draft_accepted", "repeat_tested", "repeat_accepted"):
        op.add_column("turns", sa.Column(name, sa.Integer))
    op.add_column("turns", sa.Column("plain_seconds", sa.Float))
    op.create_table(
        "speed_profiles",
        sa.Column("target", sa.Text, primary_key=True),
        sa.Column("draft", sa.Text, primary_key=True),
        sa.Column("device", sa.Text, primary_key=True),
        sa.Column("updated_at", sa.Integer, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
    )
