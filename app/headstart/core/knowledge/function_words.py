"""The words of a question that tell nothing about its subject: those that ask, point and join.

In a large index such words are known by standing in most pieces. In eight notes every word stands
in most pieces, “budget” as much as “the”, and “what” in none: there the lists of
`resources/function-words.txt` decide. A word of one language is a noun of another (“car”, “die”),
so only the lists of the question's own language count: the one with most of its words.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping

from headstart.core.resources import resources
from headstart.core.text.folding import plain

# words of a language that a question has at least, if it is written in it; a single one counts in
# a sentence (“Сколько стоит проект?”), unless it is short
_SURE, _SENTENCE, _SHORT = 2, 3, 3
# languages whose words are looked up in pairs of signs: see `terms`
_IN_PAIRS = ("ja", "ko", "zh")


def function_words(phrases: Collection[str]) -> frozenset[str]:
    """Those of a question's phrases (see `terms.Terms.words`) that name nothing."""
    words = {phrase: phrase[1:-1] for phrase in phrases}
    pairs = {one: word.replace(" ", "") for one, word in words.items() if " " in word}
    alone = {one: word for one, word in words.items() if " " not in word}
    is_pair = _pairs_of("".join(pairs.values()))
    found = {one for one, pair in pairs.items() if is_pair(pair)}
    counts = {name: sum(word in known for word in alone.values()) for name, known in _lists()}
    most = max(counts.values(), default=0)
    chosen = [known for name, known in _lists() if counts[name] == most]
    named = {one for one, word in alone.items() if any(word in known for known in chosen)}
    single = len(alone) >= _SENTENCE and all(len(alone[one]) > _SHORT for one in named)
    if most >= _SURE or single:
        found |= named
    return frozenset(found)


def _pairs_of(signs: str) -> Callable[[str], bool]:
    """A test for pairs that are part of a function word, in the language of these signs."""
    known = _read()
    if any("\uac00" <= sign <= "\ud7a3" for sign in signs):
        return lambda pair: pair in known["ko"]
    if not any(map(_is_hiragana, signs)):
        return lambda pair: any(sign in known["zh"] for sign in pair)
    return lambda pair: (
        pair in known["ja"]
        or (all(map(_is_hiragana, pair)) and any(sign in known["ja"] for sign in pair))
    )


def _is_hiragana(sign: str) -> bool:
    return "\u3041" <= sign <= "\u309f"


@functools.cache
def _lists() -> tuple[tuple[str, frozenset[str]], ...]:
    """The lists of the languages with spaces."""
    return tuple((name, words) for name, words in _read().items() if name not in _IN_PAIRS)


@functools.cache
def _read() -> Mapping[str, frozenset[str]]:
    """Words in their plain form, by language."""
    text = (resources() / "function-words.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    found: dict[str, frozenset[str]] = {}
    for name, _, words in (line.partition(":") for line in lines):
        # the index parts words at apostrophes and hyphens
        parts = plain(words).replace("'", " ").replace("-", " ").replace("\u200c", " ")
        found[name] = frozenset(parts.split())
    return found
