"""Searches of the user's files by words and meaning. On the event loop's thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from headstart.chat.knowledge.meaning import Meaning, MeantQuestion
from headstart.core.knowledge.ranking import joined
from headstart.core.knowledge.survey import SurveyDocument
from headstart.core.knowledge.terms import terms_of
from headstart.core.knowledge.values import KnowledgeHit
from headstart.core.text.whole import whole
from headstart.storage.knowledge.index import IndexReader, KnowledgeIndex

if TYPE_CHECKING:
    from headstart.storage.knowledge.searching import WordHits

# hits of each list that are joined
_EACH = 60


class KnowledgeFound(Struct, frozen=True):
    """Passages, best first. `meant`: meanings were compared; `weak`: ids of pieces that only
    resemble the question: below the floor; `sharing`: those with a word that tells what it is
    about."""

    hits: tuple[KnowledgeHit, ...] = ()
    meant: bool = False
    weak: frozenset[int] = frozenset()
    sharing: frozenset[int] = frozenset()

    @property
    def answers(self) -> tuple[KnowledgeHit, ...]:
        """The passages above the floor."""
        return tuple(one for one in self.hits if one.piece not in self.weak)

    @property
    def doubtful(self) -> tuple[KnowledgeHit, ...]:
        """The passages below the floor that have to do with the question."""
        return tuple(one for one in self.hits if one.piece in self.weak & self.sharing)


class SearchScope(Struct, frozen=True):
    """Sources to search, None for the whole index, and those whose files are named."""

    searched: Collection[str] | None
    named: Collection[str]


class KnowledgeSearching:
    def __init__(
        self, index: KnowledgeIndex, meaning: Meaning, known: Callable[[], tuple[str, ...]]
    ) -> None:
        """`known`: the sources of the settings; nothing else is ever named."""
        self._index = index
        self._meaning = meaning
        self._known = known

    async def find(
        self,
        question: str,
        sources: Collection[str] | None = None,
        limit: int = 10,
        by_meaning: bool = True,
    ) -> KnowledgeFound:
        """Passages for a question; `sources`: the ones to search, None for all. Raises
        EnvironmentProblem."""
        terms = terms_of(question)
        if not self._index.exists or not (terms or question.strip()):
            return KnowledgeFound()
        # the model reads the question while its words are looked up
        words, meant = await asyncio.gather(
            self._index.search(lambda reader: reader.search.words(terms, _EACH, sources)),
            self._meaning.question(question if by_meaning else ""),
        )
        scope = SearchScope(sources, self._known() if sources is None else sources)
        return await self._index.search(lambda reader: _find(reader, words, meant, scope, limit))

    async def state_of(self, source: str, path: str) -> tuple[str | None, str]:
        """The digest (hexadecimal) of a file as it was last read, and its problem, as a stored
        Told."""
        if not self._index.exists:
            return None, ""
        return await self._index.search(lambda reader: reader.texts.state_of(source, path))

    async def files_named(self, name: str, sources: Collection[str]) -> list[tuple[str, str, str]]:
        """Sources, paths and digests (hexadecimal) of the indexed files with this path or name in
        these sources."""
        if not self._index.exists or not sources:
            return []
        wanted = whole(name).replace("\\", "/").strip("/")
        return await self._index.search(lambda reader: reader.texts.named(wanted, sources))

    async def files_like(self, word: str, limit: int) -> list[tuple[str, str]]:
        """Sources and paths of indexed files inside folders whose path has a word."""
        if not self._index.exists or not word:
            return []
        known = self._known()
        return await self._index.search(lambda reader: reader.texts.like(word, known, limit))

    async def documents(self, sources: Sequence[str]) -> list[SurveyDocument]:
        """The indexed files of these sources."""
        if not self._index.exists or not sources:
            return []
        return await self._index.search(lambda reader: reader.texts.documents(sources))

    async def digests(self) -> set[str]:
        """The digests (hexadecimal) of all texts in the index."""
        if not self._index.exists:
            return set()
        return await self._index.search(lambda reader: reader.texts.digests())

    async def whole(self, digest: str) -> str | None:
        """The indexed text of a file's bytes; None if the index does not have it."""
        if not self._index.exists:
            return None
        return await self._index.search(lambda reader: reader.texts.whole(bytes.fromhex(digest)))


def _find(
    reader: IndexReader,
    words: WordHits,
    meant: MeantQuestion | None,
    scope: SearchScope,
    limit: int,
) -> KnowledgeFound:
    """On the search thread."""
    sources = scope.searched
    near: list[tuple[int, float]] = []
    if meant is not None:
        import numpy as np

        vector = np.frombuffer(meant.vector, np.float32)
        near = reader.meant(meant.embedder).nearest(vector, _EACH, sources)
    ids = joined(words.ranked, [piece for piece, _ in near], words.exact)[:limit]
    strong = set(words.strong)
    if meant is not None:
        # words alone speak for the passages whose meaning is not known yet
        strong -= reader.meant(meant.embedder).known
        strong.update(piece for piece, cosine in near if cosine >= meant.floor)
    strong.update(words.exact)
    hits = reader.search.hits(ids, words.exact, scope.named)
    weak = frozenset(one.piece for one in hits if one.piece not in strong)
    return KnowledgeFound(tuple(hits), meant is not None, weak, words.sharing)
