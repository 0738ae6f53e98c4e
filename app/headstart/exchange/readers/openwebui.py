"""Open WebUI's export: an array of chats whose messages are in `history`, by id.

Reasoning and tool calls stand in the text, between tags; they become parts.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from functools import partial

from headstart.core.chats.parts import Part, ReasoningPart, ToolCallPart, ToolResultPart
from headstart.core.chats.values import Role
from headstart.exchange.fields import Fields
from headstart.exchange.material import Material
from headstart.exchange.readers.building import Facts, ReadMessage, build
from headstart.exchange.readers.common import ROLES, each, model_name, objects, thinking_apart
from headstart.exchange.readers.pieces import Collector, unquoted
from headstart.exchange.report import Report
from headstart.exchange.tree import ExchangeChat

SOURCE, NAME = "open-webui", "Open WebUI"
_KIND = re.compile(r'\btype="(reasoning|tool_calls|code_interpreter)"')
_OPEN, _CLOSE = "<details", "</details>"
_SUMMARY, _SUMMARY_END = "<summary>", "</summary>"
_FACT = re.compile(r'\b(\w+)="([^"]*)"')


def recognise(first: Fields) -> bool:
    chat = first.inside("chat") or first
    return isinstance(chat.inside("history").all.get("messages"), dict)


def read(material: Material, members: Sequence[str], report: Report) -> Iterator[ExchangeChat]:
    for member in members:
        found = objects(material.data(member), report, member, "chats")
        yield from each(found, partial(_conversation, report=report), report, member)


def _conversation(fields: Fields, report: Report) -> ExchangeChat | None:
    chat, meta = fields.inside("chat") or fields, fields.inside("meta")
    history = chat.inside("history")
    collect = Collector(report, fields.words("title") or chat.words("title") or fields.id("id"))
    facts = Facts(
        id=fields.id("id") or chat.id("id"),
        title=fields.words("title") or chat.words("title"),
        created_at=fields.time("created_at", "timestamp") or chat.time("timestamp", "created_at"),
        updated_at=fields.time("updated_at"),
        pinned=fields.flag("pinned"),
        tags=(*meta.texts("tags"), *(("archived",) if fields.flag("archived") else ())),
        system_prompt=chat.text("system") or chat.inside("params").text("system"),
        model=model_name(next(iter(chat.texts("models")), "")),
        leaf=history.id("currentId", "current_id") or None,
        blobs=collect.blobs.found,
    )
    seen = []
    for key, value in history.inside("messages").all.items():
        message = Fields(value)
        if message:
            seen.append(_message(str(key), message, collect))
    # siblings in order of time
    seen.sort(key=lambda one: one.created_at)
    return build(SOURCE, facts, seen, report)


def _message(key: str, message: Fields, collect: Collector) -> ReadMessage:
    role = ROLES.get(message.text("role"), Role.USER)
    content = message.all.get("content")
    parts: list[Part] = _files(message, collect)
    if role is Role.ASSISTANT and isinstance(content, str):
        parts += _details_apart(content)
    else:
        parts += collect.parts(content)
    error = message.inside("error").text("content", "message")
    return ReadMessage(
        message.id("id") or key,
        message.id("parentId", "parent_id") or None,
        role,
        parts,
        message.time("timestamp", "created_at"),
        model=model_name(message.words("modelName", "model")) if role is Role.ASSISTANT else None,
        error=error,
    )


def _details_apart(text: str) -> list[Part]:
    """The text of a reply, with the content of tags as parts."""
    found: list[Part] = []
    at = begin = 0
    while (start := text.find(_OPEN, begin)) >= 0:
        head = text.find(">", start)
        end = text.find(_CLOSE, head) if head >= 0 else -1
        if end < 0:
            break
        kind = _KIND.search(text, start, head)
        begin = head
        if kind is None:
            continue
        found += thinking_apart(text[at:start]) if text[at:start].strip() else []
        found += _detail(kind[1], text[start:head], text[head + 1 : end])
        at = begin = end + len(_CLOSE)
        while text.startswith("\n", at):
            at = begin = at + 1
    return found + (thinking_apart(text[at:]) if text[at:].strip() else [])


def _without_summary(inside: str) -> str:
    before, begins, rest = inside.partition(_SUMMARY)
    _, ends, after = rest.partition(_SUMMARY_END)
    return before.rstrip() + after.lstrip() if begins and ends else inside


def _detail(kind: str, head: str, inside: str) -> list[Part]:
    facts = {name: html.unescape(value) for name, value in _FACT.findall(head)}
    inside = html.unescape(_without_summary(inside)).strip()
    if kind == "reasoning":
        # each line is quoted
        lines = [line.removeprefix(">").removeprefix(" ") for line in inside.splitlines()]
        return [ReasoningPart("\n".join(lines))] if inside else []
    name, call = facts.get("name", kind), facts.get("id", "")
    parts: list[Part] = [ToolCallPart(call, name, unquoted(facts.get("arguments", inside)))]
    if facts.get("result"):
        parts.append(ToolResultPart(call, name, unquoted(facts["result"])))
    return parts


def _files(message: Fields, collect: Collector) -> list[Part]:
    found: list[Part] = []
    for file in message.each("files"):
        inner = file.inside("file")
        name = file.words("name") or inner.words("filename") or "file"
        text = inner.inside("data").text("content")
        if text:
            found.append(collect.blobs.text_part(name, text))
        else:
            about = {"name": name, "url": file.text("url")}
            found += collect.file(Fields(about), file.text("type") or "file")
    return found
