"""Vectors of the pieces in the index: stored by the writer, searched by the reader.

A vector belongs to a piece's digest and to an embedding model: an edit costs the vectors of the
changed pieces only, and another model's vectors are made while the old ones serve.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from msgspec import Struct
from sqlalchemy import Connection, Engine, text

from headstart.core.knowledge.pieces import meant
from headstart.core.text.folding import unfolded

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from headstart.core.knowledge.vectors import Vector

# candidates by signs, of which the best by cosine are taken
_CANDIDATES = 600


class Unmeant(Struct, frozen=True):
    """A piece without a vector, and the text that the vector is made of."""

    digest: bytes
    text: str


class VectorTable:
    """On the knowledge thread."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def embedder(self, key: str) -> int:
        """The number of an embedding model; `key`: its content."""
        with self._engine.begin() as connection:
            connection.execute(
                text("INSERT OR IGNORE INTO embedders (key) VALUES (:key)"), {"key": key}
            )
            found = connection.scalar(
                text("SELECT id FROM embedders WHERE key = :key"), {"key": key}
            )
        assert found is not None
        return int(found)

    def missing(self, embedder: int, limit: int) -> list[Unmeant]:
        """Pieces without a vector of this model, the first read first."""
        statement = (
            "SELECT p.digest, p.heading, p.folded FROM pieces p WHERE NOT EXISTS"
            " (SELECT 1 FROM vectors v WHERE v.embedder = :embedder AND v.digest = p.digest)"
            " ORDER BY p.id LIMIT :limit"
        )
        with self._engine.connect() as connection:
            rows = connection.execute(text(statement), {"embedder": embedder, "limit": limit})
            found = {row.digest: meant(unfolded(row.heading), unfolded(row.folded)) for row in rows}
        return [Unmeant(digest, body) for digest, body in found.items()]

    def begun(self, embedder: int) -> bool:
        """True if any piece has a vector of this model."""
        statement = "SELECT 1 FROM vectors WHERE embedder = :embedder LIMIT 1"
        with self._engine.connect() as connection:
            found = connection.execute(text(statement), {"embedder": embedder}).first()
        return found is not None

    def add(self, embedder: int, vectors: Iterable[tuple[bytes, bytes]]) -> None:
        """Store vectors: the digest of the piece, and float32 numbers."""
        import numpy as np

        from headstart.core.knowledge.vectors import packed

        rows = []
        for digest, vector in vectors:
            bits, numbers = packed(np.frombuffer(vector, np.float32))
            rows.append({"embedder": embedder, "digest": digest, "bits": bits, "vector": numbers})
        if not rows:
            return
        with self._engine.begin() as connection:
            connection.execute(
                text(
                    "INSERT OR IGNORE INTO vectors (embedder, digest, bits, vector)"
                    " VALUES (:embedder, :digest, :bits, :vector)"
                ),
                rows,
            )

    def keep_only(self, embedder: int) -> None:
        """Delete the vectors of other models, and those of pieces that went."""
        with self._engine.begin() as connection:
            connection.execute(
                text(
                    "DELETE FROM vectors WHERE embedder <> :embedder"
                    " OR digest NOT IN (SELECT digest FROM pieces)"
                ),
                {"embedder": embedder},
            )


class MeaningSearch:
    """The signs of one model's vectors in memory. On the search thread."""

    def __init__(self, engine: Engine, embedder: int) -> None:
        self._engine = engine
        self.embedder = embedder
        # ids of the pieces with a vector, as of the last search
        self.known: frozenset[int] = frozenset()
        self._pieces: list[int] = []
        self._vectors: list[int] = []
        self._signs: npt.NDArray[np.uint64] | None = None
        self._last_piece = self._last_vector = 0
        self._seen = -1
        self._allowed: dict[tuple[str, ...], frozenset[int]] = {}

    def nearest(
        self, query: Vector, limit: int, sources: Collection[str] | None = None
    ) -> list[tuple[int, float]]:
        """Ids of pieces and their cosines, the nearest first, at most `limit`."""
        import numpy as np

        from headstart.core.knowledge.vectors import cosines, nearest

        with self._engine.connect() as connection:
            self._follow(connection, len(query))
            signs = self._signs
            if signs is None or not len(signs):
                return []
            rows = np.arange(len(signs))
            if sources is not None:
                allowed = self._allowed_pieces(connection, tuple(sorted(sources)))
                kept = np.fromiter(
                    (one in allowed for one in self._pieces), bool, len(self._pieces)
                )
                rows, signs = rows[kept], signs[kept]
            chosen = rows[nearest(signs, query, _CANDIDATES)]
            by_vector: dict[int, list[int]] = {}
            for row in chosen:
                by_vector.setdefault(self._vectors[row], []).append(self._pieces[row])
            numbers = ", ".join(map(str, by_vector)) or "NULL"
            stored = connection.execute(
                text(f"SELECT id, vector FROM vectors WHERE id IN ({numbers})")
            ).all()
        near = cosines([row.vector for row in stored], query)
        found = [
            (piece, float(value))
            for row, value in zip(stored, near, strict=True)
            for piece in by_vector[row.id]
        ]
        return sorted(found, key=lambda one: (-one[1], one[0]))[:limit]

    def _follow(self, connection: Connection, width: int) -> None:
        """Add what was stored since the last search."""
        now = connection.scalar(text("PRAGMA data_version")) or 0
        if now == self._seen and self._signs is not None:
            return
        import numpy as np

        from headstart.core.knowledge.vectors import signs_of

        new = connection.execute(
            text(
                "SELECT p.id AS piece, v.id AS vector, v.bits FROM vectors v"
                " JOIN pieces p ON p.digest = v.digest"
                " WHERE v.embedder = :embedder AND (v.id > :vector OR p.id > :piece)"
            ),
            {"embedder": self.embedder, "vector": self._last_vector, "piece": self._last_piece},
        ).all()
        self._pieces += [row.piece for row in new]
        self._vectors += [row.vector for row in new]
        signs = signs_of([row.bits for row in new], width)
        before = self._signs
        self._signs = signs if before is None else np.concatenate((before, signs))
        self._last_piece = connection.scalar(text("SELECT max(id) FROM pieces")) or 0
        self._last_vector = connection.scalar(text("SELECT max(id) FROM vectors")) or 0
        self._seen = now
        self._allowed.clear()
        self._drop_gone(connection)
        self.known = frozenset(self._pieces)

    def _drop_gone(self, connection: Connection) -> None:
        """Leave out pieces that were removed since."""
        import numpy as np

        there = set(connection.scalars(text("SELECT id FROM pieces")))
        kept = [number for number, piece in enumerate(self._pieces) if piece in there]
        if len(kept) == len(self._pieces) or self._signs is None:
            return
        self._pieces = [self._pieces[number] for number in kept]
        self._vectors = [self._vectors[number] for number in kept]
        self._signs = self._signs[np.asarray(kept, dtype=np.int64)]

    def _allowed_pieces(self, connection: Connection, sources: tuple[str, ...]) -> frozenset[int]:
        if sources not in self._allowed:
            names = ", ".join(f":s{number}" for number in range(len(sources)))
            found = connection.scalars(
                text(
                    "SELECT p.id FROM files f JOIN pieces p ON p.content = f.content"
                    f" WHERE f.source IN ({names or 'NULL'})"
                ),
                {f"s{number}": source for number, source in enumerate(sources)},
            )
            self._allowed[sources] = frozenset(found)
        return self._allowed[sources]
