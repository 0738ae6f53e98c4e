"""ChatGPT's export: `conversations.json`, or shards of it, in a zip or a folder, with files beside.

A conversation is a mapping of nodes by id with `parent`; `current_node` is the last one on show.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from headstart.core.attachments import LARGEST
from headstart.core.parts import Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from headstart.core.values import MessageStatus, Role
from headstart.exchange.fields import Fields
from headstart.exchange.material import ImportProblem, Material
from headstart.exchange.media import Blobs
from headstart.exchange.readers.building import Facts, Seen, build
from headstart.exchange.readers.common import ROLES, each, missing, model_name, objects
from headstart.exchange.report import Report
from headstart.exchange.tree import Conversation

SOURCE, NAME = "chatgpt", "ChatGPT"
_POINTERS = ("sediment://", "file-service://")
# shown nowhere in ChatGPT itself
_NOT_SHOWN = ("model_editable_context", "user_editable_context", "reasoning_recap")


def recognise(first: Fields) -> bool:
    return isinstance(first.all.get("mapping"), dict)


def read(material: Material, members: Sequence[str], report: Report) -> Iterator[Conversation]:
    assets = _Assets(material)
    for member in members:
        found = objects(material.data(member), report, member, "conversations")
        make = partial(_conversation, assets=assets, report=report)
        yield from each(found, make, report, member)


class _Assets:
    """The files beside the conversations, by the id that begins or is in their names."""

    def __init__(self, material: Material) -> None:
        self._material = material
        self._names = {name.rpartition("/")[2]: name for name in material.members}

    def find(self, pointer: str) -> tuple[str, bytes] | None:
        key = pointer
        for prefix in _POINTERS:
            key = key.removeprefix(prefix)
        if not key:
            return None
        for name, member in self._names.items():
            if name.startswith(key) and self._material.size(member) <= LARGEST:
                try:
                    return name, bytes(self._material.data(member))
                except ImportProblem:
                    return None
        return None


def _conversation(fields: Fields, assets: _Assets, report: Report) -> Conversation | None:
    blobs = Blobs()
    facts = Facts(
        id=fields.id("conversation_id", "id"),
        title=fields.words("title"),
        created_at=fields.time("create_time"),
        updated_at=fields.time("update_time"),
        pinned=fields.flag("is_starred") or fields.flag("pinned"),
        tags=("archived",) if fields.flag("is_archived") else (),
        model=model_name(fields.words("default_model_slug")),
        leaf=fields.id("current_node") or None,
        blobs=blobs.found,
    )
    where = facts.title or facts.id
    mapping = fields.inside("mapping").all
    seen = [
        _node(str(key), Fields(node), assets, blobs, report, where)
        for key, node in mapping.items()
        if isinstance(node, dict)
    ]
    if facts.leaf not in mapping:
        facts.leaf = _newest(seen)
    return build(SOURCE, facts, _in_order_of_time(seen), report)


def _node(
    key: str, node: Fields, assets: _Assets, blobs: Blobs, report: Report, where: str
) -> Seen:
    parent = node.id("parent") or None
    message = node.inside("message")
    author, metadata = message.inside("author"), message.inside("metadata")
    name = author.text("role")
    role = ROLES.get(name)
    content = message.inside("content")
    hidden = metadata.flag("is_visually_hidden_from_conversation") or message.number("weight") == 0
    seen = Seen(key, parent, role or Role.ASSISTANT, created_at=message.time("create_time"))
    if role is None or not content or (hidden and not metadata.flag("is_user_system_message")):
        return seen
    if content.text("content_type") in _NOT_SHOWN:
        return seen
    parts = _parts(content, assets, blobs, report, where)
    if name == "tool":
        text = "\n\n".join(part.text for part in parts if isinstance(part, TextPart))
        files = [part for part in parts if not isinstance(part, TextPart)]
        tool = author.words("name") or "tool"
        # a tool that only says that it was called has nothing to say
        parts = [*([ToolResultPart(key, tool, text)] if text else []), *files]
    elif role is Role.ASSISTANT and message.text("recipient") not in ("", "all"):
        text = "".join(part.text for part in parts if isinstance(part, TextPart))
        parts = [ToolCallPart(key, message.words("recipient"), text)] if text else []
    seen.parts = [*_attached(content, metadata, assets, blobs, report, where), *parts]
    if role is Role.ASSISTANT:
        seen.model = model_name(metadata.words("model_slug"))
        if message.text("status") == "in_progress":
            seen.status = MessageStatus.INTERRUPTED
    return seen


def _attached(
    content: Fields, metadata: Fields, assets: _Assets, blobs: Blobs, report: Report, where: str
) -> list[Part]:
    """Documents that came with a question; images stand in its content too."""
    pointers = [Fields(piece).text("asset_pointer") for piece in content.list("parts")]
    found: list[Part] = []
    for file in metadata.each("attachments"):
        key, name = file.id("id"), file.words("name")
        if not key or any(pointer.endswith(key) for pointer in pointers if pointer):
            continue
        asset = assets.find(key)
        if asset is None:
            found.append(missing("file", name, report, where))
        else:
            kind = file.text("mime_type", "mimeType") or "application/octet-stream"
            found.append(blobs.part(name or asset[0], asset[1], kind))
    return found


def _parts(
    content: Fields, assets: _Assets, blobs: Blobs, report: Report, where: str
) -> list[Part]:
    kind = content.text("content_type")
    if kind == "thoughts":
        thoughts = [
            "\n".join(filter(None, (one.text("summary"), one.text("content"))))
            for one in content.each("thoughts")
        ]
        return [ReasoningPart("\n\n".join(thoughts))] if any(thoughts) else []
    if kind == "tether_quote":
        title, text = content.words("title", "domain", "url"), content.text("text")
        return [TextPart(f"{title}\n\n{text}".strip())] if title or text else []
    if kind == "tether_browsing_display":
        text = content.text("result", "summary")
        return [TextPart(text)] if text else []
    if kind == "system_error":
        text = " ".join(filter(None, (content.text("name"), content.text("text"))))
        return [TextPart(text)] if text else []
    found: list[Part] = []
    for piece in content.list("parts"):
        if isinstance(piece, str):
            if piece:
                found.append(TextPart(piece))
        else:
            found += _piece(Fields(piece), assets, blobs, report, where)
    text = content.text("text")
    return found or ([TextPart(text)] if text else [])


def _piece(piece: Fields, assets: _Assets, blobs: Blobs, report: Report, where: str) -> list[Part]:
    """An image, a file or speech in the middle of text."""
    if "text" in piece and not piece.text("asset_pointer"):
        return [TextPart(piece.text("text"))] if piece.text("text") else []
    inner = piece.inside("audio_asset_pointer") or piece
    pointer = inner.text("asset_pointer")
    if not pointer:
        return []
    found = assets.find(pointer)
    if found is None:
        kind = "image" if "image" in piece.text("content_type") else "file"
        return [missing(kind, pointer.rpartition("/")[2], report, where)]
    name, data = found
    return [blobs.part(name, data, "application/octet-stream")]


def _newest(seen: Sequence[Seen]) -> str | None:
    """Where nothing says which message is on show: the last one that was written."""
    written = [one for one in seen if one.parts]
    return max(written, key=lambda one: one.created_at).id if written else None


def _in_order_of_time(seen: Sequence[Seen]) -> list[Seen]:
    """Versions in the order in which they were made; a mapping has none of its own."""
    return sorted(seen, key=lambda one: one.created_at)
