"""Searches of the index by words, and the passages behind ids. On the search thread.

A word in more than a third of the pieces tells nothing, in any language, so no list of stop words
is needed. In large indexes the frequent words of a question are left out until the rest can be
ranked within milliseconds.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection, Mapping, Sequence, Set

from msgspec import Struct
from sqlalchemy import Connection, Engine, text

from headstart.core.chats.attachments import about_tokens_of
from headstart.core.knowledge.survey import SurveyDocument
from headstart.core.knowledge.terms import Terms, has_exactly, phrase_of, widened
from headstart.core.knowledge.values import KnowledgeHit, Place
from headstart.core.text.folding import plain, unfolded

# a word in more pieces than this share is left out, if rarer ones are left
_FREQUENT = 1 / 3
# words that are looked up however frequent they are
_LEAST_WORDS = 2
# most pieces that all words of a question may have together: ranking takes 1 us for each
_RANKED = 8_000
# hits that are compared with the floor
_JUDGED = 40
# files of one name in an answer
_MOST_NAMED = 20
_TOKENS = re.compile(r"[^\W_]+")
# hits with all exact terms that are looked at; with more than these, names in a question of several
# words tell nothing
_LOOKED_AT, _NAMED, _NAMED_SHARE = 200, 20, 0.03
# the share of pieces with a rare word
_FEW = 0.005
# the share of a question's information that an answer has at least
_ENOUGH = 0.33
_KEPT = (
    "SELECT digest FROM contents c WHERE EXISTS (SELECT 1 FROM files WHERE content = c.id)"
    " OR digest IN (SELECT digest FROM pins)"
)
# the share of a heading's words in the rank, beside those of the text
_HEADING, _TEXT = 0.6, 1.0


class WordHits(Struct, frozen=True):
    """Ids of pieces, best first, and those that have all exact terms. `strong`: pieces with enough
    of the question's rare words to be an answer."""

    ranked: tuple[int, ...] = ()
    exact: tuple[int, ...] = ()
    strong: frozenset[int] = frozenset()


