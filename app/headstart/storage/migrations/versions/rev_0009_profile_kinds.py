"""A kind for each measured profile, in place of pseudo-drafts that stood for one: "(tuning)"."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_KINDS = ("tuning", "head", "images", "exact", "prefix", "recycled")


def upgrade() -> None:
    op.rename_table("speed_profiles", "speed_profiles_before")
    op.create_table(
        "speed_profiles",
        sa.Column("target", sa.Text, primary_key=True),
        sa.Column("draft", sa.Text, primary_key=True),
        sa.Column("device", sa.Text, primary_key=True),
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("updated_at", sa.Integer, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
    )
    named = ", ".join(f"'({kind})'" for kind in _KINDS)
    op.get_bind().exec_driver_sql(
        "INSERT INTO speed_profiles (target, draft, device, kind, updated_at, data) "
        f"SELECT target, CASE WHEN draft IN ({named}) THEN '' ELSE draft END, device, "
        f"CASE WHEN draft IN ({named}) THEN trim(draft, '()') ELSE 'speed' END, "
        "updated_at, data FROM speed_profiles_before"
    )
    op.drop_table("speed_profiles_before")
