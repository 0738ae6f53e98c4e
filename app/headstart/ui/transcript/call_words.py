"""The words of a tool call in the transcript: its tool, its point, its state."""

from __future__ import annotations

import json

from headstart.core.chats.sections import CallState, ShownCall
from headstart.core.text.shown import shortened
from headstart.ui.tool_names import tool_title
from headstart.ui.transcript.words import duration_text
from headstart.ui.wording import say

# characters of arguments and results in one line, and those that are looked through for it
_LINE, _READ = 160, 2_000
# seconds from which the time of a call is worth a word
_SLOW = 1.0
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
    return say("transcript.may-model-use", tool=tool_title(call.name))


def point_of(call: ShownCall) -> str:
    """The arguments in a line: the only value, or all of them."""
    text = call.arguments[:_READ]
    try:
        found = json.loads(call.arguments) if len(call.arguments) <= _READ else None
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict):
        values = [str(one) for one in found.values() if isinstance(one, str | int | float)]
        text = ", ".join(values) if len(values) == len(found) else text
    elif found is None and call.state is CallState.WRITING:
        # the end is what is being written
        return " ".join(text[-_LINE:].split())
    return shortened(" ".join(text.split()), _LINE)


def summary_of(call: ShownCall, seconds: float = 0.0) -> str:
    """The state of a call, or the beginning of its result; `seconds` it has run so far."""
    if call.state is CallState.RUNNING:
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
