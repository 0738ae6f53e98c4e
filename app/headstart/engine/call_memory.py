"""Calls as the model wrote them, for prompts in which they come back in other words.

A history has a call's arguments with other spacing or key order, and templates write their own: the
prompt would differ from what is computed already. Found by the call's id and its parsed arguments.
Engine thread.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from headstart.core.requests import PromptCall, PromptMessage
from headstart.engine.markup.tool_calls.forms import CallForm
from headstart.engine.markup.tool_calls.layout import behind_header
from headstart.engine.markup.tool_calls.reader import CallReader

# characters of all steps that are remembered
_MOST = 16_000_000
# characters of one message's calls that are looked through
_LONGEST = 4_000_000


class WrittenStep(Struct, frozen=True):
    """A step of a reply: its text, reasoning and calls, and `raw`, all of it as it was written,
    control tokens included."""

    calls: tuple[PromptCall, ...]
    text: str
    reasoning: str
    raw: str


class CallMemory:
    def __init__(self) -> None:
        self._steps: OrderedDict[str, WrittenStep] = OrderedDict()
        self._size = 0

    def keep(self, step: WrittenStep) -> None:
        """Remember a step under the id of its first call."""
        key = step.calls[0].id
        old = self._steps.pop(key, None)
        self._size += len(step.raw) - (len(old.raw) if old is not None else 0)
        self._steps[key] = step
        while self._size > _MOST and len(self._steps) > 1:
            _, gone = self._steps.popitem(last=False)
            self._size -= len(gone.raw)

    def find(self, message: PromptMessage) -> WrittenStep | None:
        """The step that a message repeats: the same calls with equal arguments, the same text."""
        if not message.calls:
            return None
        step = self._steps.get(message.calls[0].id)
        if step is None or step.text.strip() != message.text.strip():
            return None
        if message.reasoning.strip() not in ("", step.reasoning.strip()):
            return None
        if [_value(call) for call in step.calls] != [_value(call) for call in message.calls]:
            return None
        self._steps.move_to_end(message.calls[0].id)
        return step

    def with_reasoning(self, messages: Sequence[PromptMessage]) -> list[PromptMessage]:
        """The messages with the reasoning that a client left out; the template keeps or drops
        it."""
        found = []
        for message in messages:
            step = None if message.reasoning else self.find(message)
            if step is not None and step.reasoning:
                message = replace(message, reasoning=step.reasoning)
            found.append(message)
        return found

    def as_written(
        self,
        rendered: str,
        messages: Sequence[PromptMessage],
        form: CallForm,
        render: Callable[[Sequence[PromptMessage]], str],
    ) -> str:
        """A rendered prompt with every remembered step as the model wrote it."""
        # from the end, so that positions before stay
        for number in reversed(range(len(messages))):
            step = self.find(messages[number])
            if step is None:
                continue
            before = render(messages[:number])
            if not rendered.startswith(before):
                # an earlier turn, which the template shows in another way
                continue
            said = rendered[len(before) : len(before) + _LONGEST]
            end = calls_end(said, form, [call.name for call in step.calls])
            shows = not step.reasoning.strip() or step.reasoning.strip() in said[: max(end, 0)]
            if end >= 0 and shows:
                rendered = before + step.raw + rendered[len(before) + end :]
        return rendered


def calls_end(text: str, form: CallForm, names: Sequence[str]) -> int:
    """The position behind so many calls in a rendered reply; -1 where they are not found."""
    at, done = 0, 0
    while done < len(names):
        if form.header:
            named = text.find(names[done], at)
            if named < 0:
                return -1
            behind = len(text) - len(behind_header(text[named:]))
        else:
            marks = [(found, mark) for mark in form.opens if (found := text.find(mark, at)) >= 0]
            if not marks:
                return -1
            begins, mark = min(marks)
            behind = begins if form.bare else begins + len(mark)
        reader = CallReader(form.reader, lambda _name: None, names[done] if form.header else "")
        reader.push(text[behind:])
        reader.finish()
        if not reader.consumed:
            return -1
        done += reader.calls
        at = behind + reader.consumed
    return at if done == len(names) else -1


def _value(call: PromptCall) -> tuple[str, Any]:
    try:
        return call.name, json.loads(call.arguments, strict=False)
    except (ValueError, RecursionError):
        return call.name, call.arguments
