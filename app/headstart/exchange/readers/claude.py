"""Claude's export: `conversations.json`, an array; branches where messages name their parents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial

from headstart.core.parts import Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from headstart.core.values import Role
from headstart.exchange.fields import Fields
from headstart.exchange.material import Material
from headstart.exchange.media import Blobs
from headstart.exchange.readers.building import Facts, Seen, build
from headstart.exchange.readers.common import ROLES, each, missing, model_name, objects
from headstart.exchange.report import Report
from headstart.exchange.tree import Conversation

SOURCE, NAME = "claude", "Claude"
# what the parent of a first message is called
_ROOT = "00000000-0000-4000-8000-000000000000"


def recognise(first: Fields) -> bool:
    return isinstance(first.all.get("chat_messages"), list)


def read(material: Material, members: Sequence[str], report: Report) -> Iterator[Conversation]:
    for member in members:
        found = objects(material.data(member), report, member, "conversations")
        yield from each(found, partial(_conversation, report=report), report, member)


def _conversation(fields: Fields, report: Report) -> Conversation | None:
    blobs = Blobs()
    facts = Facts(
        id=fields.id("uuid", "id"),
        title=fields.words("name", "title"),
        created_at=fields.time("created_at"),
        updated_at=fields.time("updated_at"),
        pinned=fields.flag("is_starred"),
        folder=fields.inside("project").words("name"),
        model=model_name(fields.words("model")),
        leaf=fields.id("current_leaf_message_uuid") or None,
        blobs=blobs.found,
    )
    where = facts.title or facts.id
    branched = any("parent_message_uuid" in message for message in fields.each("chat_messages"))
    seen: list[Seen] = []
    for number, message in enumerate(fields.each("chat_messages")):
        parent = message.id("parent_message_uuid") if branched else seen[-1].id if seen else ""
        role = ROLES.get(message.text("sender", "role"), Role.USER)
        one = message.id("uuid") or f"{number}"
        seen.append(
            Seen(
                one,
                None if parent in ("", _ROOT) else parent,
                role,
                [*_files(message, blobs, report, where), *_parts(message)],
                message.time("created_at"),
            )
        )
    return build(SOURCE, facts, seen, report)


def _parts(message: Fields) -> list[Part]:
    found: list[Part] = []
    for piece in message.each("content"):
        kind = piece.text("type")
        if kind == "text" and piece.text("text"):
            found.append(TextPart(piece.text("text")))
        elif kind == "thinking" and piece.text("thinking"):
            found.append(ReasoningPart(piece.text("thinking")))
        elif kind == "tool_use":
            arguments = json.dumps(piece.all.get("input"), ensure_ascii=False)
            found.append(ToolCallPart(piece.id("id"), piece.words("name") or "tool", arguments))
        elif kind == "tool_result":
            text = "\n\n".join(one.text("text") for one in piece.each("content"))
            text = text or piece.text("content")
            name = piece.words("name") or "tool"
            call, failed = piece.id("tool_use_id"), piece.flag("is_error")
            found.append(ToolResultPart(call, name, text, failed))
    if not found and message.text("text"):
        # older exports; beside calls of tools it holds words about them
        found.append(TextPart(message.text("text")))
    return found


def _files(message: Fields, blobs: Blobs, report: Report, where: str) -> list[Part]:
    """Attachments with their text; of other files the export has the names only."""
    found: list[Part] = []
    for file in message.each("attachments"):
        text = file.text("extracted_content")
        name = file.words("file_name") or "attachment"
        if text:
            found.append(blobs.text_part(name, text))
        else:
            found.append(missing("file", name, report, where))
    names = [file.words("file_name") for file in message.each("files")]
    return [*found, *(missing("file", name, report, where) for name in names)]
