"""Messages as they are made, and from stored ones to what the chat template gets; pure."""

from __future__ import annotations

from collections.abc import Sequence

from headstart.core.events import AnyModel, PromptMessage
from headstart.core.servers import ServerModel
from headstart.core.values import (
    Message,
    MessageStatus,
    Part,
    PartKind,
    Role,
    new_id,
    now_ms,
    text_part,
)


def new_question(chat_id: str, parent: str | None, text: str) -> Message:
    """A user's message, complete."""
    status = MessageStatus.COMPLETE
    return Message(new_id(), chat_id, parent, Role.USER, status, text_part(text), now_ms())


def open_reply(chat_id: str, parent: str | None, model: AnyModel) -> Message:
    """A reply that is going to be written."""
    name = f"{model.name} on {model.host}" if isinstance(model, ServerModel) else model.name
    status = MessageStatus.OPEN
    return Message(new_id(), chat_id, parent, Role.ASSISTANT, status, (), now_ms(), model=name)


def prompt_messages(branch: Sequence[Message], system_prompt: str) -> tuple[PromptMessage, ...]:
    """The system prompt and the branch; replies without words are left out.

    Two user messages in a row, which many templates refuse, become one.
    """
    result: list[PromptMessage] = []
    if system_prompt.strip():
        result.append(PromptMessage(Role.SYSTEM, system_prompt.strip(), "system"))
    for message in branch:
        text = message.text
        if not text.strip() and message.role is Role.ASSISTANT:
            continue
        if result and result[-1].role is message.role is Role.USER:
            last = result.pop()
            text = f"{last.text}\n\n{text}"
        result.append(PromptMessage(message.role, text, message.id))
    return tuple(result)


def reply_so_far(parts: Sequence[Part]) -> str:
    """A partly written reply as the model wrote it, its reasoning in tags, to go on from."""
    reasoning = "".join(part.text for part in parts if part.kind is PartKind.REASONING)
    text = "".join(part.text for part in parts if part.kind is PartKind.TEXT)
    if not reasoning:
        return text
    closed = f"\n</think>\n\n{text}" if text else ""
    return f"<think>\n{reasoning.rstrip()}{closed}" if closed else f"<think>\n{reasoning}"
