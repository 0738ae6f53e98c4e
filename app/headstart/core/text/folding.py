"""Text in the form of the search index, and words in a form for comparison. Pure.

Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese are written without spaces, so that a whole
sentence would be one word; instead, each character, like each emoji, is a word, and a word of
several is a phrase. Words with several spellings (full and half width, ligatures, ß, with and
without vowel signs or joiners, camelCase) are indexed a second time after the text, in the plain
form; a query searches both.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

# Han with its extensions, kana, Hangul syllables, and their half-width and compatibility forms
_CJK = (
    "\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3031-\u3035\u3040-\u30ff\u3105-\u312f\u3131-\u318e"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
# Thai, Lao, Burmese, Khmer
_SOUTH = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0ece\u1000-\u109f\u1780-\u17d3\ua9e0-\ua9fe\uaa60-\uaa7f"
)
_EMOJI = "\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_SIGNS = re.compile(f"[{_CJK}{_SOUTH}{_EMOJI}]")
# put around a character, and between a text and the plain forms of its words
_APART, _BEHIND = "\x1f", "\x1e"
# parts of a query: text in the quotation marks of any language, or a word
_PARTS = re.compile(
    r'"(?P<a>[^"]*)"?|[“„](?P<b>[^“”]*)[“”]|«(?P<c>[^»]*)»|「(?P<d>[^」]*)」|『(?P<e>[^』]*)』'
    r"|(?P<word>\S+)"
)
# characters that change no word: accents, vowel signs of Hebrew and Arabic, joiners, variants,
# skin tones
_DROPPED = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f"
    "\u0670\u06d6-\u06ed\u00ad\u200b-\u200f\u2060\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]"
)
# letters without a decomposition that are searched for as others; Arabic ones of other keyboards;
# apostrophes
_LETTERS = str.maketrans(
    {
        "ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ħ": "h",
        "\u0671": "\u0627", "\u0649": "\u064a", "\u06cc": "\u064a", "\u06a9": "\u0643",
        "\u0629": "\u0647", "\u06c1": "\u0647", "\u2018": "'", "\u2019": "'", "\u02bc": "'",
    }
)  # fmt: skip
# the same, letters of Greek and Russian whose accents the index's tokenizer keeps, and capitals
# unknown to it: Georgian ones, the small letters of Cherokee, and those of younger scripts
_HAS_LETTERS = re.compile(
    "[øłđıæœþðħßØŁĐİÆŒÞÐĦẞёЁΆΈ-Ώΐάέήίΰόύώἀ-ῼΪΫϊϋ\u02bc\u037f\u0528-\u052e\u0622-\u0626\u0629\u0649\u0671"
    "\u06a9\u06c0-\u06c2\u06cc\u06d3\u13f8-\u13fd\u1c80-\u1cbf\u2c2f\ua698\ua69a\ua796-\ua7f5\uab70-\uabbf\U000104b0-\U000104d3"
    "\U00010570-\U00010595\U00010c80-\U00010cb2\U000118a0-\U000118bf\U00016e40-\U00016e5f]"
)
# letters of Cyrillic keyboards that differ from those without the mark: й and и. ё is not among
# them, because most people write it as е
_CYRILLIC = re.compile(
    "[\u0400-\u052f][\u0300\u0301\u0304\u0306\u0308\u030b\u030f](?<!\u0435\u0308)"
)
# the article of Arabic, with the one-letter words that are joined to it
_ARTICLE = re.compile("(?:[\u0648\u0641\u0628\u0643]?\u0627\u0644|\u0644\u0644)(?=\\w{2})")
# one-letter words that Hebrew joins to the next one: and, the, in, like, to, from, that
_HEBREW_WORDS = re.compile("[\u05d5\u05d4\u05d1\u05db\u05dc\u05de\u05e9](?=\\w{3})")
# half-width marks, and the parts of a Hangul syllable after its first one
_JOINED = re.compile("[ﾞﾟ\u1160-\u11ff\ud7b0-\ud7fb]")
_WORDS = re.compile(r"[^\s\x1e\x1f]+")
# ASCII words, each once: matching again at every letter of a long run takes minutes
_ASCII_WORD = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]{4,100}(?![A-Za-z0-9])")
_CAMEL = re.compile(r"[a-z0-9](?=[A-Z])|[A-Z](?=[A-Z][a-z])")
_NOT_AROUND = "\"'“”„«»‘’()[]{}<>.,;:!?…*_`#-–—/\\|"


def fold(text: object) -> str:
    """The text for the index; "" for anything but text."""
    if not isinstance(text, str):
        return ""
    more = " ".join(dict.fromkeys(_other_ways(text)))
    return f"{_apart(text)}{_BEHIND}{_apart(more)}" if more else _apart(text)


def unfolded(text: str) -> str:
    """A piece of folded text for display, without the plain forms after it; \x01 and \x02 are marks
    in it."""
    return text.partition(_BEHIND)[0].replace(_APART, "").replace("\x02\x01", "")


def plain(text: str) -> str:
    """One form for all spellings of the same words."""
    if text.isascii():
        return text.lower()
    parted = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    parted = _CYRILLIC.sub(_together, parted)
    return unicodedata.normalize("NFKC", _DROPPED.sub("", parted)).translate(_LETTERS)


def _together(found: re.Match[str]) -> str:
    """A single letter if one exists; accents that only mark stress go."""
    made = unicodedata.normalize("NFC", found[0])
    return made if len(made) == 1 else found[0]


def plain_places(text: str) -> tuple[str, list[int]]:
    """The plain form of a text, and for each of its characters its position in the text; one more
    for the end."""
    pieces: list[str] = []
    places: list[int] = []
    at = 0
    while at < len(text):
        end = at + 1
        # marks belong to the character before them, half-width ones too
        while end < len(text) and (unicodedata.combining(text[end]) or _JOINED.match(text[end])):
            end += 1
        found = plain(text[at:end])
        pieces.append(found)
        places += [at] * len(found)
        at = end
    return "".join(pieces), [*places, len(text)]


def match_of(query: str) -> str:
    """FTS5 query for a user's words: all of them, the last one as a prefix; "" without words. User
    input never causes an error or acts as query syntax."""
    found: list[str] = []
    parts = list(_PARTS.finditer(query))
    for part in parts:
        word = part["word"]
        given = next(one for one in part.groups() if one is not None).replace("\0", " ")
        ways = [one for one in dict.fromkeys((_quoted(given), _quoted(plain(given)))) if one]
        if not ways:
            continue
        # a word that is still being typed; a closed phrase is finished
        open_end = part is parts[-1] and word is not None and not query[-1:].isspace()
        if open_end and len(given) == 1 and given.isascii():
            # a letter begins a tenth of all words: wait for a second one (saves 70 ms of searching)
            if not found:
                found.append(ways[0])
            continue
        ways = [f"{one}*" if open_end else one for one in ways]
        found.append(ways[0] if len(ways) == 1 else f"({' OR '.join(ways)})")
    return " AND ".join(found)


def _quoted(text: str) -> str:
    words = [one for one in _apart(text).replace(_APART, " ").split() if any(map(is_word, one))]
    return '"' + " ".join(words).replace('"', '""') + '"' if words else ""


def is_word(one: str) -> bool:
    """True for characters in the index: letters, their marks, numbers, emoji."""
    category = unicodedata.category(one)
    return category[0] in "LMN" or category in ("So", "Co")


def _apart(text: str) -> str:
    return text if text.isascii() else _SIGNS.sub(rf"{_APART}\g<0>{_APART}", text)


def _other_ways(text: str) -> Iterator[str]:
    """Plain forms of words that the index's tokenizer would not produce."""
    for found in _ASCII_WORD.finditer(text):
        word = found[0]
        if word.islower() or word.isdigit() or _CAMEL.search(word) is None:
            continue
        yield from (one.lower() for one in _CAMEL.sub(r"\g<0> ", word).split() if len(one) > 1)
    if text.isascii():
        return
    for found in _WORDS.finditer(text):
        word = found[0]
        if word.isascii():
            continue
        word = word.strip(_NOT_AROUND)
        if not word:
            continue
        is_other = (
            not unicodedata.is_normalized("NFKC", word)
            or _HAS_LETTERS.search(word) is not None
            or _DROPPED.search(word) is not None
        )
        if is_other:
            yield plain(word)
        if "\u05d0" <= word[0] <= "\u05ea":
            bare = plain(word)
            # “and that in a house” has three
            for _ in range(3):
                if _HEBREW_WORDS.match(bare) is None:
                    break
                yield (bare := bare[1:])
        if "\u0600" <= word[0] <= "\u06ff":
            found_article = _ARTICLE.match(bare := plain(word))
            if found_article is not None:
                yield bare[found_article.end() :]
