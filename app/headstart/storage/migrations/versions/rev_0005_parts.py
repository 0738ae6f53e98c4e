"""Parts of any kind: data beyond text is JSON, and names its blob; the model of a message."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("parts", sa.Column("data", sa.Text))
    op.add_column("parts", sa.Column("blob", sa.Text))
    op.create_index("ix_parts_blob", "parts", ["blob"])
    op.add_column("messages", sa.Column("model_host", sa.Text))
    op.add_column("messages", sa.Column("model_key", sa.Text))
