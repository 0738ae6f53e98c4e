"""Search for words in the texts of messages. On the storage thread.

Triggers keep the index in step with the texts (`search_tables`). Older texts are added in slices,
the newest first, while the program is idle.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from msgspec import Struct
from sqlalchemy import Connection, Engine, select, text
from sqlalchemy.exc import SQLAlchemyError

from headstart.core.chats.bounds import moment_of
from headstart.core.chats.finding import spans_of
from headstart.core.chats.search import ChatMatches, Filters, SearchHit, Snippet
from headstart.core.chats.snippets import without_signs
from headstart.core.text.folding import match_of, plain, unfolded
from headstart.storage.tables.definitions import chats
from headstart.storage.tables.search import CREATE, LEFT, TABLE, is_of_this_make

log = logging.getLogger(__name__)
T = TypeVar("T")

# texts added at once (a slice of some 10 ms), and pages merged at once
_SLICE, _MERGE = 100, 60
# characters of a text searched for a snippet, and characters shown before a match
_BEGINNING, _AROUND = 4_000, 40
# tokens of a snippet; marks around a match
_TOKENS = 14
_FROM, _TO = "\x01", "\x02"
_TRIGGERS = ("added", "removed", "changed_from", "changed_to")
_DROP = (
    *(f"DROP TRIGGER IF EXISTS {TABLE}_{name}" for name in _TRIGGERS),
    f"DROP TABLE IF EXISTS {TABLE}",
    f"DROP VIEW IF EXISTS {TABLE}_texts",
    f"DROP TABLE IF EXISTS {LEFT}",
)


class SearchTable:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def find(self, query: str, filters: Filters, limit: int) -> list[SearchHit]:
        """Messages with all words of a query, the latest first, at most `limit`; searches listed
        and archived chats."""
        return self._safely(lambda connection: _latest(connection, query, filters, limit))

    def matches(self, query: str, filters: Filters, each: int) -> list[ChatMatches]:
        """All chats with a message that has all words of a query, with the latest `each` of its
        matching parts, at most one of a message."""
        return self._safely(lambda connection: _matches(connection, query, filters, each))

    def hits(self, query: str, parts: Sequence[int]) -> list[SearchHit]:
        """The messages of matching parts, in their order."""
        return self._safely(lambda connection: _hits(connection, query, parts))

    def places(
        self, query: str, filters: Filters, chat_id: str, begin: int, most: int
    ) -> list[SearchHit]:
        """Messages of a chat with all words of a query, the latest first: `most` from the number
        `begin` on."""

        def look(connection: Connection) -> list[SearchHit]:
            parts = _parts_in(connection, query, filters, chat_id, begin, most)
            return _hits(connection, query, parts)

        return self._safely(look)

    def _safely(self, look: Callable[[Connection], T]) -> T:
        try:
            with self._engine.connect() as connection:
                return look(connection)
        except SQLAlchemyError as error:
            # the index only copies existing texts: it can always be rebuilt
            log.warning("the index of words is made again: %s", type(error).__name__)
            self.make_again()
            with self._engine.connect() as connection:
                return look(connection)

    def titles(self, query: str) -> list[str]:
        """All chats with all words in their title, the last used first."""
        words = plain(query.replace('"', " ")).split()
        if not words:
            return []
        like = [f"plain(title) LIKE :w{number} ESCAPE '!'" for number in range(len(words))]
        values = {f"w{number}": f"%{_escaped(word)}%" for number, word in enumerate(words)}
        with self._engine.connect() as connection:
            found = connection.scalars(
                text(
                    f"SELECT id FROM chats WHERE deleted_at IS NULL AND {' AND '.join(like)}"
                    " ORDER BY updated_at DESC"
                ),
                values,
            )
            return list(found)

    def chats(self, ids: Iterable[str]) -> dict[str, tuple[str, int, bool]]:
        """Titles, times of last use, and whether the chats are archived."""
        wanted = list(dict.fromkeys(ids))
        columns = (chats.c.id, chats.c.title, chats.c.updated_at, chats.c.archived_at)
        with self._engine.connect() as connection:
            return {
                row.id: (row.title, moment_of(row.updated_at), row.archived_at is not None)
                for row in connection.execute(select(*columns).where(chats.c.id.in_(wanted)))
            }

    def build(self) -> bool:
        """Add a slice of the texts not indexed yet, the newest first; returns whether more may
        remain."""
        with self._engine.begin() as connection:
            newest = f"SELECT first, last FROM {LEFT} ORDER BY last DESC LIMIT 1"
            row = connection.execute(text(newest)).first()
            if row is None:
                return False
            span = {"first": row.first, "last": row.last}
            ids = connection.scalars(
                text(
                    "SELECT rowid FROM parts WHERE rowid BETWEEN :first AND :last"
                    " ORDER BY rowid DESC LIMIT :most"
                ),
                span | {"most": _SLICE},
            ).all()
            low = ids[-1] if len(ids) == _SLICE else row.first
            connection.execute(
                text(
                    f"INSERT INTO {TABLE}(rowid, text) SELECT id, text FROM {TABLE}_texts"
                    " WHERE id BETWEEN :low AND :last"
                ),
                span | {"low": low},
            )
            if low == row.first:
                connection.execute(text(f"DELETE FROM {LEFT} WHERE first = :first"), span)
            else:
                connection.execute(
                    text(f"UPDATE {LEFT} SET last = :low - 1 WHERE first = :first"),
                    span | {"low": low},
                )
        return True

    def is_whole(self) -> bool:
        """False while some texts are not in the index yet."""
        with self._engine.connect() as connection:
            return connection.execute(text(f"SELECT 1 FROM {LEFT} LIMIT 1")).first() is None

    def merge(self, begin: bool = False) -> bool:
        """Purge the words of removed texts from the index, a slice at a time; returns whether more
        remain."""
        with self._engine.begin() as connection:
            before = connection.scalar(text("SELECT total_changes()")) or 0
            pages = -_MERGE if begin else _MERGE
            connection.execute(
                text(f"INSERT INTO {TABLE}({TABLE}, rank) VALUES ('merge', :pages)"),
                {"pages": pages},
            )
            after = connection.scalar(text("SELECT total_changes()")) or 0
        # SQLite's documentation: fewer than two changes mean that there was nothing to merge
        return after - before >= 2

    def renew(self) -> None:
        """Rebuild an index that was made with other rules."""
        query = f"SELECT sql FROM sqlite_master WHERE name = '{TABLE}'"
        with self._engine.connect() as connection:
            made = connection.scalar(text(query))
        if made is not None and not is_of_this_make(made):
            log.info("the index of words is made again, by newer rules")
            self.make_again()

    def make_again(self) -> None:
        """Start from an empty index: `build` adds the texts."""
        with self._engine.begin() as connection:
            for statement in (*_DROP, *CREATE):
                connection.exec_driver_sql(statement)


_JOINED = " JOIN messages m ON m.id = p.message_id JOIN chats c ON c.id = m.chat_id"


class _Wanted(Struct, frozen=True):
    """The matching parts `p` of a search with their messages `m` and chats `c`: the clauses FROM
    and WHERE, the part's number in the index, and their values."""

    source: str
    where: str
    part: str
    values: dict[str, object]

    @classmethod
    def of(cls, query: str, filters: Filters) -> _Wanted | None:
        """None for a search without words and filters."""
        match = match_of(query)
        wanted, values = _conditions(filters)
        if match:
            source, part = f"{TABLE} JOIN parts p ON p.rowid = {TABLE}.rowid", f"{TABLE}.rowid"
            wanted.insert(0, f"{TABLE} MATCH :match")
            values["match"] = match
        elif filters.any:
            # no words: use the filters alone
            source, part = "parts p", "p.rowid"
            wanted.insert(0, "p.kind IN ('text', 'file')")
        else:
            return None
        return cls(source + _JOINED, " AND ".join(wanted), part, values)


