"""An index of the passages that messages were given."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    where = sa.text("kind = 'passage'")
    op.create_index("ix_parts_passages", "parts", ["message_id"], sqlite_where=where)
