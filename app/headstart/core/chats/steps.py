"""The steps of a reply that calls tools, as messages of a prompt. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from headstart.core.chats.parts import (
    Part,
    ReasoningPart,
    ToolCallPart,
    ToolResultPart,
    prompt_text,
)
from headstart.core.chats.values import Role
from headstart.core.requests import (
    PromptCall,
    PromptMessage,
    ToolRole,
)

# to a model: words for prompts stay English
NO_RESULT = "No result: the call was interrupted."
FAILED = "Error: "


class ReplyStep(Struct):
    """One run of the model: reasoning and text, its calls, and the results of these."""

    said: list[Part] = field(default_factory=list)
    calls: list[ToolCallPart] = field(default_factory=list)
    results: list[ToolResultPart] = field(default_factory=list)


def steps(parts: Iterable[Part]) -> list[ReplyStep]:
    """The parts of one reply in steps. A step ends before whatever follows a result; a result
    without a call is text of its step."""
    found = [ReplyStep()]
    for part in parts:
        now = found[-1]
        if isinstance(part, ToolResultPart):
            called = part.id in {call.id for call in now.calls} or (
                not part.id and len(now.results) < len(now.calls)
            )
            (now.results if called else now.said).append(part)
            continue
        if now.results or (now.calls and not isinstance(part, ToolCallPart)):
            now = ReplyStep()
            found.append(now)
        if isinstance(part, ToolCallPart):
            now.calls.append(part)
        else:
            now.said.append(part)
    return found


def has_calls(parts: Iterable[Part]) -> bool:
    return any(isinstance(part, ToolCallPart) for part in parts)


def step_messages(parts: Sequence[Part], key: str) -> list[PromptMessage]:
    """A reply's steps as messages: each run of the model, and a message for each result in the
    order of the calls."""
    found: list[PromptMessage] = []
    for number, step in enumerate(steps(parts)):
        text = prompt_text(step.said)
        reasoning = "".join(part.text for part in step.said if isinstance(part, ReasoningPart))
        ids = [call.id or f"{key}-{number}-{index}" for index, call in enumerate(step.calls)]
        calls = tuple(
            PromptCall(call_id, call.name, call.text)
            for call_id, call in zip(ids, step.calls, strict=True)
        )
        if not (text.strip() or calls):
            continue
        found.append(PromptMessage(Role.ASSISTANT, text, key, reasoning, calls=calls))
        found += [
            PromptMessage(ToolRole.TOOL, result, key, call_id=call_id, name=call.name)
            for call_id, call, result in zip(ids, step.calls, _results(step), strict=True)
        ]
    return found


def _results(step: ReplyStep) -> list[str]:
    """The result of each call; one without an id belongs to the next call that has none."""
    by_id = {result.id: result for result in step.results if result.id}
    nameless = [result for result in step.results if not result.id]
    found = []
    for call in step.calls:
        result = by_id.get(call.id) if call.id else None
        if result is None and nameless:
            result = nameless.pop(0)
        if result is None:
            found.append(NO_RESULT)
        else:
            found.append(f"{FAILED}{result.text}" if result.failed else result.text)
    return found
