"""Messages of other programs, put in the order that chat templates take. Pure.

Programs send system texts anywhere, results in any order, and several messages of one side. A chat
template takes one system message at the beginning, and sides that alternate. Nothing is moved
forward: a text that moves would change the prompt before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from headstart.core.chats.steps import NO_RESULT
from headstart.core.chats.values import Role
from headstart.core.requests import PromptMessage, ToolRole, WrittenSoFar

# between two texts that become one
GAP = "\n\n"


def in_turns(messages: Sequence[PromptMessage]) -> tuple[PromptMessage, ...]:
    """The messages with one system message at the beginning. A later system text becomes a marked
    part of the message before it; two messages of one side become one; the results of a step follow
    it in the order of its calls."""
    found: list[PromptMessage] = []
    for message in _results_in_order(messages):
        last = found[-1] if found else None
        if message.role is Role.SYSTEM:
            if last is None:
                found.append(message)
            elif last.role is Role.SYSTEM:
                found[-1] = replace(last, text=_joined(last.text, message.text))
            elif message.text.strip():
                _add_reminder(found, message)
        elif last is not None and last.role is message.role is Role.USER:
            found[-1] = replace(
                last, text=_joined(last.text, message.text), images=(*last.images, *message.images)
            )
        elif last is not None and last.role is message.role is Role.ASSISTANT:
            found[-1] = _one_step(last, message)
        else:
            found.append(message)
    if found and found[0].role is Role.SYSTEM and not found[0].text.strip():
        del found[0]
    return tuple(found)


def begun(
    messages: Sequence[PromptMessage],
) -> tuple[tuple[PromptMessage, ...], WrittenSoFar]:
    """The messages without a last one of the model, and that one as the beginning of the reply."""
    last = messages[-1] if messages else None
    if last is None or last.role is not Role.ASSISTANT or last.calls or len(messages) < 2:
        return tuple(messages), WrittenSoFar()
    return tuple(messages[:-1]), WrittenSoFar(last.reasoning, last.text, bool(last.text))


def marked(text: str) -> str:
    """A system text inside the talk."""
    return f"<system-reminder>\n{text.strip()}\n</system-reminder>"


def _add_reminder(found: list[PromptMessage], message: PromptMessage) -> None:
    last, text = found[-1], marked(message.text)
    if last.role is Role.ASSISTANT:
        found.append(PromptMessage(Role.USER, text))
    else:
        found[-1] = replace(last, text=_joined(last.text, text))


def _joined(first: str, second: str) -> str:
    return f"{first}{GAP}{second}" if first and second else first or second


def _one_step(first: PromptMessage, second: PromptMessage) -> PromptMessage:
    """Two messages of the model in a row, which a dialect takes apart: reasoning, text, calls."""
    return replace(
        first,
        text=_joined(first.text, second.text),
        reasoning=_joined(first.reasoning, second.reasoning),
        calls=(*first.calls, *second.calls),
    )


def _results_in_order(messages: Sequence[PromptMessage]) -> list[PromptMessage]:
    """Each step followed by the results of its calls, in their order; a call without a result gets
    one that says so, and a result without a call becomes a text of the user."""
    found: list[PromptMessage] = []
    results = {one.call_id: one for one in messages if one.role is ToolRole.TOOL}
    used: set[str] = set()
    waiting: list[PromptMessage] = []
    for number, message in enumerate(messages):
        if message.role is ToolRole.TOOL:
            if message.call_id not in used:
                found.append(_as_text(message))
                used.add(message.call_id)
            continue
        found.append(message)
        waiting += [
            replace(results[call.id], name=call.name)
            if call.id in results and call.id not in used
            else PromptMessage(ToolRole.TOOL, NO_RESULT, call_id=call.id, name=call.name)
            for call in message.calls
        ]
        used.update(call.id for call in message.calls)
        more = messages[number + 1] if number + 1 < len(messages) else None
        if waiting and (more is None or more.role is not Role.ASSISTANT):
            # the items of one step may come one by one: its results follow the last of them
            found += waiting
            waiting = []
    return found


def _as_text(message: PromptMessage) -> PromptMessage:
    name = f" of {message.name}" if message.name else ""
    return PromptMessage(Role.USER, f"[Result{name}]\n{message.text}", images=message.images)
