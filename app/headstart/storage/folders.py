"""Folders of chats: stored ones, and those that chats name. On the storage thread."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, Row, delete, func, insert, select, update

from headstart.core.chats.values import Folder
from headstart.core.settings.schema import ChatOptions
from headstart.storage.tables import rows
from headstart.storage.tables.definitions import chats, folders


class FolderTable:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def all(self) -> list[Folder]:
        """All stored and named folders with their parents, in the user's order, new ones last."""
        with self._engine.begin() as connection:
            known = {
                folder.path: folder
                for folder in map(_folder, connection.execute(select(folders)))
                if folder is not None
            }
            there = chats.c.folder.is_not(None) & chats.c.deleted_at.is_(None)
            named = [
                name
                for name in connection.scalars(select(chats.c.folder).where(there).distinct())
                if isinstance(name, str)
            ]
        last = max((one.position for one in known.values()), default=0)
        for path in sorted((*known, *named), key=str.casefold):
            names = path.split("/")
            for count in range(1, len(names) + 1):
                above = "/".join(names[:count])
                if above and above not in known:
                    last += 1
                    known[above] = Folder(above, position=last)
        return sorted(known.values(), key=lambda one: (one.position, one.path.casefold()))

    def get(self, path: str) -> Folder | None:
        """Returns None for a folder without a row."""
        with self._engine.begin() as connection:
            row = connection.execute(select(folders).where(folders.c.path == path)).first()
        if row is None:
            return None
        return _folder(row)

    def above(self, path: str) -> tuple[Folder, ...]:
        """A folder and its parents, the innermost first; without those that have no row."""
        names = path.split("/")
        paths = ["/".join(names[:count]) for count in range(len(names), 0, -1)]
        found = (self.get(one) for one in paths if one)
        return tuple(folder for folder in found if folder is not None)

    def save(self, folder: Folder) -> None:
        """Store the folder; a new one comes last."""
        values = {
            "options": rows.encode_options(folder.options),
            "model": folder.model,
            "folded": folder.folded,
        }
        with self._engine.begin() as connection:
            found = connection.execute(
                update(folders).where(folders.c.path == folder.path).values(**values)
            )
            if not found.rowcount:
                last = connection.scalar(select(func.max(folders.c.position))) or 0
                position = folder.position or last + 1
                connection.execute(
                    insert(folders).values(path=folder.path, position=position, **values)
                )

    def set_order(self, paths: list[str]) -> None:
        with self._engine.begin() as connection:
            for position, path in enumerate(paths, 1):
                found = connection.execute(
                    update(folders).where(folders.c.path == path).values(position=position)
                )
                if not found.rowcount:
                    connection.execute(
                        insert(folders).values(
                            path=path,
                            position=position,
                            options=rows.encode_options(ChatOptions()),
                            folded=False,
                        )
                    )

    def rename(self, before: str, now: str) -> None:
        """Rename a folder with its content; merges it into an existing one of the new name."""
        with self._engine.begin() as connection:
            for table, column in ((chats, chats.c.folder), (folders, folders.c.path)):
                named = connection.scalars(
                    select(column).where(_inside(column, before)).distinct()
                ).all()
                for path in named:
                    moved = now + path[len(before) :]
                    if table is folders:
                        connection.execute(delete(folders).where(folders.c.path == moved))
                    connection.execute(
                        update(table).where(column == path).values({column.key: moved})
                    )

    def remove(self, path: str) -> None:
        """Remove a folder and those inside; their chats move to the parent folder."""
        above = path.rpartition("/")[0]
        with self._engine.begin() as connection:
            connection.execute(delete(folders).where(_inside(folders.c.path, path)))
            connection.execute(
                update(chats).where(_inside(chats.c.folder, path)).values(folder=above or None)
            )


def _folder(row: Row[Any]) -> Folder | None:
    """Returns None for a row with an invalid name. Other programs may have written anything:
    invalid values are replaced by a folder's defaults."""
    if not isinstance(row.path, str):
        return None
    options = row.options if isinstance(row.options, str) else "{}"
    model = row.model if isinstance(row.model, str) else None
    position = row.position if isinstance(row.position, int) else 0
    return Folder(row.path, rows.decode_options(options), model, position, bool(row.folded))


def _inside(column: Any, path: str) -> Any:
    return (column == path) | column.startswith(f"{path}/", autoescape=True)
