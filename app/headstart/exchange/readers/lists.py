"""Lists of messages in the usual forms: ShareGPT's `conversations`, OpenAI's and Anthropic's
`messages`, exports of many chat programs; one object per line, an array, or a wrapping object. With
parents or versions they are trees, otherwise linear."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial

from headstart.exchange.fields import Fields
from headstart.exchange.material import Material
from headstart.exchange.readers.building import Facts, build, renamed
from headstart.exchange.readers.common import each, lines, objects
from headstart.exchange.readers.messages import TIMES, is_message, model_of, read_messages
from headstart.exchange.readers.pieces import Collector
from headstart.exchange.report import Report
from headstart.exchange.tree import ExchangeChat

SOURCE, NAME = "list", "List of messages"
# keys of a chat's messages, and keys of several chats
_MESSAGES = ("messages", "conversations", "conversation", "turns", "dialogue", "chat_history")
_CHATS = ("chats", "threads", "sessions", "history", "items", "conversations", "data", "results")
_PROMPTS = (
    "system", "system_prompt", "systemPrompt", "system_instruction", "promptPrefix", "preprompt",
    "instructions", "prompt", "systemMessage",
)  # fmt: skip
_TITLES = ("title", "name", "chatTitle", "topic", "summary", "subject")
_IDS = ("id", "conversation_id", "conversationId", "uuid", "_id", "thread_id", "chatId", "chatID")
_DEEPEST = 4


def recognise(first: Fields) -> bool:
    return is_message(first) or _messages_key(first) != "" or next(_inside(first), None) is not None


def read(
    material: Material, members: Sequence[str], report: Report, source: str = SOURCE
) -> Iterator[ExchangeChat]:
    for member in members:
        loose: list[Fields] = []
        make = partial(_conversation, member=member, report=report, source=source)
        for fields in _all(material, member, report):
            if _messages_key(fields):
                yield from each([fields], make, report, member)
            elif is_message(fields):
                # the whole file is one conversation
                loose.append(fields)
            else:
                inner = list(_inside(fields))
                if not inner:
                    report.skip(member, "import-unreadable")
                yield from each(inner, make, report, member)
        if loose:
            whole = Fields({"messages": [one.all for one in loose]})
            yield from each([whole], make, report, member)


def conversation(
    fields: Fields, messages: Sequence[Fields], collect: Collector, source: str
) -> ExchangeChat | None:
    """A chat with these messages; `fields`: the object that holds them."""
    facts = facts_of(fields)
    collect.where = facts.title or collect.where
    thread = read_messages(messages, collect)
    facts.blobs = collect.blobs.found
    facts.leaf = facts.leaf or thread.leaf
    seen = thread.seen
    if not (thread.with_ids and facts.id and source != SOURCE):
        seen = renamed(seen, facts)
        if facts.id and seen:
            # such ids are often numbers, counted from one in each file
            facts.id = f"{facts.id}:{seen[0].id}"
    return build(source, facts, seen, collect.report)


def of_messages(fields: Fields, member: str, report: Report, source: str) -> ExchangeChat | None:
    """A chat of the `messages` in its fields, for readers that produce such lists."""
    return conversation(fields, list(fields.each("messages")), Collector(report, member), source)


def facts_of(fields: Fields) -> Facts:
    """The title, times, prompt and model of a chat, under the names that programs use for them."""
    settings = fields.inside("options") or fields.inside("settings") or fields.inside("params")
    about = (fields, settings, fields.inside("metadata"))
    folder = fields.words("folder", "folderName", "workspace") or fields.inside("project").words(
        "name"
    )
    return Facts(
        id=fields.id(*_IDS),
        title=fields.words(*_TITLES),
        created_at=fields.time(*TIMES),
        updated_at=fields.time("updatedAt", "updated_at", "update_time", "modify_time"),
        pinned=any(fields.flag(key) for key in ("pinned", "starred", "is_starred", "isFavorite")),
        folder=folder,
        tags=fields.texts("tags"),
        system_prompt=next((text for one in about if (text := _prompt(one))), ""),
        model=next((model for one in about if (model := model_of(one)) is not None), None),
        leaf=fields.id("currentId", "current_node", "leaf_response_id", "currentNode") or None,
    )


def _prompt(fields: Fields) -> str:
    text = fields.text(*_PROMPTS)
    if text:
        return text
    for key in ("system", "system_instruction", "systemInstruction"):
        pieces = [*fields.each(key), *fields.inside(key).each("parts")]
        found = "\n\n".join(filter(None, (piece.text("text") for piece in pieces)))
        found = found or fields.inside(key).text("text")
        if found:
            return found
    return ""


def _conversation(fields: Fields, member: str, report: Report, source: str) -> ExchangeChat | None:
    messages = list(fields.each(_messages_key(fields)))
    return conversation(fields, messages, Collector(report, member), source)


def _messages_key(fields: Fields) -> str:
    for key in _MESSAGES:
        if any(is_message(one) for one in fields.each(key)):
            return key
    return ""


def _inside(fields: Fields, depth: int = 0) -> Iterator[Fields]:
    """Chats nested in an object, level by level."""
    if depth >= _DEEPEST:
        return
    for key in _CHATS:
        inner = fields.all.get(key)
        found = [Fields(inner)] if isinstance(inner, dict) else list(fields.each(key))
        for one in found:
            if _messages_key(one):
                yield one
            else:
                yield from _inside(one, depth + 1)


def _all(material: Material, member: str, report: Report) -> Iterator[Fields]:
    data = material.data(member)
    start = bytes(data[:1024]).removeprefix(b"\xef\xbb\xbf").lstrip()
    if start[:1] != b"[" and _many_lines(data):
        yield from lines(data, report, member)
    else:
        yield from objects(data, report, member)


def _many_lines(data: memoryview) -> bool:
    """True if the first line is a complete object."""
    first = bytes(data[: 64 << 20]).removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n", 1)[0]
    try:
        json.loads(first.strip())
    except (ValueError, RecursionError):
        return False
    return True