class KnowledgeSearch:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # numbers of pieces by word, as of a state of the index
        self._counts: dict[str, int] = {}
        self._state: tuple[int, int] = (0, 0)
        self._total = 0

    def words(self, terms: Terms, limit: int, sources: Collection[str] | None = None) -> WordHits:
        """Pieces by words, at most `limit`; `sources`: the ones to search, None for all."""
        if not terms:
            return WordHits()
        with self._engine.connect() as connection:
            total = self._follow(connection)
            words = self._counted(connection, terms.words, total)
            within, values = _within(sources)
            match = " OR ".join(word.phrase for word in _rare(words, total))
            ranked = _ranked(connection, match, within, values, limit)
            exact: list[int] = []
            shown: dict[int, str] = {}
            if terms.exact:
                match = " AND ".join(filter(None, map(phrase_of, terms.exact)))
                literally, given = _literally(terms.exact)
                candidates = _ranked(
                    connection, match, within + literally, values | given, _LOOKED_AT
                )
                shown = _texts(connection, candidates)
                exact = [one for one in shown if has_exactly(shown[one], terms.exact)]
                many = len(exact) > max(_NAMED, total * _NAMED_SHARE)
                if many and not terms.quoted and len(terms.exact) < _word_count(terms):
                    exact = []
            strong = _strong(words, _texts(connection, ranked[:_JUDGED]), total)
        wanted = set(exact)
        first = [*dict.fromkeys((*(one for one in ranked if one in wanted), *exact))]
        # as the user wrote them before other capitals
        first.sort(key=lambda one: not all(term in shown[one] for term in terms.exact))
        return WordHits(
            tuple(dict.fromkeys((*first, *ranked)))[:limit], tuple(first[:limit]), frozenset(strong)
        )

    def _follow(self, connection: Connection) -> int:
        """The number of pieces; forgets what was counted in another state of the index."""
        last = connection.scalar(text("SELECT max(id) FROM pieces")) or 0
        state = (last, connection.scalar(text("PRAGMA data_version")) or 0)
        if state != self._state:
            self._total = connection.scalar(text("SELECT count(*) FROM pieces")) or 0
            self._counts, self._state = {}, state
        return self._total

    def _counted(self, connection: Connection, words: Sequence[str], total: int) -> list[_Word]:
        """The words of a question with their numbers of pieces, the rarest first; 0 for a word
        that no piece has."""
        most = min(int(total * _FREQUENT), _RANKED) + 1
        for word in words:
            if word not in self._counts:
                # a frequent word's list is long: counted once
                self._counts[word] = _count(connection, word, most)
        found = [_Word(widened(word), self._counts[word]) for word in words]
        return sorted(found, key=lambda one: (one.count, one.phrase))

    def hits(
        self,
        ids: Sequence[int],
        exact: Collection[int] = (),
        sources: Collection[str] | None = None,
    ) -> list[KnowledgeHit]:
        """The passages of pieces, in the order of `ids`, named by a file of these sources; a piece
        without one is left out."""
        if not ids:
            return []
        named, values = _of_sources(sources)
        statement = (
            "SELECT p.id, p.start, p.stop, p.page, p.line, p.heading, p.folded, c.digest,"
            " f.source, f.path FROM pieces p JOIN contents c ON c.id = p.content"
            f" JOIN files f ON f.id = (SELECT id FROM files WHERE content = c.id{named}"
            " ORDER BY lost_at, id LIMIT 1)"
            f" WHERE p.id IN ({_numbers(ids)})"
        )
        wanted = frozenset(exact)
        found: dict[int, KnowledgeHit] = {}
        with self._engine.connect() as connection:
            for row in connection.execute(text(statement), values):
                place = Place(
                    row.source,
                    os.fsdecode(row.path),
                    row.digest.hex(),
                    row.start,
                    row.stop,
                    row.page,
                    row.line,
                )
                found[row.id] = KnowledgeHit(
                    row.id, place, unfolded(row.heading), unfolded(row.folded), row.id in wanted
                )
        return [found[one] for one in ids if one in found]

    def around(self, piece: int) -> tuple[int | None, int | None]:
        """The pieces before and after a piece, of the same text."""
        statement = (
            "SELECT p.id FROM pieces o JOIN pieces p ON p.content = o.content"
            " AND (p.stop = o.start OR p.start = o.stop) WHERE o.id = :piece ORDER BY p.start"
        )
        with self._engine.connect() as connection:
            found = connection.scalars(text(statement), {"piece": piece}).all()
        before = next((one for one in found if one < piece), None)
        return before, next((one for one in found if one > piece), None)

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
        of_sources, values = _of_sources(sources)
        statement = (
            "SELECT f.source, f.path, c.digest FROM files f JOIN contents c ON c.id = f.content"
            " WHERE (f.path = :path OR f.path = :none OR"
            f" substr(f.path, -length(:inside)) = :inside){of_sources}"
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


def _literally(terms: Sequence[str]) -> tuple[str, dict[str, str]]:
    """A condition that leaves out most pieces without the terms; SQLite lowers ASCII only."""
    values = {f"x{number}": term.lower() for number, term in enumerate(terms) if term.isascii()}
    found = "".join(
        f" AND instr(lower(words.heading || char(10) || words.folded), :{name}) > 0"
        for name in values
    )
    return found, values


def _word_count(terms: Terms) -> int:
    """Number of words if the question has nothing but its exact terms; else more than those."""
    inside = {word for term in terms.exact for word in phrase_of(term)[1:-1].split()}
    others = [one for one in terms.words if not inside.issuperset(one[1:-1].split())]
    return len(terms.exact) + len(others)


class _Word(Struct, frozen=True):
    """A word of a question: the phrase to look up, and the number of pieces with it."""

    phrase: str
    count: int

    def is_in(self, shown: str, tokens: Set[str]) -> bool:
        """True if a text in its plain form, with these tokens, has the word."""
        word = self.phrase.strip('"*')
        if " " in word:
            return word.replace(" ", "") in shown
        if self.phrase.endswith("*"):
            return any(token.startswith(word) for token in tokens)
        return word in tokens

    def weight(self, total: int) -> float:
        """Information of the word in an index of `total` pieces (Robertson, Sparck Jones 1976). In
        all languages with spaces, short words carry less; one that no piece has counts like one
        that few have."""
        letters = 2 if " " in self.phrase else min(8, len(self.phrase.strip('"*')))
        count = max(self.count, 0.5, total * _FEW)
        return letters * math.log(1 + (max(total - count, 0) + 0.5) / (count + 0.5))


def _count(connection: Connection, word: str, most: int) -> int:
    """The number of pieces with a word; of pairs of signs, and of words that the index has in
    other forms only, at most `most`."""
    phrase, count = widened(word), 0
    if " " not in word:
        statement = "SELECT doc FROM vocabulary WHERE term = :word"
        count = connection.scalar(text(statement), {"word": word.strip('"')}) or 0
    if not count and (" " in word or phrase != word):
        statement = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH :word LIMIT :most)"
        count = connection.scalar(text(statement), {"word": phrase, "most": most}) or 0
    return int(count)


