"""Markdown export: words untouched, endings named, reasoning folded."""

from __future__ import annotations

from headstart.chat.exchange.markdown import to_markdown
from headstart.chat.requests import prompt_messages
from headstart.core.parts import Part, ReasoningPart, TextPart, text_part
from headstart.core.values import Chat, Message, MessageStatus, Role

CHAT = Chat("c", 'A "quoted" title: ünï', 0, 0)


def _message(role: Role, *parts: Part, status: MessageStatus = MessageStatus.COMPLETE) -> Message:
    return Message("m", "c", None, role, status, parts, 0, model="SmolLM2")


def test_words_are_exported_as_they_were_written() -> None:
    words = "#include <stdio.h>\n\n$$\\int_0^1 x_1 < y_2$$\n\n```c\nint *p = &x;\n```"
    text = to_markdown(
        CHAT,
        [_message(Role.USER, *text_part(words)), _message(Role.ASSISTANT, *text_part("a\n\n* b"))],
        "Be brief.",
    )
    assert 'title: "A \\"quoted\\" title: ünï"' in text
    assert 'model: "SmolLM2"' in text
    assert "## System\n\nBe brief.\n\n## User" in text
    assert f"## User\n\n{words}\n\n## Assistant\n\na\n\n* b\n" in text


def test_reasoning_is_folded_and_an_interrupted_reply_says_so() -> None:
    reply = _message(
        Role.ASSISTANT,
        ReasoningPart("hm"),
        TextPart("yes"),
        status=MessageStatus.INTERRUPTED,
    )
    text = to_markdown(CHAT, [reply])
    assert "## Assistant (interrupted)\n\n<details>\n<summary>Reasoning</summary>\n\nhm" in text
    assert text.endswith("</details>\n\nyes\n")


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
