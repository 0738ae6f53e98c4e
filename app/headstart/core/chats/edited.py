"""A reply's parts with another text, in which calls keep their places. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from headstart.core.chats.parts import PARAGRAPH, Part, TextPart, ToolPart


def with_text(parts: Sequence[Part], text: str) -> tuple[Part, ...]:
    """The parts of a reply that calls tools, with `text` in place of its words.

    Words between calls that the text has unchanged at its beginning or its end stay where they
    are; all others go to the place of the first changed ones.
    """
    pieces = _pieces(parts)
    words = ["".join(part.text for part in piece) for piece in pieces if _is_words(piece)]
    before, after = _unchanged(words, text)
    begin = sum(len(word) + len(PARAGRAPH) for word in words[:before])
    end = len(text) - sum(len(word) + len(PARAGRAPH) for word in words[len(words) - after :])
    changed = text[begin:end]
    found: list[Part] = []
    number = 0
    for piece in pieces:
        if not _is_words(piece):
            found += piece
            continue
        if number < before or number >= len(words) - after:
            found += piece
        elif number == before and changed:
            found.append(TextPart(changed))
        number += 1
    if not words and changed:
        found.append(TextPart(changed))
    return tuple(found)


def _pieces(parts: Sequence[Part]) -> list[list[Part]]:
    """Texts that no call separates together; every other part alone."""
    pieces: list[list[Part]] = []
    # the place of the words that go on
    words: int | None = None
    for part in parts:
        if isinstance(part, TextPart):
            if not part.text:
                continue
            if words is None:
                words = len(pieces)
                pieces.append([])
            pieces[words].append(part)
            continue
        if isinstance(part, ToolPart):
            words = None
        pieces.append([part])
    return pieces


def _is_words(piece: Sequence[Part]) -> bool:
    return isinstance(piece[0], TextPart)


def _unchanged(words: Sequence[str], text: str) -> tuple[int, int]:
    """Numbers of the words at the beginning and at the end that the text has unchanged; at least
    one is left between them."""
    before = after = begin = 0
    end = len(text)
    while before < len(words) - 1 and text.startswith(words[before] + PARAGRAPH, begin):
        begin += len(words[before]) + len(PARAGRAPH)
        before += 1
    while after < len(words) - 1 - before:
        last = PARAGRAPH + words[len(words) - 1 - after]
        if not (text.endswith(last, begin, end)):
            break
        end -= len(last)
        after += 1
    return before, after
