"""The passages that a question is given, numbered through the whole chat. Pure.

A number never changes its meaning, so that nothing earlier in the prompt does: a passage that was
given before keeps its number, and is not given again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from headstart.core.chats.attachments import about_tokens
from headstart.core.chats.parts import Part, PassagePart
from headstart.core.knowledge.values import KnowledgeHit

# most tokens of the passages for one question, and their share of the free context
MOST_TOKENS, SHARE = 4_000, 0.2
# tokens of one passage, about
_ONE = 500
# tokens that stay free for replies and later questions
_REST = 2_048


def budget(context: int, used: int = 0, drops: bool = False) -> int:
    """Tokens for passages in a context of this size, `used` of which are; 0: unknown. `drops`: the
    oldest turns make room."""
    if not context:
        return MOST_TOKENS
    if drops:
        used = min(used, context // 2)
    # replies and later questions need room, too
    free = max(0, context - min(_REST, context // 4) - used)
    # room for one passage while there is some
    return min(MOST_TOKENS, max(int(free * SHARE), min(_ONE, free // 3)))


def joined_hits(hits: Sequence[KnowledgeHit], tokens: int) -> list[KnowledgeHit]:
    """Hits that touch in the same text become one of at most `tokens`, at the place of the better
    one."""
    found: list[KnowledgeHit] = []
    for hit in hits:
        for number, other in enumerate(found):
            if other.place.digest != hit.place.digest:
                continue
            first, second = sorted((other, hit), key=lambda one: one.place.start)
            size = about_tokens(first.text) + about_tokens(second.text)
            if first.place.end == second.place.start and size <= tokens:
                place = replace(first.place, end=second.place.end)
                found[number] = replace(
                    first,
                    place=place,
                    text=first.text + second.text,
                    exact=first.exact or second.exact,
                )
                break
        else:
            found.append(hit)
    return found


def passages(
    hits: Sequence[KnowledgeHit],
    earlier: Iterable[PassagePart],
    tokens: int,
    repeats: bool = False,
) -> list[PassagePart]:
    """Parts for a question, best first, of at most `tokens` (estimated); `earlier`: those that the
    chat has already. `repeats`: they may have been left out of the prompt since, so they are given
    again, under their numbers."""
    given = list(earlier)
    number = max((one.number for one in given), default=0)
    found: list[PassagePart] = []
    for hit in joined_hits(hits, tokens):
        place = hit.place
        # spaces at the ends are no part of the place
        start = place.start + len(hit.text) - len(hit.text.lstrip())
        end = place.start + len(hit.text.rstrip())
        before = next((one for one in given if _covers(one, place.digest, start, end)), None)
        if before is not None and not repeats:
            found.append(replace(before, text="", again=True))
            continue
        cost = about_tokens(hit.text)
        if cost > tokens and (found or tokens < _ONE // 2):
            continue
        tokens -= cost
        number += before is None
        part = PassagePart(
            number if before is None else before.number,
            place.name,
            hit.text.strip(),
            place.source,
            place.path,
            place.digest,
            start,
            end,
            place.page,
            place.line,
            hit.heading,
        )
        found.append(part)
        given.append(part)
        if tokens <= 0:
            break
    return found


def _covers(given: PassagePart, digest: str, start: int, end: int) -> bool:
    return given.digest == digest and given.start <= start and end <= given.end


def cited_texts(passages: Mapping[int, PassagePart]) -> dict[int, str]:
    """The texts that quotes are compared with, by number: for a document that was read whole, all
    that was quoted from it."""
    quoted: dict[str, list[str]] = {}
    whole = {part.digest for part in passages.values() if part.note}
    for part in passages.values():
        quoted.setdefault(part.digest, []).append(part.text)
    return {
        number: "\n".join(quoted[part.digest]) if part.digest in whole else part.text
        for number, part in passages.items()
    }


def passages_in(parts: Iterable[Part]) -> list[PassagePart]:
    """The passages given in parts, without the mentions of earlier ones."""
    return [one for one in parts if isinstance(one, PassagePart) and not one.again]
