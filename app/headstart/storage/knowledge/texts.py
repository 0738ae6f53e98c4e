"""Files of the index by name, and their whole texts. On the search thread."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence

from sqlalchemy import Engine, text

from headstart.core.chats.attachments import about_tokens_of
from headstart.core.knowledge.survey import SurveyDocument
from headstart.core.text.folding import unfolded

# files of one name in an answer
_MOST_NAMED = 20
_KEPT = (
    "SELECT digest FROM contents c WHERE EXISTS (SELECT 1 FROM files WHERE content = c.id)"
    " OR digest IN (SELECT digest FROM pins)"
)
# signs with a meaning of their own in a pattern
_ESCAPED = str.maketrans({"%": "\\%", "_": "\\_", "\\": "\\\\"})


class IndexedTexts:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def state_of(self, source: str, path: str) -> tuple[str | None, str]:
        """The digest (hexadecimal) of a file's content, and why it has none, as a stored Told."""
        statement = (
            "SELECT c.digest, f.problem FROM files f LEFT JOIN contents c ON c.id = f.content"
            " WHERE f.source = :source AND f.path = :path"
        )
        values = {"source": source, "path": os.fsencode(path)}
        with self._engine.connect() as connection:
            row = connection.execute(text(statement), values).first()
        if row is None:
            return None, ""
        return (None if row.digest is None else row.digest.hex()), row.problem

    def named(self, name: str, sources: Collection[str]) -> list[tuple[str, str, str]]:
        """Sources, paths and digests (hexadecimal) of files with this path in their source, or
        this name; those of a path first. A source that is a file has its name as path."""
        within, values = of_sources(sources)
        statement = (
            "SELECT f.source, f.path, c.digest FROM files f JOIN contents c ON c.id = f.content"
            " WHERE (f.path = :path OR f.path = :none OR"
            f" substr(f.path, -length(:inside)) = :inside){within}"
            " ORDER BY f.path <> :path, f.lost_at, f.path"
        )
        wanted = {
            "path": os.fsencode(name),
            "none": b"",
            "inside": os.fsencode(f"/{name}"),
        }
        with self._engine.connect() as connection:
            rows = connection.execute(text(statement), values | wanted).all()
        found = []
        for row in rows:
            own = row.source.replace("\\", "/").rpartition("/")[2]
            if row.path or own == name:
                found.append((row.source, os.fsdecode(row.path) or own, row.digest.hex()))
        return found[:_MOST_NAMED]

    def documents(self, sources: Sequence[str]) -> list[SurveyDocument]:
        """The files of these sources with a text, in their order and that of their paths; a text
        that several files have, once."""
        # two thirds of the bytes of Chinese, Japanese and Korean are beyond one for each character
        statement = (
            "SELECT f.source, f.path, c.digest, c.characters, c.unit,"
            " (SELECT sum(length(CAST(folded AS BLOB)) - length(folded)) / 2 FROM pieces"
            "  WHERE content = c.id) AS wide"
            " FROM files f JOIN contents c ON c.id = f.content"
            " WHERE f.source = :source AND c.characters > 0 ORDER BY f.path"
        )
        found: dict[bytes, SurveyDocument] = {}
        with self._engine.connect() as connection:
            for source in sources:
                for row in connection.execute(text(statement), {"source": source}):
                    one = SurveyDocument(
                        row.source,
                        os.fsdecode(row.path),
                        row.digest.hex(),
                        about_tokens_of(row.characters, min(row.wide or 0, row.characters)),
                        row.unit == "page",
                    )
                    found.setdefault(row.digest, one)
        return list(found.values())

    def digests(self) -> set[str]:
        """The digests (hexadecimal) of all contents that a file has, or a chat pins."""
        with self._engine.connect() as connection:
            found = connection.scalars(text(_KEPT)).all()
        return {one.hex() for one in found}

    def whole(self, digest: bytes) -> str | None:
        """The text of a content; None if it is not stored."""
        statement = (
            "SELECT p.folded FROM contents c JOIN pieces p ON p.content = c.id"
            " WHERE c.digest = :digest ORDER BY p.start"
        )
        with self._engine.connect() as connection:
            found = connection.scalars(text(statement), {"digest": digest}).all()
        return "".join(map(unfolded, found)) if found else None

    def like(self, word: str, sources: Collection[str], limit: int) -> list[tuple[str, str]]:
        """Sources and paths of files in these folders whose path has a word, short paths first."""
        within, values = of_sources(sources)
        statement = (
            "SELECT source, path FROM files WHERE content IS NOT NULL AND path <> :none AND"
            f" CAST(path AS TEXT) LIKE :word ESCAPE '\\'{within}"
            " ORDER BY length(path), path LIMIT :limit"
        )
        wanted = {"none": b"", "word": f"%{word.translate(_ESCAPED)}%", "limit": limit}
        with self._engine.connect() as connection:
            rows = connection.execute(text(statement), values | wanted).all()
        return [(row.source, os.fsdecode(row.path)) for row in rows]


def of_sources(sources: Collection[str] | None) -> tuple[str, dict[str, str]]:
    """A condition on files, and its values."""
    if sources is None:
        return "", {}
    values = {f"n{number}": source for number, source in enumerate(sources)}
    names = ", ".join(f":{name}" for name in values)
    return f" AND source IN ({names or 'NULL'})", values
