"""Texts about folders and files that questions are answered from, for several areas. Pure."""

from __future__ import annotations

from headstart.core.chats.parts import PassagePart, SearchOutcome, SearchPart
from headstart.core.chats.search import Snippet
from headstart.core.chats.snippets import without_signs
from headstart.core.chats.values import now_ms
from headstart.core.knowledge.terms import terms_of
from headstart.core.knowledge.values import KnowledgeHit, SourceState
from headstart.core.text.folding import plain
from headstart.core.text.shown import isolated, shortened
from headstart.core.told import from_stored
from headstart.ui.wording import say

# characters of a passage in a list, and of them before the first word of the query
_SNIPPET, _BEFORE = 220, 60
# the words for the reasons of `knowledge.scan.LeftOut`, and for files that were read in vain
_LEFT_OUT = {
    "hidden": "window.left-out-hidden",
    "ignored": "window.left-out-ignored",
    "made": "window.left-out-made",
    "link": "window.left-out-link",
    "kind": "window.left-out-kind",
    "large": "window.left-out-large",
    "unreadable": "window.left-out-unreadable",
    "many": "window.left-out-many",
    "rules": "window.left-out-rules",
    "empty": "window.left-out-empty",
    "no-text": "window.left-out-no-text",
}


def state_text(state: SourceState) -> str:
    """One line about the index of a source."""
    if state.problem is not None:
        return state.problem.text
    if state.away:
        return say("window.source-away", files=state.files)
    if state.waiting:
        return say("window.source-reading", files=state.files, waiting=state.waiting)
    if not state.looked_at:
        return say("window.source-waits")
    age = max(0, now_ms() - state.looked_at) / 1000
    code = "window.source-facts" if age >= 60 else "window.source-facts-now"
    return say(code, files=state.files, pieces=state.pieces, age=age)


def left_out_text(state: SourceState) -> str:
    """The files that are not searched, by reason; "" for none."""
    if not state.left_out:
        return ""
    reasons = [
        say(_LEFT_OUT[reason], count=count)
        for reason, count in state.left_out
        if reason in _LEFT_OUT
    ]
    return say("window.left-out", reasons=reasons) if reasons else ""


def passage_place(part: PassagePart) -> str:
    """The file and page, or line, of a passage."""
    if part.page:
        return say("window.passage-page", name=part.name, page=part.page)
    if part.line > 1:
        return say("window.passage-line", name=part.name, line=part.line)
    return part.name


# the words for a search that gave a question nothing
_WITHOUT = {
    SearchOutcome.LEFT_OUT: "transcript.passages-left-out",
    SearchOutcome.NO_ROOM: "transcript.no-room-for-passages",
    SearchOutcome.FAILED: "transcript.search-failed",
}


def search_words(part: SearchPart) -> tuple[str, str]:
    """The words before and after the places of the passages that a search found."""
    names = [isolated(shortened(one, 60)) for one in part.sources]
    if part.given:
        only = part.outcome is SearchOutcome.RESEMBLING
        head = say("transcript.passages-given", count=part.given, names=names)
        return head, say("transcript.passages-resemble") if only else ""
    said = from_stored(part.problem)
    words = say(_WITHOUT.get(part.outcome, "transcript.nothing-in-files"))
    reason = "" if said is None else said.text
    return " ".join(filter(None, (words, reason, say("transcript.searched", names=names)))), ""


def part_of(hit: KnowledgeHit) -> PassagePart:
    """The passage of a hit, outside of any chat."""
    place, lead = hit.place, len(hit.text) - len(hit.text.lstrip())
    return PassagePart(
        0,
        place.name,
        hit.text.strip(),
        place.source,
        place.path,
        place.digest,
        place.start + lead,
        place.start + len(hit.text.rstrip()),
        place.page,
        place.line,
        hit.heading,
    )


def snippet_of(query: str, text: str) -> str:
    """The part of a passage with the first of the query's words, in one line."""
    line = " ".join(without_signs(Snippet(text)).text.split())
    shown = plain(line)
    words = [one.strip('"') for one in terms_of(query).words]
    places = [at for at in (shown.find(word) for word in words if len(word) > 3) if at >= 0]
    at = max(0, min(places, default=0) - _BEFORE)
    begin = line.find(" ", at) + 1 if at else 0
    return ("…" if begin else "") + shortened(line[begin:], _SNIPPET)
