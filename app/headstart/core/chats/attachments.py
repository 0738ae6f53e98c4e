"""Text of a file attached to a message, in pages or parts. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from headstart.core.chats.parts import FilePart, Part

# most bytes accepted for one attachment
LARGEST = 64 << 20
# most characters taken from one; the longest contexts hold about half of that
LONGEST = 8_000_000
# characters in a part of a text without pages, about a thousand tokens
_PART = 4_000
# for English and code, where no tokenizer has counted
CHARACTERS_PER_TOKEN = 3.6
# characters of a choice of pages, and pages that its ranges may name over and over
_LONGEST_CHOICE, _AGAIN = 100_000, 4
_NO_TEXT = re.compile(r"^\[Page \d+ has no text\]$", re.MULTILINE)
# digits of any script: 1–3، ٧ and 1〜3、7
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_TO = re.compile(r"(?:(?<!\s)\s++)?+[-–—‐‑−~〜～－]\s*+")
_BETWEEN = re.compile(r"[,;\s،؛、，；]+(?!-)")

# the name of a pasted text, for models and files: the same in every language
PASTED = "Pasted text"


def is_editable(part: FilePart) -> bool:
    """True for a whole text whose characters are the file's own."""
    kind = part.blob.media_type
    own = kind.startswith("text/") and kind != "text/html" and not part.name.endswith(".ipynb")
    return own and not part.chosen


class Unit(StrEnum):
    """Divisions of a file."""

    PAGE = "page"
    PART = "part"


class Extracted(Struct, frozen=True):
    """The text of a file; each page or part has a number, from 1 on. Pictures of text on a page
    yield no text. `encoding`: the encoding the text was decoded with, if the file does not name it;
    else ""."""

    media_type: str
    unit: Unit
    pages: tuple[str, ...]
    encoding: str = ""

    @property
    def without_text(self) -> list[int]:
        """The numbers of pages without any text."""
        return [number for number, text in enumerate(self.pages, 1) if not text.strip()]

    @property
    def text(self) -> str:
        """The whole text, as a model gets it."""
        return self.chosen(range(1, len(self.pages) + 1))

    def chosen(self, numbers: Collection[int]) -> str:
        """The text that a model gets when only these pages are given; it says which are left
        out."""
        count = len(self.pages)
        if self.unit is Unit.PART and len(set(numbers)) == count:
            return "".join(self.pages)
        if count == 1:
            return self.pages[0] if numbers else ""
        given, pieces, left_out = set(numbers), [], list[int]()
        for number in range(1, count + 1):
            if number not in given:
                left_out.append(number)
                continue
            if left_out:
                pieces.append(self._gap(left_out))
                left_out = []
            pieces.append(self.marked(number))
        if left_out:
            pieces.append(self._gap(left_out))
        return "\n\n".join(pieces)

    def marked(self, number: int) -> str:
        """A page with its number, as a model gets it."""
        name, text = self.unit.value.capitalize(), self.pages[number - 1]
        if not text.strip():
            return f"[{name} {number} has no text]"
        return f"[{name} {number}]\n{text.strip()}"

    def _gap(self, numbers: Sequence[int]) -> str:
        name, one = self.unit.value.capitalize(), len(numbers) == 1
        which = f"{name} {numbers[0]}" if one else f"{name}s {ranges_text(numbers)}"
        return f"[{which} of {len(self.pages)} {'is' if one else 'are'} left out]"


def pages_without_text(text: str, pages: int) -> int:
    """The number of pages without text in the output of `Extracted.chosen`."""
    if pages == 1:
        return int(not text.strip())
    return len(_NO_TEXT.findall(text))


def in_parts(text: str) -> tuple[str, ...]:
    """Split a text into parts of about equal length that end at paragraphs or lines; joined, they
    give the text again."""
    parts, start = [], 0
    while len(text) - start > _PART * 3 // 2:
        soonest, latest = start + _PART // 2, start + _PART
        at = -1
        for mark in ("\n\n", "\n", " "):
            at = text.rfind(mark, soonest, latest)
            if at >= 0:
                at += len(mark)
                break
        end = at if at > 0 else latest
        parts.append(text[start:end])
        start = end
    if start < len(text) or not parts:
        parts.append(text[start:])
    return tuple(parts)


def ranges_text(numbers: Iterable[int]) -> str:
    """Numbers as people write them: 1–3, 7."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in runs)


def numbers_of(text: str, count: int) -> set[int]:
    """The numbers in a text like that of `ranges_text`, up to `count`; ValueError if it has
    none."""
    found: set[int] = set()
    named = 0
    for piece in _BETWEEN.split(_TO.sub("-", text.strip())):
        matched = _RANGE.fullmatch(piece)
        if matched is None:
            raise ValueError(piece)
        first, last = int(matched[1]), int(matched[2] or matched[1])
        if not 1 <= first <= last or first > count:
            raise ValueError(piece)
        last = min(last, count)
        named += last - first + 1
        if named > _AGAIN * count + _LONGEST_CHOICE:
            raise ValueError("the same pages again and again")
        found.update(range(first, last + 1))
    return found


def with_sound_choice(part: Part) -> Part:
    """The part without a choice of pages that its file does not have: files and rows may say
    anything."""
    if not isinstance(part, FilePart) or not part.chosen:
        return part
    try:
        sound = len(part.chosen) <= _LONGEST_CHOICE and bool(numbers_of(part.chosen, part.pages))
    except ValueError:
        sound = False
    return part if sound else replace(part, chosen="")


def about_tokens(text: str) -> int:
    """Estimated number of tokens of a text: each Chinese, Japanese or Korean character counts as
    one."""
    return about_tokens_of(len(text), wide_in(text))


def wide_in(text: str) -> int:
    """The Chinese, Japanese and Korean characters of a text."""
    return 0 if text.isascii() else sum(1 for one in text if "\u2e80" <= one <= "\uffdc")


def about_tokens_of(characters: int, wide: int = 0) -> int:
    """Estimated number of tokens of so many characters, of which some are `wide`."""
    return round(wide + (characters - wide) / CHARACTERS_PER_TOKEN)
