"""Files and their pieces in the index: added, replaced, removed. On the knowledge thread.

A content (the bytes of a file) is stored once, under its digest, for all files that have it: moved
and copied files are not read again. A file is replaced in one commit, so that a search always finds
its old pieces or its new ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Connection, Engine, text

from headstart.core.knowledge.values import FileRow, FileStamp, PieceRow, ReadFile
from headstart.storage.database import leave_nothing_deleted

_FILE = (
    "INSERT INTO files (source, path, size, mtime_ns, content, problem, lost_at)"
    " VALUES (:source, :path, :size, :mtime_ns, :content, :problem, 0)"
    " ON CONFLICT (source, path) DO UPDATE SET size = excluded.size,"
    " mtime_ns = excluded.mtime_ns, content = excluded.content, problem = excluded.problem,"
    " lost_at = 0"
)

# files removed in one transaction
_SLICE = 50


class FileTable:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def of(self, source: str) -> list[FileRow]:
        """All files of a source."""
        statement = (
            "SELECT f.id, f.path, f.size, f.mtime_ns, c.digest, f.problem, f.lost_at FROM files f"
            " LEFT JOIN contents c ON c.id = f.content WHERE f.source = :source"
        )
        with self._engine.connect() as connection:
            found = connection.execute(text(statement), {"source": source})
            return [FileRow(*row) for row in found]

    def sources(self) -> set[str]:
        with self._engine.connect() as connection:
            return set(connection.scalars(text("SELECT DISTINCT source FROM files")))

    def link(self, source: str, stamp: FileStamp, digest: bytes) -> bool:
        """Store a file whose content is stored already; False if it is not."""
        with self._engine.begin() as connection:
            content = _content(connection, digest)
            if content is not None:
                _put(connection, source, stamp, content, "")
        return content is not None

    def unreadable(self, source: str, stamp: FileStamp, problem: str, now: int) -> None:
        """Note that a file cannot be read at present: what it had stays, and it is tried again."""
        values = {"source": source, "path": stamp.path, "now": now}
        with self._engine.begin() as connection:
            kept = connection.execute(
                text(
                    "UPDATE files SET mtime_ns = 0, lost_at = iif(lost_at, lost_at, :now)"
                    " WHERE source = :source AND path = :path AND content IS NOT NULL"
                ),
                values,
            )
            if not kept.rowcount:
                _put(connection, source, replace(stamp, mtime_ns=0), None, problem)

    def put(
        self,
        source: str,
        stamp: FileStamp,
        digest: bytes | None,
        found: ReadFile | None = None,
        problem: str = "",
    ) -> None:
        """Store a file. Without `found` its content is stored already, or it has a `problem` (a
        stored Told) and no content."""
        with self._engine.begin() as connection:
            content = None
            if digest is not None and not problem:
                content = _content(connection, digest)
                if content is None and found is not None:
                    content = _add(connection, digest, found)
            _put(connection, source, stamp, content, problem)

    def lose(self, ids: Collection[int], now: int) -> None:
        """Note that files cannot be read at present; what they had stays."""
        self._each("UPDATE files SET lost_at = :now WHERE id = :id AND lost_at = 0", ids, now)

    def find_again(self, ids: Collection[int]) -> None:
        """Undo `lose` for files that are there unchanged."""
        self._each("UPDATE files SET lost_at = 0 WHERE id = :id", ids)

    def remove(self, ids: Collection[int]) -> None:
        """Remove files, and contents that no other file has."""
        if not ids:
            return
        with self._engine.begin() as connection:
            contents: list[int] = []
            for one in ids:
                content = connection.scalar(
                    text("DELETE FROM files WHERE id = :id RETURNING content"), {"id": one}
                )
                if content is not None:
                    contents.append(content)
            _forget(connection, contents)

    def remove_source(self, source: str) -> None:
        """Remove a source with everything that only it has, and overwrite its text on disk."""
        with self._engine.connect() as connection:
            ids = connection.scalars(
                text("SELECT id FROM files WHERE source = :source"), {"source": source}
            ).all()
        for first in range(0, len(ids), _SLICE):
            # others may write, and search, meanwhile
            self.remove(ids[first : first + _SLICE])
        with self._engine.begin() as connection:
            connection.exec_driver_sql(
                "DELETE FROM vectors WHERE digest NOT IN (SELECT digest FROM pieces)"
            )
            # takes the removed pieces out of the lists of words
            connection.exec_driver_sql("INSERT INTO words(words) VALUES ('optimize')")
        leave_nothing_deleted(self._engine)

    def pin(self, digest: bytes, owner: str) -> None:
        """Keep a content for a chat or a folder, whatever happens to its file."""
        with self._engine.begin() as connection:
            connection.execute(
                text("INSERT OR IGNORE INTO pins (digest, owner) VALUES (:digest, :owner)"),
                {"digest": digest, "owner": owner},
            )

    def unpin(self, owner: str, keep: Collection[bytes] = ()) -> None:
        """Give up the contents that an owner pinned, except for some."""
        with self._engine.begin() as connection:
            pinned = connection.scalars(
                text("SELECT digest FROM pins WHERE owner = :owner"), {"owner": owner}
            ).all()
            for digest in set(pinned).difference(keep):
                values = {"owner": owner, "digest": digest}
                connection.execute(
                    text("DELETE FROM pins WHERE owner = :owner AND digest = :digest"), values
                )
                content = _content(connection, digest)
                if content is not None:
                    _forget(connection, [content])

    def owners(self) -> set[str]:
        """Everyone who pins a content."""
        with self._engine.connect() as connection:
            return set(connection.scalars(text("SELECT DISTINCT owner FROM pins")))

    def pinned(self) -> list[tuple[bytes, list[str], ReadFile]]:
        """Pinned contents with their owners, to be carried into another index."""
        with self._engine.connect() as connection:
            owners: dict[bytes, list[str]] = {}
            for row in connection.execute(text("SELECT digest, owner FROM pins")):
                owners.setdefault(row.digest, []).append(row.owner)
            found = []
            for digest, names in owners.items():
                read = _read_again(connection, digest)
                if read is not None:
                    found.append((digest, names, read))
        return found

    def carry(self, contents: Iterable[tuple[bytes, list[str], ReadFile]]) -> None:
        """Take over what `pinned` of another index returned."""
        with self._engine.begin() as connection:
            for digest, owners, found in contents:
                if _content(connection, digest) is None:
                    _add(connection, digest, found)
                for owner in owners:
                    connection.execute(
                        text("INSERT OR IGNORE INTO pins (digest, owner) VALUES (:digest, :owner)"),
                        {"digest": digest, "owner": owner},
                    )

    def counts(self, source: str, embedder: int | None) -> tuple[int, int, int, int]:
        """Numbers of a source's read files, pieces, characters, and pieces with a vector."""
        statement = (
            "SELECT count(*), coalesce(sum(c.characters), 0) FROM files f"
            " JOIN contents c ON c.id = f.content WHERE f.source = :source"
        )
        pieces = (
            "SELECT count(*), coalesce(sum(EXISTS (SELECT 1 FROM vectors v WHERE"
            " v.embedder = :embedder AND v.digest = p.digest)), 0) FROM pieces p"
            " WHERE p.content IN (SELECT content FROM files WHERE source = :source)"
        )
        values = {"source": source, "embedder": -1 if embedder is None else embedder}
        with self._engine.connect() as connection:
            files, characters = connection.execute(text(statement), values).one()
            made, meant = connection.execute(text(pieces), values).one()
        return files, made, characters, meant

    def problems(self, source: str) -> list[tuple[bytes, str]]:
        """Files without text, and why, as stored Tolds."""
        statement = "SELECT path, problem FROM files WHERE source = :source AND problem <> ''"
        with self._engine.connect() as connection:
            rows = connection.execute(text(statement), {"source": source})
            return [(row.path, row.problem) for row in rows]

    def _each(self, statement: str, ids: Iterable[int], now: int = 0) -> None:
        values = [{"id": one, "now": now} for one in ids]
        if values:
            with self._engine.begin() as connection:
                connection.execute(text(statement), values)


