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

from headstart.core.chats.bounds import converted
from headstart.core.chats.parts import needed_blobs
from headstart.core.chats.values import MessageStatus, Role, TurnStats
from headstart.core.models.heads import AUTOMATIC, OWN_LAYERS
from headstart.core.settings.renamed import with_new_names
from headstart.core.settings.schema import ChatOptions
from headstart.exchange.fields import (
    Fields,
    as_object,
    compact,
    decode,
    one_of,
    time_of,
    time_text,
)
from headstart.exchange.ids import OWN
from headstart.exchange.own_parts import measured, part_of, part_value
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


# --- export ------------------------------------------------------------------------------


def to_json(conversation: ExchangeChat, program: str = "", with_blobs: bool = True) -> bytes:
    """The file's bytes; `with_blobs` embeds files and images."""
    extra = as_object(conversation.extra)
    options = {**as_object(extra.pop("options", None)), **_options_value(conversation.options)}
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
    extra = as_object(node.extra)
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
        {**part_value(part), **as_object(of_parts[place] if place < len(of_parts) else None)}
        for place, part in enumerate(node.parts)
    ]
    return {**value, **extra}


def _model_value(model: ModelName | None) -> dict[str, str] | None:
    if model is None:
        return None
    value = {"name": model.name, "host": model.host, "content": model.content}
    return {key: text for key, text in value.items() if text or key == "name"}


# --- import ------------------------------------------------------------------------------


def from_json(
    data: bytes | memoryview,
    blob: Callable[[str], bytes | None] = lambda _: None,
    tell: Callable[[int], None] = lambda _: None,
) -> ExchangeChat:
    """Raises ValueError for other files; `blob` finds bytes that are stored beside the file, `tell`
    hears how many numbers are left out because they are out of their bounds."""
    value = decode(data)
    fields = Fields(value)
    if fields.text("format") != FORMAT:
        raise ValueError("another format")
    return conversation_of(fields, blob, tell)


def conversation_of(
    fields: Fields,
    blob: Callable[[str], bytes | None] = lambda _: None,
    tell: Callable[[int], None] = lambda _: None,
) -> ExchangeChat:
    read = [_node(Fields(one)) for one in fields.list("messages") if isinstance(one, dict)]
    nodes, _moved = in_order(node for node, _ in read)
    left_out = sum(count for _, count in read)
    known = {node.id for node in nodes}
    selected = fields.inside("selected").all
    active: dict[str | None, str] = {
        above or None: below
        for above, below in selected.items()
        if isinstance(below, str) and below in known and (not above or above in known)
    }
    options, unknown, odd = _options(fields.inside("options").all)
    left_out += odd + sum(_is_no_time(fields, key) for key in ("created_at", "updated_at"))
    if left_out:
        tell(left_out)
    blobs = _blobs(fields, nodes, blob)
    extra = {key: one for key, one in fields.all.items() if key not in _CHAT_KEYS}
    if unknown:
        extra["options"] = unknown
    return ExchangeChat(
        source=OWN,
        id=fields.id("id"),
        title=fields.text("title"),
        nodes=tuple(_measured(node, blobs) for node in nodes),
        active=active,
        created_at=fields.time("created_at"),
        updated_at=fields.time("updated_at"),
        pinned=fields.flag("pinned"),
        titled_by_user=fields.flag("titled_by_user"),
        folder=fields.text("folder"),
        tags=fields.texts("tags"),
        model=_model(fields.inside("model")),
        options=options,
        blobs=blobs,
        extra=compact(extra),
    )


def _node(fields: Fields) -> tuple[ChatNode, int]:
    """A message, and how many of its numbers are left out."""
    read = [part_of(one) for one in fields.each("parts")]
    left_out = sum(one.left_out for one in read) + _is_no_time(fields, "created_at")
    extra: dict[str, Any] = {
        key: one for key, one in fields.all.items() if key not in _MESSAGE_KEYS
    }
    if any(one.unknown for one in read):
        extra["parts"] = [one.unknown for one in read]
    stats = None
    if fields.inside("stats"):
        try:
            stats, odd = converted(fields.inside("stats").all, TurnStats)
            left_out += odd
        except msgspec.MsgspecError:
            # stats of another version are kept as data
            extra["stats"] = dict(fields.inside("stats").all)
    node = ChatNode(
        id=fields.id("id"),
        parent=fields.id("parent") or None,
        role=one_of(Role, fields.text("role"), Role.USER),
        parts=tuple(one.part for one in read),
        created_at=time_of(fields.all.get("created_at")),
        status=_status(fields.text("status")),
        model=_model(fields.inside("model")),
        error=fields.text("error"),
        stats=stats,
        extra=compact(extra),
    )
    return node, left_out


def _is_no_time(fields: Fields, key: str) -> bool:
    """True for a time that is given, and is none."""
    return fields.all.get(key) not in (None, "") and not fields.time(key)


def _measured(node: ChatNode, blobs: Mapping[str, bytes]) -> ChatNode:
    """The message with the sizes of its files as their bytes have them."""
    parts = tuple(measured(part, blobs) for part in node.parts)
    return msgspec.structs.replace(node, parts=parts)


def _options(given: Mapping[str, Any]) -> tuple[ChatOptions, dict[str, Any], int]:
    """Options, those that this version cannot read, and how many numbers are left out."""
    names = {field.encode_name for field in msgspec.structs.fields(ChatOptions)}
    try:
        options, left_out = converted(with_new_names(dict(given)), ChatOptions)
    except (msgspec.MsgspecError, TypeError, AttributeError):
        # unreadable options fall back to the app's settings, but are kept
        return ChatOptions(), dict(given), 0
    speculation = options.speculation
    if (
        speculation is not None
        and speculation.draft not in (AUTOMATIC, OWN_LAYERS, "")
        and not Path(speculation.draft).is_absolute()
    ):
        # a draft's name from another computer, or in older files its path there
        here = msgspec.structs.replace(speculation, draft=AUTOMATIC)
        options = msgspec.structs.replace(options, speculation=here)
    return options, {key: one for key, one in given.items() if key not in names}, left_out


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
    found = one_of(MessageStatus, text, MessageStatus.COMPLETE)
    # no engine is generating it any more
    return MessageStatus.INTERRUPTED if found is MessageStatus.OPEN else found
