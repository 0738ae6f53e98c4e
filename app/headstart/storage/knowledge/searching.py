"""Searches of the index by words, and the passages behind ids. On the search thread.

A word in more than a third of many pieces tells nothing, in any language. In a few pieces that
resemble each other all words are frequent: there `core.knowledge.function_words` knows those that
tell nothing. In large indexes the frequent words of a question are left out until the rest can be
ranked within milliseconds.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection, Mapping, Sequence, Set

from msgspec import Struct
from sqlalchemy import Connection, Engine, text

from headstart.core.knowledge.function_words import function_words
from headstart.core.knowledge.terms import Terms, has_exactly, phrase_of, widened
from headstart.core.knowledge.values import KnowledgeHit, Place
from headstart.core.text.folding import plain, unfolded
from headstart.storage.knowledge.texts import of_sources

# a word in more pieces than this share is left out, if rarer ones are left; in an index of a few
# pieces the share tells nothing
_FREQUENT, _FEW_PIECES = 1 / 3, 300
# words that are looked up however frequent they are
_LEAST_WORDS = 2
# most pieces that all words of a question may have together: ranking takes 1 us for each
_RANKED = 8_000
# pieces of a scope from which on frequent words are left out as well, and most pieces that the
# words may have together in the whole index
_SMALL_SCOPE, _PASSED = 2_000, 60_000
# hits that are compared with the floor
_JUDGED = 40
_TOKENS = re.compile(r"[^\W_]+")
# hits with all exact terms that are looked at; with more than these, names in a question of several
# words tell nothing
_LOOKED_AT, _NAMED, _NAMED_SHARE = 200, 20, 0.03
# the share of pieces with a rare word, and with a word that tells nothing
_FEW, _TELLS_NOTHING = 0.005, 0.3
# pieces after which the index's own counts are believed as much as those shares
_BELIEVED = 200
# the share of a question's information that an answer has at least
_ENOUGH = 0.33
# the share of a heading's words in the rank, beside those of the text
_HEADING, _TEXT = 0.6, 1.0


class WordHits(Struct, frozen=True):
    """Ids of pieces, best first, and those that have all exact terms. `strong`: pieces with enough
    of the question's information to be an answer. `sharing`: those with a word that tells what it
    is about."""

    ranked: tuple[int, ...] = ()
    exact: tuple[int, ...] = ()
    strong: frozenset[int] = frozenset()
    sharing: frozenset[int] = frozenset()


class KnowledgeSearch:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # numbers of pieces by word, as of a state of the index
        self._counts: dict[str, int] = {}
        self._state: tuple[int, int] = (0, 0)
        self._total = 0
        self._scopes: dict[tuple[str, ...], int] = {}

    def words(self, terms: Terms, limit: int, sources: Collection[str] | None = None) -> WordHits:
        """Pieces by words, at most `limit`; `sources`: the ones to search, None for all."""
        if not terms:
            return WordHits()
        with self._engine.connect() as connection:
            total = self._follow(connection)
            words = self._counted(connection, terms.words, total)
            small = self._is_small(connection, sources, total)
            within, values = _within(sources)
            # many pieces tell by themselves which words tell nothing
            few = small or total <= _FEW_PIECES
            telling = [one for one in words if one.tells and one.count] if few else words
            match = " OR ".join(word.phrase for word in _rare(telling or words, total, small))
            ranked = _ranked(connection, match, within, values, limit)
            if few and telling and not ranked:
                match = " OR ".join(word.phrase for word in _rare(words, total, small))
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
            strong, sharing = _judged(words, _texts(connection, ranked[:_JUDGED]), total)
        wanted = set(exact)
        first = [*dict.fromkeys((*(one for one in ranked if one in wanted), *exact))]
        # as the user wrote them before other capitals
        first.sort(key=lambda one: not all(term in shown[one] for term in terms.exact))
        return WordHits(
            tuple(dict.fromkeys((*first, *ranked)))[:limit],
            tuple(first[:limit]),
            strong,
            sharing,
        )

    def _follow(self, connection: Connection) -> int:
        """The number of pieces; forgets what was counted in another state of the index."""
        last = connection.scalar(text("SELECT max(id) FROM pieces")) or 0
        state = (last, connection.scalar(text("PRAGMA data_version")) or 0)
        if state != self._state:
            self._total = connection.scalar(text("SELECT count(*) FROM pieces")) or 0
            self._counts, self._state = {}, state
            self._scopes.clear()
        return self._total

    def _is_small(
        self, connection: Connection, sources: Collection[str] | None, total: int
    ) -> bool:
        """True for sources with a few of the pieces."""
        if sources is None:
            return False
        key = tuple(sorted(sources))
        if key not in self._scopes:
            inside, values = of_sources(key)
            statement = (
                "SELECT count(*) FROM pieces WHERE content IN"
                f" (SELECT content FROM files WHERE TRUE{inside})"
            )
            self._scopes[key] = connection.scalar(text(statement), values) or 0
        return self._scopes[key] <= min(_SMALL_SCOPE, total // 2)

    def _counted(self, connection: Connection, words: Sequence[str], total: int) -> list[_Word]:
        """The words of a question with their numbers of pieces, the rarest first; 0 for a word
        that no piece has."""
        most = min(int(total * _FREQUENT), _RANKED) + 1
        for word in words:
            if word not in self._counts:
                # a frequent word's list is long: counted once
                self._counts[word] = _count(connection, word, most)
        nothing = function_words(words)
        found = [_Word(widened(word), self._counts[word], word not in nothing) for word in words]
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
        named, values = of_sources(sources)
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
    """A word of a question: the phrase to look up, and the number of pieces with it. `tells`: it
    says something about the question's subject."""

    phrase: str
    count: int
    tells: bool

    def is_in(self, shown: str, tokens: Set[str]) -> bool:
        """True if a text in its plain form, with these tokens, has the word."""
        word = self.phrase.strip('"*')
        if " " in word:
            return word.replace(" ", "") in shown
        if self.phrase.endswith("*"):
            return any(token.startswith(word) for token in tokens)
        return word in tokens

    def weight(self, total: int) -> float:
        """Information of the word in an index of `total` pieces: the logarithm of the share of
        pieces that have it (Robertson, Sparck Jones 1976), where few pieces count less than what is
        known of such words anyway. In all languages with spaces, short words carry less."""
        letters = 2 if " " in self.phrase else min(8, len(self.phrase.strip('"*')))
        expected = _FEW if self.tells else _TELLS_NOTHING
        share = (self.count + _BELIEVED * expected) / (total + _BELIEVED)
        return letters * -math.log(max(share, expected))


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


