"""Texts about folders and files that questions are answered from, for several areas. Pure."""

from __future__ import annotations

from headstart.core.chats.parts import PassagePart
from headstart.core.chats.values import now_ms
from headstart.core.knowledge.values import SourceState
from headstart.ui.wording import say

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


def source_name(source: str) -> str:
    """The name of a folder or file: the last part of its path."""
    return source.replace("\\", "/").rstrip("/").rpartition("/")[2] or source


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
