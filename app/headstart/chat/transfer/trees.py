"""Converts chats of the database to conversations of files, and back. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from headstart.core.chats.parts import joined
from headstart.core.chats.tree import ChatTree
from headstart.core.chats.values import Chat, Message, MessageStatus, Role, now_ms
from headstart.core.models.installed import InstalledModel
from headstart.core.servers import split_key
from headstart.core.strange_json import decoded
from headstart.core.told import without_places
from headstart.exchange import ids
from headstart.exchange.ids import OWN
from headstart.exchange.tree import ChatNode, ExchangeChat, ModelName

# keys of the facts kept from a file besides its text
_SOURCE, _KEYS = "source", "keys"


class ModelNames:
    """Names of models: files use name and content, the database uses the location."""

    def __init__(self, installed: Iterable[InstalledModel] = ()) -> None:
        known = list(installed)
        self._by_key = {model.ref.key: model for model in known}
        self._by_content = {model.content: model.ref.key for model in known}
        self._by_name = {model.ref.name: model.ref.key for model in known}

    def name_of(self, key: str | None, name: str = "", host: str = "") -> ModelName | None:
        """A model's name by its key; the path of an unknown model is never exported."""
        known = self._by_key.get(key or "")
        server = split_key(key or "")
        content = key or "" if server is not None else known.content if known is not None else ""
        if not name and known is not None:
            name = known.ref.name
        elif not name and server is not None:
            name = server[1]
        return ModelName(name, host, content) if name or content else None

    def key_of(self, model: ModelName | None) -> str | None:
        """Key of the model on this computer; None if it is not installed."""
        if model is None:
            return None
        if split_key(model.content) is not None:
            return model.content
        return self._by_content.get(model.content) or self._by_name.get(model.name)


# --- import ------------------------------------------------------------------------------


def to_tree(conversation: ExchangeChat, models: ModelNames) -> ChatTree:
    """The conversation as a stored chat. System messages and empty questions are left out; their
    followers are attached to the message before."""
    source, own = conversation.source, conversation.id
    chat_id = ids.chat_id(source, own)
    nodes = _without_systems(conversation.nodes)
    new = {node.id: ids.message_id(source, own, node.id) for node in nodes}
    values = tuple(_message(node, chat_id, new, models) for node in nodes)
    active: dict[str | None, str] = {}
    for message in values:
        # the last child, unless the file names one
        active[message.parent_id] = message.id
    for above, below in conversation.active.items():
        if below in new and (above is None or above in new):
            active[new[above] if above is not None else None] = new[below]
    moment = conversation.updated_at or conversation.created_at or now_ms()
    chat = Chat(
        id=chat_id,
        title=conversation.title,
        created_at=conversation.created_at or moment,
        updated_at=moment,
        pinned=conversation.pinned,
        titled_by_user=conversation.titled_by_user,
        model=models.key_of(conversation.model),
        options=conversation.options,
        folder=conversation.folder,
        tags=conversation.tags,
    )
    of_messages = {new[node.id]: node.extra for node in nodes if node.extra}
    return ChatTree(chat, values, active, _kept(conversation), of_messages, conversation.blobs)


def _message(node: ChatNode, chat_id: str, new: Mapping[str, str], models: ModelNames) -> Message:
    model = node.model
    return Message(
        id=new[node.id],
        chat_id=chat_id,
        parent_id=new[node.parent] if node.parent is not None else None,
        role=node.role,
        status=MessageStatus.INTERRUPTED if node.status is MessageStatus.OPEN else node.status,
        parts=node.parts,
        created_at=node.created_at,
        model=model.name if model is not None else None,
        model_host=model.host or None if model is not None else None,
        model_key=models.key_of(model),
        error=node.error or None,
        stats=node.stats,
    )


def _without_systems(nodes: Iterable[ChatNode]) -> list[ChatNode]:
    above: dict[str, str | None] = {}
    found = []
    for node in nodes:
        parent = above.get(node.parent, node.parent) if node.parent is not None else None
        if node.role is Role.SYSTEM or (node.role is Role.USER and not joined(node.parts)):
            above[node.id] = parent
        else:
            found.append(node if parent == node.parent else _below(node, parent))
    return found


def _below(node: ChatNode, parent: str | None) -> ChatNode:
    return ChatNode(
        node.id, parent, node.role, node.parts, node.created_at, node.status, node.model,
        node.error, node.stats, node.extra,
    )  # fmt: skip


def _kept(conversation: ExchangeChat) -> str:
    """Facts without a database column, as JSON."""
    found: dict[str, Any] = {}
    if conversation.source != OWN:
        found[_SOURCE] = conversation.source
    if conversation.extra:
        found[_KEYS] = conversation.extra
    return json.dumps(found, ensure_ascii=False) if found else ""


# --- export ------------------------------------------------------------------------------


def to_conversation(tree: ChatTree, models: ModelNames) -> ExchangeChat:
    chat = tree.chat
    kept = _object(tree.extra)
    return ExchangeChat(
        source=OWN,
        id=chat.id,
        title=chat.title,
        nodes=tuple(_node(message, tree, models) for message in tree.messages),
        active=dict(tree.active),
        created_at=chat.created_at,
        updated_at=chat.updated_at,
        pinned=chat.pinned,
        titled_by_user=chat.titled_by_user,
        folder=chat.folder,
        tags=chat.tags,
        model=models.name_of(chat.model),
        options=chat.options,
        blobs=tree.blobs,
        extra=str(kept.get(_KEYS, "")),
    )


def _node(message: Message, tree: ChatTree, models: ModelNames) -> ChatNode:
    model = None
    if message.model or message.model_key:
        model = models.name_of(message.model_key, message.model or "", message.model_host or "")
    return ChatNode(
        id=message.id,
        parent=message.parent_id,
        role=message.role,
        parts=message.parts,
        created_at=message.created_at,
        status=message.status,
        model=model,
        error=without_places(message.error or ""),
        stats=message.stats,
        extra=tree.of_messages.get(message.id, ""),
    )


def _object(text: str) -> dict[str, Any]:
    try:
        value = decoded(text) if text else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
