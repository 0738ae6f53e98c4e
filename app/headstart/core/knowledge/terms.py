"""The words of a question, and the terms that a passage must have literally. Pure.

Quoted text, code, and words with signs, digits or capitals inside (`os.path.join`, `--no-verify`,
`readLine`, 2024) are names: a passage with them is an answer, one without them only resembles it.
Words in capitals (HTTP, GNU) are not: the answer often has others.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator

from msgspec import Struct

from headstart.core.text.folding import fold, is_word, plain

# most words and terms of a question that are looked up
_MOST, _MOST_EXACT = 40, 8
_LONGEST = 4_000
# letters of a word that is looked up in its other forms as well
_LEAST_WIDENED = 6
# in the quotation marks of all languages of the window
_QUOTED = re.compile(
    r'"([^"\n]{1,200})"|„([^“”\n]{1,200})[“”]|“([^”\n]{1,200})”|«([^»\n]{1,200})»'
    r"|「([^」\n]{1,200})」|『([^』\n]{1,200})』|`([^`\n]{1,200})`"
)
_WORD = re.compile(r"\S+")
_CAMEL = re.compile(r"[a-z][A-Z]")
_AFTER, _BEFORE = "?!.,;:)]}'\"”»’*…」』。、，！？؟؛،।॥", "([{'\"“„«‘*¿¡「『"
# characters of scripts without spaces: looked up in pairs
_SIGN = (
    "[\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0ece\u1000-\u109f\u1780-\u17d3\u3005\u3040-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]"
)
_SIGNS, _RUNS = re.compile(f"{_SIGN}+"), re.compile(f"{_SIGN}{{2,}}")


class Terms(Struct, frozen=True):
    """`words`: FTS5 phrases, in the index's form, each once. `exact`: names, as the user wrote
    them; `quoted`: at least one is in quotes."""

    words: tuple[str, ...]
    exact: tuple[str, ...] = ()
    quoted: bool = False

    def __bool__(self) -> bool:
        return bool(self.words or self.exact)


def terms_of(question: str) -> Terms:
    """The words and the exact terms of a question in any language."""
    # signs in parts, as macOS writes file names, would be no pairs
    text = unicodedata.normalize("NFC", question[:_LONGEST])
    exact: dict[str, None] = {}
    for found in _QUOTED.finditer(text):
        term = next(one for one in found.groups() if one).strip()
        if _tokens(term):
            exact[term] = None
    quoted = bool(exact)
    # a name ends where a script without spaces begins
    for found in _WORD.finditer(_SIGNS.sub(" ", _QUOTED.sub(" ", text))):
        term = found[0].rstrip(_AFTER).lstrip(_BEFORE).rstrip("(")
        term = term.removesuffix("()")
        if _is_name(term) and _tokens(term):
            exact[term] = None
    words = dict.fromkeys(_phrases(text))
    return Terms(tuple(words)[:_MOST], tuple(exact)[:_MOST_EXACT], quoted)


def phrase_of(term: str) -> str:
    """The FTS5 phrase that finds a term's words in order; "" without words."""
    tokens = _tokens(term)
    return f'"{" ".join(tokens)}"' if tokens else ""


def widened(phrase: str) -> str:
    """The phrase of a word, with the words that begin as it does but for its last letter: other
    forms of it, in most languages with spaces."""
    word = phrase[1:-1]
    if len(word) < _LEAST_WIDENED or " " in word or not word.isalpha():
        return phrase
    return f'"{word[:-1]}"*'


def has_exactly(text: str, terms: tuple[str, ...]) -> bool:
    """True if the text has all terms as whole words; case, width and accents do not matter."""
    shown = plain(text)
    return all(_holds(shown, plain(term)) for term in terms)


def _holds(shown: str, term: str) -> bool:
    at = shown.find(term)
    while at >= 0:
        end = at + len(term)
        before, after = shown[at - 1 : at], shown[end : end + 1]
        # `join` is not a word of `joined` or `_join`, nor `-m` one of `--message`
        left = not (_goes_on(before) and _goes_on(term[0])) and not (before == term[0] == "-")
        # nor `--no-verify` one of `--no-verify-ssl`
        longer = term[0] == after == "-" and _goes_on(shown[end + 1 : end + 2])
        if left and not longer and not (_goes_on(after) and _goes_on(term[-1])):
            return True
        at = shown.find(term, at + 1)
    return False


def _goes_on(one: str) -> bool:
    """True for a character inside words of scripts with spaces."""
    return bool(one) and (one == "_" or (one.isalnum() and not _SIGNS.match(one)))


def _is_name(term: str) -> bool:
    if not 2 <= len(term) <= 200:
        return False
    if term.startswith("-"):
        return term[-1].isalnum()
    # C++, F#
    if term[0].isalpha() and term[-1] in "+#":
        return True
    inside = term[1:-1]
    if "_" in term or any(sign in inside for sign in (".", "::", "@", "\\")):
        # “e.g.” names nothing
        return len(term) > 4 or any(map(str.isdigit, term))
    if term.count("/") > 1 or (term.startswith(("/", "~")) and len(term) > 2):
        return True
    if any(unicodedata.category(one) == "Nd" for one in term):
        return True
    return _CAMEL.search(term) is not None


def _phrases(text: str) -> list[str]:
    found: list[str] = []
    for word in _split(text):
        at = 0
        for run in _RUNS.finditer(word):
            if run.start() > at:
                found.append(_one(word[at : run.start()]))
            signs = run[0]
            found += [f'"{signs[n]} {signs[n + 1]}"' for n in range(len(signs) - 1)]
            at = run.end()
        if at < len(word):
            found.append(_one(word[at:]))
    return [one for one in found if one]


def _one(word: str) -> str:
    tokens = _tokens(word)
    told = len(word) > 1 or word.isdigit() or _SIGNS.fullmatch(word)
    return f'"{" ".join(tokens)}"' if tokens and told else ""


def _tokens(text: str) -> list[str]:
    """The tokens of a text as the index has them."""
    return list(_split(fold(plain(text)).partition("\x1e")[0]))


def _split(text: str) -> Iterator[str]:
    """Runs of characters that the index keeps."""
    for kept, run in itertools.groupby(text, is_word):
        if kept:
            yield "".join(run)