def _rare(words: Sequence[_Word], total: int, small: bool) -> list[_Word]:
    """The words by which pieces are ranked; `small`: those of a small scope, in which the frequent
    words may be what tells one from the other."""
    found, together = list[_Word](), 0
    most = _PASSED if small else _RANKED
    few = small or total <= _FEW_PIECES
    for word in words:
        if not word.count:
            continue
        together += word.count
        many = (word.count > total * _FREQUENT and not few) or together > most
        if len(found) >= _LEAST_WORDS and many:
            break
        found.append(word)
    return found


def _within(sources: Collection[str] | None) -> tuple[str, dict[str, str]]:
    """A condition on words, and its values."""
    inside, values = of_sources(sources)
    if not inside:
        return "", {}
    # the plus keeps SQLite from matching once for each of these pieces, which takes seconds
    within = (
        " AND +words.rowid IN (SELECT p.id FROM files f JOIN pieces p ON p.content = f.content"
        f"{inside})"
    )
    return within, values


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


def _judged(
    words: Sequence[_Word], shown: Mapping[int, str], total: int
) -> tuple[frozenset[int], frozenset[int]]:
    """The pieces with enough of a question's information to be an answer: the others only share a
    word with it; and those that share one which tells what it is about. `shown`: their texts."""
    weights = [(word, word.weight(total)) for word in words if word.count]
    needed = _ENOUGH * sum(word.weight(total) for word in words)
    strong, sharing = set[int](), set[int]()
    for one, body in shown.items():
        text_ = plain(body)
        tokens = set(_TOKENS.findall(text_))
        found = [(word, weight) for word, weight in weights if word.is_in(text_, tokens)]
        if not any(word.tells for word, _ in found):
            continue
        sharing.add(one)
        if sum(weight for _, weight in found) >= needed:
            strong.add(one)
    return frozenset(strong), frozenset(sharing)


def _numbers(ids: Sequence[int]) -> str:
    return ", ".join(str(int(one)) for one in ids)
