"""Maps origins of source characters to ranges of the shown text. Pure.

Origins belong to the Markdown source; the rendered text has the same characters in the same order,
without the markup. So each shown character is found in the source after the previous one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from headstart.core.chats.parts import Origin, OriginRun

# most characters of markup between two shown characters: a link's address is the longest
_LOOK_AHEAD = 400
_OBJECT = "\ufffc"
_LINE_ENDS = re.compile("[\n\u2028\u2029]")


def tinted_ranges(
    shown: str,
    source: str,
    start: int,
    runs: Sequence[OriginRun],
    objects: Sequence[str] = (),
) -> list[tuple[int, int, Origin]]:
    """Drafted ranges of `shown`, as (begin, end, origin).

    `source`: the block's Markdown, which begins at offset `start` in the text of `runs`.
    `objects`: the sources of its formulas, each shown as one character.
    """
    origins = _slice(runs, start, len(source))
    if all(run.origin is Origin.TARGET for run in origins):
        return []
    by_character: list[Origin] = []
    for run in origins:
        by_character += [run.origin] * run.length
    ranges: list[tuple[int, int, Origin]] = []
    for place, found, _end in _aligned(shown, source, objects):
        origin = by_character[found] if found < len(by_character) else Origin.TARGET
        if origin is Origin.TARGET:
            continue
        if ranges and ranges[-1][2] is origin and not shown[ranges[-1][1] : place].strip():
            ranges[-1] = (ranges[-1][0], place + 1, origin)
        else:
            ranges.append((place, place + 1, origin))
    return _unbridged(ranges, shown)


def source_between(
    shown: str, source: str, places: tuple[int, int], objects: Sequence[str] = ()
) -> str:
    """The Markdown of a range of the shown text; markup at its ends may be missing."""
    begin, end = places
    first, last = None, 0
    for place, found, after in _aligned(shown, source, objects):
        if place >= end:
            break
        if place >= begin:
            first = found if first is None else first
            last = after
    if first is None:
        return ""
    if not shown[:begin].strip():
        first = 0
    if not shown[end:].strip():
        last = len(source)
    return source[first:last].strip("\n")


def _aligned(shown: str, source: str, objects: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield the index of each shown character with its range in the source."""
    at, number = 0, 0
    for place, character in enumerate(shown):
        if character.isspace():
            # paragraph and line ends differ in a document: whitespace goes with its neighbour
            continue
        wanted, ahead = character, _LOOK_AHEAD
        if character == _OBJECT and number < len(objects):
            wanted, number = objects[number], number + 1
            ahead += len(wanted)
        found = source.find(wanted, at, at + ahead)
        if found < 0:
            continue
        at = found + len(wanted)
        yield place, found, at


def _unbridged(ranges: list[tuple[int, int, Origin]], shown: str) -> list[tuple[int, int, Origin]]:
    """Ranges split at line ends, without whitespace at the ends of lines."""
    result = []
    for begin, end, origin in ranges:
        at = begin
        for line in _LINE_ENDS.split(shown[begin:end]):
            words = line.strip()
            if words:
                first = at + line.index(words[0])
                result.append((first, first + len(words), origin))
            at += len(line) + 1
    return result


def _slice(runs: Sequence[OriginRun], start: int, length: int) -> list[OriginRun]:
    """The slice of a run-length list at `start` with `length` characters."""
    result: list[OriginRun] = []
    at, end = 0, start + length
    for run in runs:
        begin, stop = max(at, start), min(at + run.length, end)
        if stop > begin:
            result.append(OriginRun(stop - begin, run.origin))
        at += run.length
        if at >= end:
            break
    return result
