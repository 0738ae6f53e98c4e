"""Conversations as lines of JSON: OpenAI's format for training, and Hugging Face's session
trace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from headstart.core.chats.parts import Part, ReasoningPart, ToolCallPart, ToolResultPart
from headstart.core.chats.prompt_words import prompt_text
from headstart.core.chats.values import Role
from headstart.exchange.fields import time_text
from headstart.exchange.include import WORDS, Include
from headstart.exchange.tree import ChatNode, ExchangeChat
from headstart.exchange.writers.words import prompt_of


def training_line(conversation: ExchangeChat, include: Include = WORDS) -> bytes:
    """The shown branch as `{"messages": [...]}`."""
    messages: list[dict[str, Any]] = []
    if prompt_of(conversation):
        messages.append({"role": "system", "content": prompt_of(conversation)})
    for node in conversation.branch():
        message: dict[str, Any] = {"role": node.role.value, "content": prompt_text(node.parts)}
        reasoning = _reasoning(node.parts)
        if include.reasoning and reasoning:
            message["reasoning_content"] = reasoning
        messages.append(message)
    return msgspec.json.encode({"messages": messages}) + b"\n"


def trace_lines(conversation: ExchangeChat, include: Include = WORDS) -> bytes:
    """A session, then its messages; with branches every message names its parent."""
    session: dict[str, Any] = {"type": "session", "harness": "headstart", "id": conversation.id}
    session["name"] = conversation.title
    if conversation.created_at > 0:
        session["timestamp"] = time_text(conversation.created_at)
    nodes = list(conversation.nodes) if include.branches else conversation.branch()
    lines = [session, *_prompt_lines(conversation)]
    # id of each message's last line, which the next message follows
    last: dict[str | None, str | None] = {None: None}
    for node in nodes:
        own = _lines(node, include)
        if include.branches:
            above = [last.get(node.parent), *(line["id"] for line in own)]
            for line, parent in zip(own, above, strict=False):
                line["parentId"] = parent
        last[node.id] = own[-1]["id"]
        lines.extend(own)
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


def _prompt_lines(conversation: ExchangeChat) -> Iterable[dict[str, Any]]:
    prompt = prompt_of(conversation)
    if prompt:
        yield {"type": "message", "message": {"role": "system", "content": prompt}}


def _lines(node: ChatNode, include: Include) -> list[dict[str, Any]]:
    """One line per message; several if it has tool results in the middle."""
    lines: list[dict[str, Any]] = []
    for group in _groups(node.parts):
        result = group[0] if group else None
        message: dict[str, Any]
        if isinstance(result, ToolResultPart):
            message = {"role": "tool", "content": result.text, "toolName": result.name}
            message["toolCallId"] = result.id
        else:
            message = _message(node, group, include)
        key = f"{node.id}.{len(lines)}" if lines else node.id
        lines.append({"type": "message", "id": key, "message": message})
    return lines


def _message(node: ChatNode, group: Sequence[Part], include: Include) -> dict[str, Any]:
    calls = [part for part in group if isinstance(part, ToolCallPart)]
    rest = [part for part in group if not isinstance(part, ToolCallPart)]
    message: dict[str, Any] = {"role": node.role.value, "content": prompt_text(rest)}
    reasoning = _reasoning(rest)
    if include.reasoning and reasoning:
        message["reasoningContent"] = reasoning
    if calls:
        message["toolCalls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.text},
            }
            for call in calls
        ]
    if node.created_at > 0:
        message["timestamp"] = node.created_at
    if node.model is not None and node.role is Role.ASSISTANT:
        message["model"] = node.model.name
    return message


def _groups(parts: Sequence[Part]) -> list[list[Part]]:
    """Groups of parts that fit on one line in their order: reasoning, text, calls; each result
    is a separate group."""
    groups: list[list[Part]] = [[]]
    rank = 0
    for part in parts:
        own = {ReasoningPart: 0, ToolCallPart: 2, ToolResultPart: 3}.get(type(part), 1)
        if groups[-1] and (own < rank or own == 3 or rank == 3):
            groups.append([])
        groups[-1].append(part)
        rank = own
    return groups


def _reasoning(parts: Iterable[Part]) -> str:
    return "\n\n".join(part.text for part in parts if isinstance(part, ReasoningPart))
