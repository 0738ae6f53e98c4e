"""The steps of a reply that calls tools, as messages of a prompt. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct, field

from headstart.core.chats.parts import (
    FilePart,
    ImagePart,
    Part,
    ReasoningPart,
    ToolCallPart,
    ToolResultPart,
)
from headstart.core.chats.prompt_words import FOREIGN, prompt_text
from headstart.core.chats.values import Role
from headstart.core.requests import (
    PromptCall,
    PromptImage,
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
    # files and images of each result, by its place
    more: dict[int, list[Part]] = field(default_factory=dict)


def steps(parts: Iterable[Part]) -> list[ReplyStep]:
    """The parts of one reply in steps. A step ends before whatever follows a result, but for its
    files and images; a result without a call is text of its step."""
    found = [ReplyStep()]
    for part in parts:
        now = found[-1]
        if isinstance(part, ToolResultPart):
            called = part.id in {call.id for call in now.calls} or (
                not part.id and len(now.results) < len(now.calls)
            )
            (now.results if called else now.said).append(part)
            continue
        if now.results and isinstance(part, FilePart | ImagePart):
            now.more.setdefault(len(now.results) - 1, []).append(part)
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


def step_messages(
    parts: Sequence[Part],
    key: str,
    images_of: Callable[[Sequence[Part]], tuple[PromptImage, ...]] = lambda _parts: (),
) -> list[PromptMessage]:
    """A reply's steps as messages: each run of the model, and a message for each result in the
    order of the calls. `images_of`: the images among parts that the model sees."""
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
        for call_id, call, (text, more) in zip(ids, step.calls, _results(step), strict=True):
            images = images_of(more)
            found.append(
                PromptMessage(
                    ToolRole.TOOL, text, key, images=images, call_id=call_id, name=call.name
                )
            )
    return found


def _results(step: ReplyStep) -> list[tuple[str, list[Part]]]:
    """The text of each call's result, with its files and images; one without an id belongs to the
    next call that has none."""
    places = {result.id: place for place, result in enumerate(step.results) if result.id}
    nameless = [place for place, result in enumerate(step.results) if not result.id]
    found: list[tuple[str, list[Part]]] = []
    for call in step.calls:
        place = places.get(call.id) if call.id else None
        if place is None and nameless:
            place = nameless.pop(0)
        if place is None:
            found.append((NO_RESULT, []))
        else:
            more = step.more.get(place, [])
            found.append((_result_text(step.results[place], more), more))
    return found


def _result_text(result: ToolResultPart, more: Sequence[Part]) -> str:
    """The result as a model reads it; what another program wrote is marked as data."""
    text = "\n\n".join(filter(None, (result.text, prompt_text(more))))
    if result.failed:
        text = f"{FAILED}{text}"
    return f"{FOREIGN.format(source=result.source)}{text}" if result.source else text