def _put(
    connection: Connection, source: str, stamp: FileStamp, content: int | None, problem: str
) -> None:
    before = connection.scalar(
        text("SELECT content FROM files WHERE source = :source AND path = :path"),
        {"source": source, "path": stamp.path},
    )
    connection.execute(
        text(_FILE),
        {
            "source": source,
            "path": stamp.path,
            "size": stamp.size,
            "mtime_ns": stamp.mtime_ns,
            "content": content,
            "problem": problem,
        },
    )
    if before is not None and before != content:
        _forget(connection, [before])


def _content(connection: Connection, digest: bytes) -> int | None:
    found = connection.scalar(
        text("SELECT id FROM contents WHERE digest = :digest"), {"digest": digest}
    )
    return None if found is None else int(found)


def _add(connection: Connection, digest: bytes, found: ReadFile) -> int:
    content = connection.scalar(
        text(
            "INSERT INTO contents (digest, media_type, unit, encoding, pages, blank, characters)"
            " VALUES (:digest, :media_type, :unit, :encoding, :pages, :blank, :characters)"
            " RETURNING id"
        ),
        {
            "digest": digest,
            "media_type": found.media_type,
            "unit": found.unit,
            "encoding": found.encoding,
            "pages": found.pages,
            "blank": found.blank,
            "characters": found.characters,
        },
    )
    assert content is not None
    rows: Sequence[dict[str, Any]] = [
        {
            "content": content,
            "start": row.start,
            "stop": row.end,
            "page": row.page,
            "line": row.line,
            "heading": row.heading,
            "folded": row.folded,
            "digest": row.digest,
        }
        for row in found.rows
    ]
    if rows:
        connection.execute(
            text(
                "INSERT INTO pieces (content, start, stop, page, line, heading, folded, digest)"
                " VALUES (:content, :start, :stop, :page, :line, :heading, :folded, :digest)"
            ),
            rows,
        )
        connection.execute(
            text(
                "INSERT INTO words (rowid, heading, folded)"
                " SELECT id, heading, folded FROM pieces WHERE content = :content"
            ),
            {"content": content},
        )
    return int(content)


