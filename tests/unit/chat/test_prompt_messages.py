"""What of a branch a model is given."""

from __future__ import annotations

from headstart.chat.requests import prompt_messages
from headstart.core.chats.parts import Part, text_part
from headstart.core.chats.values import Message, MessageStatus, Role


def _message(role: Role, *parts: Part, status: MessageStatus = MessageStatus.COMPLETE) -> Message:
    return Message("m", "c", None, role, status, parts, 0, model="SmolLM2")


def test_prompts_leave_out_empty_replies_and_join_questions() -> None:
    branch = [
        _message(Role.USER, *text_part("one")),
        _message(Role.ASSISTANT, status=MessageStatus.FAILED),
        _message(Role.USER, *text_part("two")),
    ]
    messages = prompt_messages(branch, "  sys ")
    assert [(message.role, message.text) for message in messages] == [
        (Role.SYSTEM, "sys"),
        (Role.USER, "one\n\ntwo"),
    ]
