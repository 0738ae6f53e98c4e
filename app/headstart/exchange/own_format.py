"""Our own conversation format, to values and back; `docs/conversation-format.md` describes it.

A file holds everything of a chat, and nothing of its computer: models by name and content, no
paths. Additions of later versions are kept, and written again.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from headstart.core.chats.parts import (
    CoveragePart,
    FilePart,
    ImagePart,
    Origin,
    OriginRun,
    Part,
    PartKind,
    PassagePart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
    blob_of,
    is_digest,
    needed_blobs,
    written,
)
from headstart.core.chats.values import MessageStatus, Role, TurnStats
from headstart.core.models.heads import AUTOMATIC, OWN_LAYERS
from headstart.core.settings.renamed import with_new_names
from headstart.core.settings.schema import ChatOptions
from headstart.exchange.fields import Fields, compact, decode, fits, time_of, time_text
from headstart.exchange.ids import OWN
from headstart.exchange.tree import ChatNode, ExchangeChat, ModelName, in_order

FORMAT, VERSION = "headstart-chat", 1
SUFFIX = ".headstart.json"

_CHAT_KEYS = {
    "format", "version", "program", "id", "title", "titled_by_user", "created_at", "updated_at",
    "pinned", "folder", "tags", "model", "options", "selected", "messages", "blobs",
}  # fmt: skip
_MESSAGE_KEYS = {
    "id", "parent", "role", "status", "created_at", "model", "error", "stats", "parts",
}  # fmt: skip
_PART_KEYS = {
    PartKind.TEXT: {"kind", "text", "origins"},
    PartKind.REASONING: {"kind", "text", "origins"},
    PartKind.FILE: {"kind", "text", "name", "blob", "pages", "unit", "chosen", "encoding"},
    PartKind.IMAGE: {"kind", "text", "name", "blob", "width", "height"},
    PartKind.TOOL_CALL: {"kind", "text", "id", "name", "cut", "origins"},
    PartKind.TOOL_RESULT: {
        "kind",
        "text",
        "id",
        "name",
        "failed",
        "end",
        "seconds",
        "whole",
        "source",
    },
    PartKind.PASSAGE: {
        "kind",
        "text",
        "number",
        "name",
        "source",
        "path",
        "digest",
        "start",
        "end",
        "page",
        "line",
        "heading",
        "again",
        "note",
    },
    PartKind.COVERAGE: {"kind", "text", "total", "read", "found", "unread", "short"},
}
_OTHERS = (FilePart, ImagePart, ToolCallPart, ToolResultPart, PassagePart, CoveragePart)


# --- export ------------------------------------------------------------------------------


def to_json(conversation: ExchangeChat, program: str = "", with_blobs: bool = True) -> bytes:
    """The file's bytes; `with_blobs` embeds files and images."""
    extra = _object(conversation.extra)
    options = {**_object(extra.pop("options", None)), **_options_value(conversation.options)}
    value: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "program": program,
        "id": conversation.id,
        "title": conversation.title,
        "titled_by_user": conversation.titled_by_user,
        "created_at": time_text(conversation.created_at),
        "updated_at": time_text(conversation.updated_at),
        "pinned": conversation.pinned,
        "folder": conversation.folder,
        "tags": list(conversation.tags),
        "model": _model_value(conversation.model),
        "options": options,
        # "" stands for the beginning
        "selected": {above or "": below for above, below in conversation.active.items()},
        "messages": [_message_value(node) for node in conversation.nodes],
        **extra,
    }
    if with_blobs and conversation.blobs:
        value["blobs"] = {
            digest: base64.b64encode(data).decode() for digest, data in conversation.blobs.items()
        }
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def _options_value(options: ChatOptions) -> dict[str, Any]:
    """Options with the draft's name instead of its path on this computer, and without its
    folders."""
    value: dict[str, Any] = msgspec.to_builtins(options)
    value.pop("files_from", None)
    value.pop("pinned", None)
    speculation = value.get("speculation")
    if isinstance(speculation, dict) and speculation.get("draft"):
        speculation["draft"] = re.split(r"[\\/]", speculation["draft"])[-1]
    return value


