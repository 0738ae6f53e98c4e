"""Measured speeds by target, draft and device. The table is used on the storage thread only."""

from __future__ import annotations

from sqlalchemy import Engine, delete, select
from sqlalchemy.dialects.sqlite import insert

from headstart.core.chats.values import now_ms
from headstart.core.models.profiles import ProfileKey, ProfileKind
from headstart.storage.tables.definitions import speed_profiles


class ProfileTable:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def load(self, key: ProfileKey) -> bytes | None:
        table = speed_profiles.c
        with self._engine.begin() as connection:
            data = connection.execute(
                select(table.data).where(
                    table.target == key.target,
                    table.draft == key.draft,
                    table.device == key.device,
                    table.kind == key.kind,
                )
            ).scalar()
        return None if data is None else str(data).encode()

    def save(self, key: ProfileKey, data: bytes) -> None:
        row = {**key._asdict(), "updated_at": now_ms(), "data": data.decode()}
        statement = insert(speed_profiles).values(row)
        with self._engine.begin() as connection:
            connection.execute(
                statement.on_conflict_do_update(
                    index_elements=["target", "draft", "device", "kind"],
                    set_={"updated_at": row["updated_at"], "data": row["data"]},
                )
            )

    def forget_words(self) -> None:
        """Delete the words of all models: nothing records which chats they come from."""
        mixed = speed_profiles.c.kind == ProfileKind.RECYCLED
        with self._engine.begin() as connection:
            connection.execute(delete(speed_profiles).where(mixed))
