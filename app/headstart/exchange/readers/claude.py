"""Claude's export: `conversations.json`, an array; it has branches if messages name their
parents."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from urllib.parse import urlsplit

from msgspec import Struct, field

from headstart.core.chats.parts import Part, TextPart
from headstart.core.chats.values import Role
from headstart.exchange.fields import Fields
from headstart.exchange.material import ImportProblem, Material
from headstart.exchange.readers.building import Facts, ReadMessage, build
from headstart.exchange.readers.common import ROLES, each, model_name, objects
from headstart.exchange.readers.pieces import Collector
from headstart.exchange.report import Report
from headstart.exchange.tree import ExchangeChat

SOURCE, NAME = "claude", "Claude"
# the parent's id in a first message
_ROOT = "00000000-0000-4000-8000-000000000000"


def recognise(first: Fields) -> bool:
    return isinstance(first.all.get("chat_messages"), list)


def read(material: Material, members: Sequence[str], report: Report) -> Iterator[ExchangeChat]:
    projects = _projects(material, report)
    for member in members:
        if member in projects.files:
            continue
        found = objects(material.data(member), report, member, "conversations")
        make = partial(_conversation, projects=projects.by_id, report=report)
        yield from each(found, make, report, member)


class _Projects(Struct):
    """Projects beside the conversations: by id, and the files that have them."""

    by_id: dict[str, Fields] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)


def _projects(material: Material, report: Report) -> _Projects:
    found = _Projects()
    for member in material.members:
        if member.rpartition("/")[2] != "projects.json" and "/projects/" not in f"/{member}":
            continue
        if not member.endswith(".json"):
            continue
        found.files.add(member)
        for project in objects(material.data(member), report, member):
            found.by_id[project.id("uuid", "id")] = project
    if "projects.json" in material.beside:
        # the user did not choose it, and it may be another program's: do not report errors
        with contextlib.suppress(ImportProblem):
            for project in objects(material.data("projects.json"), Report(), "projects.json"):
                found.by_id[project.id("uuid", "id")] = project
    return found


def _conversation(
    fields: Fields, projects: Mapping[str, Fields], report: Report
) -> ExchangeChat | None:
    inner = fields.inside("project")
    project = projects.get(inner.id("uuid") or fields.id("project_uuid"), Fields(None))
    facts = Facts(
        id=fields.id("uuid", "id"),
        title=fields.words("name", "title"),
        created_at=fields.time("created_at"),
        updated_at=fields.time("updated_at"),
        pinned=fields.flag("is_starred"),
        folder=inner.words("name") or project.words("name"),
        system_prompt=project.text("prompt_template"),
        model=model_name(fields.words("model")),
        leaf=fields.id("current_leaf_message_uuid") or None,
    )
    collect = Collector(report, facts.title or facts.id)
    facts.blobs = collect.blobs.found
    messages = list(fields.each("chat_messages"))
    branched = any("parent_message_uuid" in message for message in messages)
    documents = _documents(project, collect)
    seen: list[ReadMessage] = []
    for number, message in enumerate(messages):
        parent = message.id("parent_message_uuid") if branched else seen[-1].id if seen else ""
        name = message.text("sender", "role")
        role = ROLES.get(name, Role.USER)
        parts = [*_files(message, collect), *_parts(message, collect)]
        if documents and role is Role.USER and parent in ("", _ROOT):
            # a project's documents precede each of its chats
            parts = [*documents, *parts]
        one = message.id("uuid") or f"{number}"
        moment = message.time("created_at")
        seen.append(
            ReadMessage(one, None if parent in ("", _ROOT) else parent, role, parts, moment)
        )
    return build(SOURCE, facts, seen, report)


def _documents(project: Fields, collect: Collector) -> list[Part]:
    found: list[Part] = []
    for one in project.each("docs"):
        name, text = one.words("filename", "file_name", "name") or "document", one.text("content")
        found.append(collect.blobs.text_part(name, text) if text else collect.missing("file", name))
    return found


def _parts(message: Fields, collect: Collector) -> list[Part]:
    content = message.all.get("content")
    if isinstance(content, str):
        return [TextPart(content)] if content else []
    found: list[Part] = []
    for piece in message.each("content"):
        if piece.text("type") in ("", "text"):
            words = _cited(piece)
            found += [TextPart(words)] if words else []
        else:
            found += collect.parts(piece.all)
    if not found and message.text("text"):
        # older exports; with tool calls it only holds text about them
        found.append(TextPart(message.text("text")))
    return found


def _cited(piece: Fields) -> str:
    """Text with a link after each passage that names its source."""
    text = piece.text("text")
    ends: dict[int, str] = {}
    for one in piece.each("citations"):
        details = one.inside("details")
        address = details.text("url") or one.text("url")
        end = one.whole("end_index")
        if address.startswith(("http://", "https://")) and end is not None and 0 < end <= len(text):
            title = one.words("title") or details.words("title") or urlsplit(address).netloc
            link = f" ([{title}]({address}))"
            ends[end] = ends.get(end, "") + (link if link not in ends.get(end, "") else "")
    for end in sorted(ends, reverse=True):
        text = text[:end] + ends[end] + text[end:]
    return text


def _files(message: Fields, collect: Collector) -> list[Part]:
    """Attachments with their text; of other files the export has only the names."""
    found: list[Part] = []
    for file in message.each("attachments"):
        text = file.text("extracted_content")
        name = file.words("file_name") or "attachment"
        if text:
            found.append(collect.blobs.text_part(name, text))
        else:
            found.append(collect.missing("file", name))
    names = dict.fromkeys(
        file.words("file_name") for key in ("files", "files_v2") for file in message.each(key)
    )
    return [*found, *(collect.missing("file", name) for name in names)]