def _message_value(node: ChatNode) -> dict[str, Any]:
    extra = _object(node.extra)
    of_parts = extra.pop("parts", [])
    value: dict[str, Any] = {
        "id": node.id,
        "parent": node.parent,
        "role": node.role.value,
        "status": node.status.value,
        "created_at": time_text(node.created_at),
    }
    if node.model is not None:
        value["model"] = _model_value(node.model)
    if node.error:
        value["error"] = node.error
    if node.stats is not None:
        value["stats"] = msgspec.to_builtins(node.stats)
    value["parts"] = [
        {**_part_value(part), **_object(of_parts[place] if place < len(of_parts) else None)}
        for place, part in enumerate(node.parts)
    ]
    return {**value, **extra}


def _part_value(part: Part) -> dict[str, Any]:
    if isinstance(part, UnknownPart):
        data = _object(part.data)
        plain = part.blob_digest is None and part.digest is None
        if plain and (part.data is None or (data and compact(data) == part.data)):
            return {"kind": part.name, "text": part.text, **data}
        stored = {"data": part.data, "blob": part.blob_digest, "digest": part.digest}
        return {"kind": part.name, "text": part.text, "stored": stored}
    value: dict[str, Any] = {"kind": part.kind.value, **msgspec.to_builtins(part)}
    value.pop("origins", None)
    if isinstance(part, PassagePart):
        value.pop("source", None)
    if part.origins:
        value["origins"] = [[run.length, run.origin.value] for run in part.origins]
    return value


def _model_value(model: ModelName | None) -> dict[str, str] | None:
    if model is None:
        return None
    value = {"name": model.name, "host": model.host, "content": model.content}
    return {key: text for key, text in value.items() if text or key == "name"}


# --- import ------------------------------------------------------------------------------


def from_json(
    data: bytes | memoryview, blob: Callable[[str], bytes | None] = lambda _: None
) -> ExchangeChat:
    """Raises ValueError for other files; `blob` finds bytes that are stored beside the file."""
    value = decode(data)
    fields = Fields(value)
    if fields.text("format") != FORMAT:
        raise ValueError("another format")
    return conversation_of(fields, blob)


def conversation_of(
    fields: Fields, blob: Callable[[str], bytes | None] = lambda _: None
) -> ExchangeChat:
    given = [_node(Fields(one)) for one in fields.list("messages") if isinstance(one, dict)]
    nodes, _moved = in_order(given)
    known = {node.id for node in nodes}
    selected = fields.inside("selected").all
    active: dict[str | None, str] = {
        above or None: below
        for above, below in selected.items()
        if isinstance(below, str) and below in known and (not above or above in known)
    }
    options, unknown = _options(fields.inside("options").all)
    extra = {key: one for key, one in fields.all.items() if key not in _CHAT_KEYS}
    if unknown:
        extra["options"] = unknown
    return ExchangeChat(
        source=OWN,
        id=fields.id("id"),
        title=fields.text("title"),
        nodes=nodes,
        active=active,
        created_at=fields.time("created_at"),
        updated_at=fields.time("updated_at"),
        pinned=fields.flag("pinned"),
        titled_by_user=fields.flag("titled_by_user"),
        folder=fields.text("folder"),
        tags=fields.texts("tags"),
        model=_model(fields.inside("model")),
        options=options,
        blobs=_blobs(fields, nodes, blob),
        extra=compact(extra),
    )


def _node(fields: Fields) -> ChatNode:
    parts, of_parts = [], []
    for one in fields.each("parts"):
        part, unknown = _part(one)
        parts.append(part)
        of_parts.append(unknown)
    extra: dict[str, Any] = {
        key: one for key, one in fields.all.items() if key not in _MESSAGE_KEYS
    }
    if any(of_parts):
        extra["parts"] = of_parts
    stats = None
    if fields.inside("stats"):
        try:
            stats = _convert(dict(fields.inside("stats").all), TurnStats)
        except msgspec.MsgspecError:
            # stats of another version are kept as data
            extra["stats"] = dict(fields.inside("stats").all)
    return ChatNode(
        id=fields.id("id"),
        parent=fields.id("parent") or None,
        role=_one_of(Role, fields.text("role"), Role.USER),
        parts=tuple(parts),
        created_at=time_of(fields.all.get("created_at")),
        status=_status(fields.text("status")),
        model=_model(fields.inside("model")),
        error=fields.text("error"),
        stats=stats,
        extra=compact(extra),
    )