def _latest(connection: Connection, query: str, filters: Filters, limit: int) -> list[SearchHit]:
    wanted = _Wanted.of(query, filters)
    if wanted is None:
        return []
    tail = f"ORDER BY {wanted.part} DESC LIMIT :limit"
    return list(_shown(connection, query, wanted, tail, {"limit": limit}).values())


def _matches(connection: Connection, query: str, filters: Filters, each: int) -> list[ChatMatches]:
    wanted = _Wanted.of(query, filters)
    if wanted is None:
        return []
    rows = connection.execute(
        text(
            f"WITH hits AS (SELECT m.chat_id AS chat_id, max({wanted.part}) AS part"
            f" FROM {wanted.source} WHERE {wanted.where} GROUP BY m.id),"
            " placed AS (SELECT chat_id, part, count(*) OVER (PARTITION BY chat_id) AS messages,"
            " row_number() OVER (PARTITION BY chat_id ORDER BY part DESC) AS place FROM hits)"
            " SELECT chat_id, part, messages FROM placed WHERE place <= :each"
            " ORDER BY chat_id, place"
        ),
        wanted.values | {"each": each},
    )
    counts: dict[str, int] = {}
    parts: dict[str, list[int]] = {}
    for row in rows:
        counts[row.chat_id] = row.messages
        parts.setdefault(row.chat_id, []).append(row.part)
    return [ChatMatches(one, count, tuple(parts[one])) for one, count in counts.items()]


