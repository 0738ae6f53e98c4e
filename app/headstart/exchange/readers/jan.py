"""Jan's threads: one folder each, with `thread.json` and `messages.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headstart.core.chats.parts import Part, ReasoningPart, TextPart
from headstart.core.chats.values import MessageStatus, Role
from headstart.exchange.fields import Fields, decode
from headstart.exchange.material import ImportProblem, Material
from headstart.exchange.readers.building import Facts, ReadMessage, build, renamed
from headstart.exchange.readers.common import ROLES, lines, model_name, thinking_apart
from headstart.exchange.readers.pieces import Collector
from headstart.exchange.report import Report
from headstart.exchange.tree import ExchangeChat

SOURCE, NAME = "jan", "Jan"
_THREAD = "thread.json"
_LARGEST_THREAD = 4 << 20


def recognise(first: Fields) -> bool:
    return "thread_id" in first and "role" in first and "content" in first


def read(material: Material, members: Sequence[str], report: Report) -> Iterator[ExchangeChat]:
    for member in members:
        folder = member.rpartition("/")[0]
        thread = _thread(material, f"{folder}/{_THREAD}" if folder else _THREAD)
        found = _conversation(thread, material.data(member), member, report)
        if found is not None:
            yield found


def _thread(material: Material, member: str) -> Fields:
    known = member in material.members or member in material.beside
    if not known or material.size(member) > _LARGEST_THREAD:
        return Fields(None)
    try:
        return Fields(decode(material.data(member)))
    except (ValueError, ImportProblem):
        return Fields(None)


def _conversation(
    thread: Fields, data: memoryview, member: str, report: Report
) -> ExchangeChat | None:
    assistant = next(thread.each("assistants"), Fields(None))
    model = assistant.inside("model").words("id") or thread.inside("model").words("id")
    facts = Facts(
        id=thread.id("id"),
        title=thread.words("title") or thread.inside("metadata").words("title"),
        created_at=thread.time("created", "created_at"),
        updated_at=thread.time("updated", "updated_at"),
        system_prompt=assistant.text("instructions").strip(),
        pinned=thread.flag("isFavorite") or thread.inside("metadata").flag("is_favorite"),
        model=model_name(model),
    )
    collect = Collector(report, facts.title or member)
    facts.blobs = collect.blobs.found
    seen: list[ReadMessage] = []
    with_ids = True
    for number, message in enumerate(lines(data, report, member)):
        facts.id = facts.id or message.id("thread_id")
        with_ids = with_ids and bool(message.id("id"))
        role = ROLES.get(message.text("role"), Role.USER)
        ended = message.text("status") in ("stopped", "interrupted", "pending", "error")
        seen.append(
            ReadMessage(
                message.id("id") or f"{number}",
                seen[-1].id if seen else None,
                role,
                _parts(message, role, collect),
                message.time("created_at", "completed_at"),
                MessageStatus.STOPPED if ended else MessageStatus.COMPLETE,
                model_name(message.inside("metadata").words("modelId", "model")),
            )
        )
    # lines are in order, but times decide in a file merged from two
    if all(one.created_at for one in seen):
        seen.sort(key=lambda one: one.created_at)
        for before, one in zip([None, *seen], seen, strict=False):
            one.parent = before.id if before is not None else None
    if not with_ids:
        seen = renamed(seen, facts)
    return build(SOURCE, facts, seen, report)


def _parts(message: Fields, role: Role, collect: Collector) -> list[Part]:
    parts = collect.parts(message.all.get("content"))
    thought = any(isinstance(part, ReasoningPart) for part in parts)
    if role is Role.ASSISTANT and parts and not thought and isinstance(parts[0], TextPart):
        parts = [*thinking_apart(parts[0].text), *parts[1:]]
    # calls are stored beside the text; they came before the answer and after the reasoning
    calls: list[Part] = []
    for one in message.inside("metadata").each("tool_calls"):
        tool = one.inside("tool")
        calls += collect.call(tool or one)
        if one.inside("response"):
            function = tool.inside("function")
            result = {"id": tool.id("id"), "name": function.words("name")}
            calls += collect.result(Fields(result | {"content": one.all["response"]}))
    at = next((n for n, part in enumerate(parts) if isinstance(part, TextPart)), len(parts))
    return [*parts[:at], *calls, *parts[at:]]