def _part(fields: Fields) -> tuple[Part, dict[str, Any]]:
    """A part, and its keys that this version does not know."""
    name = fields.text("kind")
    kind = _one_of(PartKind, name, PartKind.UNKNOWN)
    known = _PART_KEYS.get(kind, {"kind", "text", "stored"})
    unknown = {key: one for key, one in fields.all.items() if key not in known}
    text = fields.text("text")
    if kind in (PartKind.TEXT, PartKind.REASONING):
        return written(kind, text, _origins(fields.list("origins"))), unknown
    for form in _OTHERS:
        if form.kind is kind:
            try:
                facts = {key: fields.all[key] for key in known if key in fields.all}
                if "origins" in facts:
                    facts["origins"] = _origins(fields.list("origins"))
                part: Any = _convert({**facts, "text": text}, form)
                bytes_of = blob_of(part)
                if bytes_of is None or is_digest(bytes_of.digest):
                    return part, unknown
                break
            except msgspec.MsgspecError:
                break
    stored = fields.inside("stored")
    if stored:
        digest, blob = stored.all.get("digest"), stored.text("blob")
        return UnknownPart(
            name,
            text,
            stored.text("data") or None,
            blob if is_digest(blob) else None,
            digest if isinstance(digest, int) and fits(digest) else None,
        ), {}
    rest = {key: one for key, one in fields.all.items() if key not in ("kind", "text")}
    return UnknownPart(name, text, compact(rest) or None), {}


def _convert(given: dict[str, Any], kind: Any) -> Any:
    """`msgspec.convert` that also raises its errors for integers too large for a database."""
    if not fits(given):
        raise msgspec.ValidationError("a number is too large")
    return msgspec.convert(given, kind)


def _origins(given: Sequence[Any]) -> list[OriginRun]:
    found = []
    for one in given:
        if not (isinstance(one, list) and len(one) == 2 and isinstance(one[0], int)):
            return []
        origin = _one_of(Origin, one[1], None)
        if origin is None or one[0] < 0 or not fits(one[0]):
            return []
        found.append(OriginRun(one[0], origin))
    return found


def _options(given: Mapping[str, Any]) -> tuple[ChatOptions, dict[str, Any]]:
    names = {field.encode_name for field in msgspec.structs.fields(ChatOptions)}
    try:
        options = _convert(with_new_names(dict(given)), ChatOptions)
    except (msgspec.MsgspecError, TypeError, AttributeError):
        # unreadable options fall back to the app's settings, but are kept
        return ChatOptions(), dict(given)
    speculation = options.speculation
    if (
        speculation is not None
        and speculation.draft not in (AUTOMATIC, OWN_LAYERS, "")
        and not Path(speculation.draft).is_absolute()
    ):
        # a draft's name from another computer, or in older files its path there
        here = msgspec.structs.replace(speculation, draft=AUTOMATIC)
        options = msgspec.structs.replace(options, speculation=here)
    return options, {key: one for key, one in given.items() if key not in names}


def _blobs(
    fields: Fields, nodes: Sequence[ChatNode], beside: Callable[[str], bytes | None]
) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    inside = fields.inside("blobs").all
    for digest in needed_blobs(part for node in nodes for part in node.parts):
        text = inside.get(digest)
        data: bytes | None = None
        if isinstance(text, str):
            try:
                data = base64.b64decode(text, validate=True)
            except binascii.Error:
                data = None
        data = data if data is not None else beside(digest)
        if data is not None:
            found[digest] = data
    return found


def _model(fields: Fields) -> ModelName | None:
    name, host, content = (fields.text(key) for key in ("name", "host", "content"))
    return ModelName(name, host, content) if name or content else None


def _status(text: str) -> MessageStatus:
    found = _one_of(MessageStatus, text, MessageStatus.COMPLETE)
    # no engine is generating it any more
    return MessageStatus.INTERRUPTED if found is MessageStatus.OPEN else found


def _object(value: object) -> dict[str, Any]:
    """An object, given as such or as JSON; an empty one in place of anything else."""
    if isinstance(value, str) and value:
        try:
            value = decode(value.encode())
        except ValueError:
            return {}
    return dict(value) if isinstance(value, dict) else {}


def _one_of(kind: Any, value: object, fallback: Any) -> Any:
    try:
        return kind(value)
    except ValueError:
        return fallback