def _parts_in(
    connection: Connection, query: str, filters: Filters, chat_id: str, begin: int, most: int
) -> list[int]:
    wanted = _Wanted.of(query, filters)
    if wanted is None:
        return []
    inside = (
        f"{wanted.part} IN (SELECT o.rowid FROM messages n JOIN parts o ON o.message_id = n.id"
        " WHERE n.chat_id = :chat)"
    )
    found = connection.scalars(
        text(
            f"SELECT max({wanted.part}) AS part FROM {wanted.source} WHERE {wanted.where}"
            f" AND {inside} GROUP BY m.id ORDER BY part DESC LIMIT :most OFFSET :begin"
        ),
        wanted.values | {"chat": chat_id, "most": most, "begin": begin},
    )
    return list(found)


def _hits(connection: Connection, query: str, parts: Sequence[int]) -> list[SearchHit]:
    # parts that matched are known: their chats and filters are not looked at again
    wanted = _Wanted.of(query, Filters()) or _Wanted(f"parts p{_JOINED}", "TRUE", "p.rowid", {})
    if not parts:
        return []
    numbers = ", ".join(str(int(one)) for one in parts)
    # the plus keeps SQLite from matching once for each of them
    found = _shown(connection, query, wanted, f"AND +{wanted.part} IN ({numbers})", {})
    return [found[one] for one in parts if one in found]


def _shown(
    connection: Connection, query: str, wanted: _Wanted, tail: str, values: dict[str, object]
) -> dict[int, SearchHit]:
    """Hits with their snippets by the numbers of their parts, in the order of the rows."""
    snippet, begins = "substr(p.text, 1, 160)", "''"
    if "match" in wanted.values:
        snippet = f"snippet({TABLE}, 0, '{_FROM}', '{_TO}', '…', {_TOKENS})"
        begins = f"substr(p.text, 1, {_BEGINNING})"
    rows = connection.execute(
        text(
            f"SELECT {wanted.part} AS number, m.id, m.chat_id, m.role, m.created_at, p.kind,"
            f" {snippet} AS piece, {begins} AS begins"
            f" FROM {wanted.source} WHERE {wanted.where} {tail}"
        ),
        wanted.values | values,
    )
    return {
        row.number: SearchHit(
            row.chat_id,
            row.id,
            row.role,
            moment_of(row.created_at),
            without_signs(_snippet(row.piece) or _around(query, row.begins)),
            row.kind,
        )
        for row in rows
    }


