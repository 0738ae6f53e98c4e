"""A digest beside each text, which reveals changes on the disk."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    from headstart.storage.tables.rows import digest_of

    op.add_column("parts", sa.Column("digest", sa.Integer))
    connection = op.get_bind()
    parts = sa.table(
        "parts",
        sa.column("message_id", sa.Text),
        sa.column("position", sa.Integer),
        sa.column("text", sa.Text),
        sa.column("digest", sa.Integer),
    )
    keys = connection.execute(sa.select(parts.c.message_id, parts.c.position)).all()
    for key in keys:
        same = (parts.c.message_id == key.message_id, parts.c.position == key.position)
        text = connection.execute(sa.select(parts.c.text).where(*same)).scalar_one()
        connection.execute(sa.update(parts).where(*same).values(digest=digest_of(text)))
