"""The order of passages found by words and by meaning. Pure.

Reciprocal rank fusion (Cormack, Clarke, Büttcher 2009) with unequal weights: a good embedding model
finds more than words do, and the usual equal join with k = 60 makes it worse (docs/benchmarks.md,
“Knowledge”). Passages with all names of the question come first.
"""

from __future__ import annotations

from collections.abc import Sequence

# weights of both lists, and the rank at which a place counts half as much as the first
MEANING, WORDS, K = 1.0, 0.5, 10


def joined(words: Sequence[int], meaning: Sequence[int], exact: Sequence[int] = ()) -> list[int]:
    """Ids of both lists, best first; those in `exact` before all others, in their order."""
    scores: dict[int, float] = {}
    for weight, ranked in ((WORDS, words), (MEANING, meaning)):
        for rank, one in enumerate(ranked, 1):
            scores[one] = scores.get(one, 0.0) + weight / (K + rank)
    wanted = {one: place for place, one in enumerate(exact)}
    last = len(wanted)
    return sorted(scores, key=lambda one: (wanted.get(one, last), -scores[one]))