def _rare(words: Sequence[_Word], total: int) -> list[_Word]:
    """The words by which pieces are ranked."""
    found, together = list[_Word](), 0
    for word in words:
        if not word.count:
            continue
        together += word.count
        many = word.count > total * _FREQUENT or together > _RANKED
        if len(found) >= _LEAST_WORDS and many:
            break
        found.append(word)
    return found


def _within(sources: Collection[str] | None) -> tuple[str, dict[str, str]]:
    """A condition on words, and its values."""
    of_sources, values = _of_sources(sources)
    if not of_sources:
        return "", {}
    within = (
        " AND words.rowid IN (SELECT p.id FROM files f JOIN pieces p ON p.content = f.content"
        f"{of_sources})"
    )
    return within, values


def _of_sources(sources: Collection[str] | None) -> tuple[str, dict[str, str]]:
    """A condition on files, and its values."""
    if sources is None:
        return "", {}
    values = {f"n{number}": source for number, source in enumerate(sources)}
    names = ", ".join(f":{name}" for name in values)
    return f" AND source IN ({names or 'NULL'})", values


def _ranked(
    connection: Connection, match: str, within: str, values: dict[str, str], limit: int
) -> list[int]:
    if not match:
        return []
    statement = (
        f"SELECT words.rowid FROM words WHERE words MATCH :match{within}"
        f" ORDER BY bm25(words, {_HEADING}, {_TEXT}) LIMIT :limit"
    )
    return list(connection.scalars(text(statement), values | {"match": match, "limit": limit}))


def _texts(connection: Connection, ids: Sequence[int]) -> dict[int, str]:
    """Headings and texts of pieces, in the order of `ids`."""
    statement = f"SELECT id, heading, folded FROM pieces WHERE id IN ({_numbers(ids)})"
    found = {
        row.id: f"{unfolded(row.heading)}\n{unfolded(row.folded)}"
        for row in connection.execute(text(statement))
    }
    return {one: found[one] for one in ids if one in found}


def _strong(words: Sequence[_Word], shown: Mapping[int, str], total: int) -> list[int]:
    """The pieces with enough of a question's information to be an answer: those without only
    share a word with it. `shown`: their texts."""
    weights = [(word, word.weight(total)) for word in words if word.count]
    needed = _ENOUGH * sum(word.weight(total) for word in words)
    found = []
    for one, body in shown.items():
        text_ = plain(body)
        tokens = set(_TOKENS.findall(text_))
        has = sum(weight for word, weight in weights if word.is_in(text_, tokens))
        if has >= needed:
            found.append(one)
    return found


def _numbers(ids: Sequence[int]) -> str:
    return ", ".join(str(int(one)) for one in ids)
