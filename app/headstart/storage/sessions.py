"""Sessions of other programs, and documents read whole, on disk. On the storage thread."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Engine, delete, select
from sqlalchemy.dialects.sqlite import insert

from headstart.core.chats.values import now_ms
from headstart.core.serving.session import ServedSession, is_session
from headstart.storage.tables.definitions import prefix_uses, server_sessions


class SessionTable:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def use(self, session: str, program: str) -> None:
        """Note that a program uses its session now."""
        self.use_all({session: program})

    def use_all(self, names: Mapping[str, str]) -> None:
        """Note that these are used now: programs by their sessions, or documents by their owners,
        which a file's new name changes."""
        now = now_ms()
        with self._engine.begin() as connection:
            for owner, name in names.items():
                row = insert(server_sessions).values(id=owner, program=name, used_at=now)
                connection.execute(
                    row.on_conflict_do_update(
                        index_elements=["id"], set_={"used_at": now, "program": name}
                    )
                )

    def all(self) -> list[ServedSession]:
        """All sessions of programs, the latest first."""
        return [one for one in self._rows() if is_session(one.id)]

    def named(self) -> dict[str, str]:
        """The programs of all sessions, and the names of documents, by their ids."""
        return {one.id: one.program for one in self._rows()}

    def _rows(self) -> list[ServedSession]:
        table = server_sessions.c
        with self._engine.begin() as connection:
            rows = connection.execute(select(server_sessions).order_by(table.used_at.desc()))
            return [ServedSession(row.id, row.program, row.used_at) for row in rows]

    def forget(self, sessions: list[str]) -> None:
        """Delete sessions, with what is kept of their replies; records have their own owner."""
        with self._engine.begin() as connection:
            for session in sessions:
                connection.execute(delete(server_sessions).where(server_sessions.c.id == session))
                connection.execute(delete(prefix_uses).where(prefix_uses.c.chat_id == session))
