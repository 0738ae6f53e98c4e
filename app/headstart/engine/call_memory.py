"""Calls as the model wrote them, for prompts in which they come back in other words.

A history has a call's arguments with other spacing or key order, and templates write their own: the
prompt would differ from what is computed already. Found by the call's id and its parsed arguments.
Engine thread.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from headstart.core.chats.values import Role
from headstart.core.requests import GenerationRequest, PromptCall, PromptMessage, ToolRole
from headstart.core.tools import call_id
from headstart.engine.foreign import bare
from headstart.engine.markup.tool_calls.forms import CallForm
from headstart.engine.markup.tool_calls.layout import behind_header
from headstart.engine.markup.tool_calls.reader import CallReader
from headstart.engine.markup.tool_calls.readers import JsonCalls

# characters of all steps that are remembered
_MOST = 16_000_000
# places that are tried
_LOOKS = 64
# stands for a result while its position is looked for
_SIGN = "\ue0f6result\ue0f6"
# characters of one message's calls that are looked through
_LONGEST = 4_000_000


class WrittenStep(Struct, frozen=True):
    """A step of a reply: its text, reasoning and calls, and `raw`, all of it as it was written,
    control tokens included.

    `prompt` is the rendered prompt before it, made of messages with the digest `seen`.
    """

    calls: tuple[PromptCall, ...]
    text: str
    reasoning: str
    raw: str
    prompt: str = ""
    seen: bytes = b""

    @property
    def size(self) -> int:
        return len(self.raw) + len(self.prompt)


class CallMemory:
    """`recall` returns the step of an earlier start, as it was written, by its `call_key`."""

    def __init__(self, recall: Callable[[str], str | None] = lambda _key: None) -> None:
        self._recall = recall
        self._steps: OrderedDict[str, WrittenStep] = OrderedDict()
        self._size = 0

    def keep(self, step: WrittenStep) -> None:
        """Remember a step under the id of its first call."""
        key = step.calls[0].id
        old = self._steps.pop(key, None)
        self._size += step.size - (old.size if old is not None else 0)
        self._steps[key] = step
        while self._size > _MOST and len(self._steps) > 1:
            _, gone = self._steps.popitem(last=False)
            self._size -= gone.size

    def find(self, message: PromptMessage) -> WrittenStep | None:
        """The step that a message repeats: the same calls with equal arguments, the same text."""
        if not message.calls:
            return None
        step = self._steps.get(message.calls[0].id)
        if step is None:
            raw = self._recall(call_key(message.calls, message.text))
            if raw is None:
                return None
            reasoning = self._recall(reasoning_key(message.calls, message.text)) or ""
            step = WrittenStep(message.calls, message.text, reasoning, raw)
            self.keep(step)
        if step.text.strip() != message.text.strip():
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
        offer: str = "",
    ) -> str:
        """A rendered prompt with every remembered step as the model wrote it. `offer` names all
        that decides a prompt beside its messages; see `digest`."""
        last = max((at for at, one in enumerate(messages) if one.role is Role.USER), default=-1)
        for number in reversed(range(last + 1, len(messages) - 1)):
            # in one turn a prompt only grows, whatever the template makes of it now
            step = self.find(messages[number])
            prompt = "" if step is None else self._prompt_before(step, messages[:number], offer)
            if step is None or not prompt:
                continue
            end = _end_of_step(rendered, messages, number, form, render)
            if end >= 0:
                return prompt + step.raw + rendered[end:]
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
            # calls that the reasoning has are words of it
            thought = step.reasoning.strip()
            begins = said.find(thought) + len(thought)
            shows = begins >= len(thought)
            end = calls_end(said[begins:], form, [call.name for call in step.calls])
            if end >= 0 and shows:
                rendered = before + step.raw + rendered[len(before) + begins + end :]
        return rendered

    def _prompt_before(
        self, step: WrittenStep, messages: Sequence[PromptMessage], offer: str
    ) -> str:
        """The prompt before a step, if it was made of these messages; "" otherwise."""
        seen = digest(messages, offer)
        if step.prompt:
            return step.prompt if step.seen == seen else ""
        return self._recall(prompt_key(step.calls, step.text, seen)) or ""


def numbered(
    request: GenerationRequest, calls: Sequence[tuple[str, str]]
) -> tuple[PromptCall, ...]:
    """A step's calls, name and arguments, with their ids: numbers go on through the steps of a
    reply."""
    before = [one for one in request.messages if one.key == request.reply_key]
    first = 1 + sum(len(one.calls) for one in before)
    return tuple(
        PromptCall(call_id(request.reply_key, first + number), *call)
        for number, call in enumerate(calls)
    )


def call_key(calls: Sequence[PromptCall], text: str) -> str:
    """A step's name beside the texts of replies, whose tokens are kept on disk: its calls and its
    text; no text of a reply begins like this."""
    known = [(call.id, *_value(call)) for call in calls]
    return f"{_SIGN}{json.dumps(known, sort_keys=True)}{text.strip()}"


def reasoning_key(calls: Sequence[PromptCall], text: str) -> str:
    """The same for the step's reasoning, which programs leave out."""
    return f"{_SIGN}reasoning{call_key(calls, text)}"


def prompt_key(calls: Sequence[PromptCall], text: str, seen: bytes) -> str:
    """The same for the prompt before the step, made of messages with the digest `seen`."""
    return f"{_SIGN}prompt{seen.hex()}{call_key(calls, text)}"


def digest(messages: Sequence[PromptMessage], offer: str) -> bytes:
    """A digest of messages as a prompt's beginning, with the tools, the template and the thinking
    of its `offer`: reasoning and the spelling of arguments do not count."""
    found = hashlib.blake2b(offer.encode("utf-8", "surrogatepass"), digest_size=16)
    for one in messages:
        calls = [(call.id, *_value(call)) for call in one.calls]
        images = [image.digest for image in one.images]
        known = (one.role, one.text, one.call_id, images, calls)
        found.update(json.dumps(known, sort_keys=True).encode("utf-8", "surrogatepass"))
    return found.digest()


def _end_of_step(
    rendered: str,
    messages: Sequence[PromptMessage],
    number: int,
    form: CallForm,
    render: Callable[[Sequence[PromptMessage]], str],
) -> int:
    """The position behind the calls of a message that has its result; -1 where it is not found."""
    result = messages[number + 1]
    if result.role is not ToolRole.TOOL:
        return -1
    marked = [*messages[: number + 1], replace(result, text=_SIGN), *messages[number + 2 :]]
    at = render(marked).find(_SIGN)
    names = [call.name for call in messages[number].calls]
    begins = at
    for _ in range(_LOOKS):
        # the nearest place from which all of its calls are read
        begins = max(rendered.rfind(one, 0, begins) for one in form.opens or names[:1])
        end = calls_end(rendered[begins:at], form, names) if begins >= 0 else -1
        if begins < 0 or end >= 0:
            return begins + end if end >= 0 else -1
    return -1


def calls_end(text: str, form: CallForm, names: Sequence[str]) -> int:
    """The position behind so many calls in a rendered reply; -1 where they are not found."""
    at, done = 0, 0
    while done < len(names):
        if form.header:
            named = text.find(names[done], at)
            if named < 0:
                return -1
            behind = len(text) - len(behind_header(text[named:]))
            if form.reader == JsonCalls():
                # the header says only that a call follows
                behind = max(text.rfind("{", at, named), 0)
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
        # a mark may be spelled with escapes, too
        return call.name, json.loads(bare(call.arguments), strict=False)
    except (ValueError, RecursionError):
        return call.name, call.arguments
