"""Number of a chat's shown messages: the active branch, without other versions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

# UNION and not UNION ALL: a damaged tree may have a cycle
_COUNT = """
WITH RECURSIVE branch(chat, message) AS (
    SELECT id, active_root_id FROM chats WHERE active_root_id IS NOT NULL
    UNION
    SELECT branch.chat, messages.active_child_id FROM branch
    JOIN messages ON messages.id = branch.message
    WHERE messages.active_child_id IS NOT NULL
)
SELECT chat, count(*) FROM branch GROUP BY chat
"""


def upgrade() -> None:
    op.add_column("chats", sa.Column("shown", sa.Integer))
    connection = op.get_bind()
    counts = [{"chat": row[0], "count": row[1]} for row in connection.exec_driver_sql(_COUNT)]
    if counts:
        connection.execute(sa.text("UPDATE chats SET shown = :count WHERE id = :chat"), counts)
