"""Alembic's entry: runs the revisions on the connection that `schema.migrate` passes in."""

from __future__ import annotations

from alembic import context

context.configure(connection=context.config.attributes["connection"], render_as_batch=True)
context.run_migrations()
