"""The words of a tool call in the transcript: its tool, its point, its state."""

from __future__ import annotations

import difflib
import json

from headstart.core.chats.grounds import CallGround
from headstart.core.chats.sections import CallProgress, CallState, ShownCall
from headstart.core.text.shown import shortened
from headstart.ui.kit.joining import commas
from headstart.ui.tool_names import tool_title
from headstart.ui.transcript.words import duration_text
from headstart.ui.wording import say

# characters of arguments and results in one line, and those that are looked through for it
_LINE, _READ = 160, 2_000
# characters of a server's description and of a command in a question, and lines of a change
_DESCRIPTION, _TARGET, _CHANGED = 400, 600, 24
# lines of a definition that are compared
_COMPARED = 2_000
# seconds from which the time of a call is worth a word
_SLOW = 1.0
_HINTS = {"reads": "transcript.call-hint-reads", "destroys": "transcript.call-hint-destroys"}
_STATES = {
    CallState.WRITING: "transcript.call-writing",
    CallState.WAITING: "transcript.call-waiting",
    CallState.ASKED: "transcript.call-asked",
    CallState.DENIED: "transcript.call-denied",
    CallState.STOPPED: "transcript.call-stopped",
    CallState.CUT: "transcript.call-cut",
    CallState.INTERRUPTED: "transcript.call-interrupted",
}


def question(call: ShownCall) -> str:
    if call.ground is not None:
        facts = {"tool": call.ground.tool, "server": call.ground.server}
        return say("transcript.may-model-use-of-server", **facts)
    return say("transcript.may-model-use", tool=tool_title(call.name))


def about_call(ground: CallGround) -> str:
    """The facts behind a call of a server's tool, a line each; the server's own words are cut."""
    lines = [shortened(" ".join(ground.description.split()), _DESCRIPTION)]
    if ground.hint:
        lines.append(say(_HINTS[ground.hint]))
    code = "transcript.call-goes-to" if ground.host else "transcript.call-started-as"
    lines.append(say(code, target=shortened(ground.target, _TARGET), host=ground.host))
    if ground.private:
        lines.append(say("transcript.call-private"))
    if ground.before:
        lines.append(say("transcript.call-changed"))
        lines += _changed(ground.before, ground.after)
    if ground.started_before:
        lines.append(say("transcript.call-started-otherwise"))
        lines += _changed(ground.started_before, ground.started_now)
    return "\n".join(filter(None, lines))


def _changed(before: str, after: str) -> list[str]:
    """The lines of a definition that went and came."""
    one, other = (text.split("\n")[:_COMPARED] for text in (before, after))
    found = list(difflib.unified_diff(one, other, n=0, lineterm=""))[2:]
    marked = {"-": "−", "+": "+"}
    lines = [f"{marked[one[0]]} {one[1:]}" for one in found if one[0] in marked]
    shown = [shortened(one, _DESCRIPTION) for one in lines[:_CHANGED]]
    if len(lines) > _CHANGED:
        shown.append(say("transcript.call-more-changes", count=len(lines) - _CHANGED))
    return shown


def point_of(call: ShownCall) -> str:
    """The arguments in a line: the only value, or all of them."""
    text = call.arguments[:_READ]
    try:
        found = json.loads(call.arguments) if len(call.arguments) <= _READ else None
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict):
        values = [str(one) for one in found.values() if isinstance(one, str | int | float)]
        text = commas(values) if len(values) == len(found) else text
    elif found is None and call.state is CallState.WRITING:
        # the end is what is being written
        return " ".join(text[-_LINE:].split())
    return shortened(" ".join(text.split()), _LINE)


def summary_of(call: ShownCall, seconds: float = 0.0) -> str:
    """The state of a call, or the beginning of its result; `seconds` it has run so far."""
    if call.state is CallState.RUNNING:
        if call.progress is not None:
            return _progress(call.progress)
        if seconds < _SLOW:
            return say("transcript.call-running")
        return say("transcript.call-running-for", took=duration_text(seconds))
    if call.state in _STATES:
        return say(_STATES[call.state])
    pieces = []
    if call.state is CallState.FAILED:
        pieces.append(say("transcript.call-failed"))
    line = " ".join(call.result[:_READ].split())
    pieces.append(shortened(line, _LINE) if line else say("transcript.call-no-text"))
    return ": ".join(pieces)


def _progress(progress: CallProgress) -> str:
    """The share of a tool's work that is done, with its own words."""
    words = shortened(progress.message, _LINE)
    if not progress.total:
        return words or say("transcript.call-running")
    share = min(1.0, max(0.0, progress.done / progress.total))
    code = "transcript.call-share-words" if words else "transcript.call-share"
    return say(code, share=share, words=words)


def facts_of(call: ShownCall) -> str:
    """Size and seconds of a result that is longer than a line; "" for others."""
    pieces = []
    size = (
        call.whole.size if call.whole is not None else len(call.result.encode("utf-8", "replace"))
    )
    if call.whole is not None or len(call.result) > _LINE:
        pieces.append(say("transcript.call-size", size=size))
    if call.seconds >= _SLOW:
        pieces.append(duration_text(call.seconds))
    return " · ".join(pieces)


def pretty(arguments: str) -> str:
    """The arguments as they are read: a value a line where they are JSON on one line."""
    if "\n" in arguments or len(arguments) > _READ:
        return arguments
    try:
        found = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    if not isinstance(found, dict) or len(found) < 2:
        return arguments
    return json.dumps(found, ensure_ascii=False, indent=2)