def _read_again(connection: Connection, digest: bytes) -> ReadFile | None:
    """A stored content as it was added."""
    content = connection.execute(
        text("SELECT * FROM contents WHERE digest = :digest"), {"digest": digest}
    ).first()
    if content is None:
        return None
    rows = connection.execute(
        text(
            "SELECT start, stop, page, line, heading, folded, digest FROM pieces"
            " WHERE content = :content ORDER BY start"
        ),
        {"content": content.id},
    )
    return ReadFile(
        content.media_type,
        content.unit,
        content.encoding,
        content.pages,
        content.blank,
        content.characters,
        tuple(PieceRow(*row) for row in rows),
    )


def _forget(connection: Connection, contents: Iterable[int]) -> None:
    """Delete contents that no file has any more."""
    for content in dict.fromkeys(contents):
        values = {"content": content}
        used = (
            "SELECT 1 FROM files WHERE content = :content UNION SELECT 1 FROM pins p"
            " JOIN contents c ON c.digest = p.digest WHERE c.id = :content LIMIT 1"
        )
        if connection.execute(text(used), values).first() is not None:
            continue
        connection.execute(
            text(
                "INSERT INTO words (words, rowid, heading, folded)"
                " SELECT 'delete', id, heading, folded FROM pieces WHERE content = :content"
            ),
            values,
        )
        connection.execute(text("DELETE FROM pieces WHERE content = :content"), values)
        connection.execute(text("DELETE FROM contents WHERE id = :content"), values)