def _conditions(filters: Filters) -> tuple[list[str], dict[str, object]]:
    wanted, values = ["c.deleted_at IS NULL"], dict[str, object]()
    if filters.model:
        wanted.append("m.model LIKE :model ESCAPE '!'")
        values["model"] = f"%{_escaped(filters.model)}%"
    if filters.after:
        wanted.append("m.created_at >= :after")
        values["after"] = filters.after
    if filters.before:
        wanted.append("m.created_at < :before")
        values["before"] = filters.before
    if filters.folder:
        wanted.append("(c.folder = :folder OR c.folder LIKE :inside ESCAPE '!')")
        values |= {"folder": filters.folder, "inside": f"{_escaped(filters.folder)}/%"}
    if filters.tag:
        wanted.append("c.tags LIKE :tag ESCAPE '!'")
        values["tag"] = f'%"{_escaped(filters.tag)}"%'
    if filters.has_code:
        wanted.append("p.text LIKE '%```%'")
    if filters.has_file:
        wanted.append(
            "EXISTS (SELECT 1 FROM parts f WHERE f.message_id = m.id"
            " AND f.kind IN ('file', 'image'))"
        )
    return wanted, values


def _escaped(text: str) -> str:
    """Escape a text for LIKE."""
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")


def _around(query: str, text: str) -> Snippet:
    """An excerpt around the first matching word, if only its plain form is in the index."""
    spans = [span for word in query.split() for span in spans_of(word, text)]
    at = max(0, min(spans, default=(0, 0))[0] - _AROUND)
    piece = text[at : at + 4 * _AROUND]
    marks = sorted((begin - at, end - at) for begin, end in spans if end - at <= len(piece))
    return Snippet(piece, tuple(marks))


def _snippet(piece: str) -> Snippet | None:
    """The text without marks, and their spans, from and to; None if only plain forms match."""
    if _FROM in piece and _FROM not in piece.partition("\x1e")[0]:
        return None
    words, marks = [], []
    at = begin = 0
    for one in _split(unfolded(piece)):
        if one == _FROM:
            begin = at
        elif one == _TO:
            marks.append((begin, at))
        else:
            words.append(one)
            at += len(one)
    return Snippet("".join(words), tuple(marks))


def _split(piece: str) -> Sequence[str]:
    found = [""]
    for character in piece:
        if character in (_FROM, _TO):
            found += [character, ""]
        else:
            found[-1] += character
    return [one for one in found if one]


@contextlib.contextmanager
def indexed_later(connection: Connection) -> Iterator[None]:
    """Index parts that are added in this transaction later: a large import then takes two thirds of
    the time."""
    last = connection.scalar(text("SELECT coalesce(max(rowid), 0) FROM parts")) or 0
    # rowids of removed parts at the end are reused
    connection.execute(text(f"DELETE FROM {LEFT} WHERE first > :last"), {"last": last})
    connection.execute(text(f"UPDATE {LEFT} SET last = :last WHERE last > :last"), {"last": last})
    connection.execute(
        text(f"INSERT INTO {LEFT} VALUES (:first, :last)"), {"first": last + 1, "last": 1 << 62}
    )
    yield
    now = connection.scalar(text("SELECT coalesce(max(rowid), 0) FROM parts")) or 0
    span = {"first": last + 1, "last": now, "before": last}
    connection.execute(text(f"DELETE FROM {LEFT} WHERE first = :first"), span)
    if now > last:
        # one range for consecutive batches
        joined = connection.execute(
            text(f"UPDATE {LEFT} SET last = :last WHERE last = :before"), span
        )
        if not joined.rowcount:
            connection.execute(text(f"INSERT INTO {LEFT} VALUES (:first, :last)"), span)
