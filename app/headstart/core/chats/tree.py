"""A whole chat as stored: its row, every message of every branch, and all attached data."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from headstart.core.chats.values import Chat, Message, Role


class ChatTree(Struct, frozen=True):
    """`messages`: each after its parent. `active`: the shown child, by parent (None: the first
    message). `extra` and `of_messages`: JSON kept for exported files, of the chat and by message
    id. `blobs`: bytes of files and images by digest, if they came with the chat."""

    chat: Chat
    messages: tuple[Message, ...]
    active: Mapping[str | None, str]
    extra: str = ""
    of_messages: Mapping[str, str] = field(default_factory=dict)
    blobs: Mapping[str, bytes] = field(default_factory=dict)


class RemovedBranch(Struct, frozen=True):
    """Messages removed from a chat, the topmost first; their positions in the chat's order, and
    whether they were shown."""

    tree: ChatTree
    positions: Mapping[str, int]
    shown: bool


class TreeNode(Struct, frozen=True):
    """A message in the map of a chat: its first words, and whether it is shown."""

    id: str
    parent: str | None
    role: Role
    words: str
    model: str
    created_at: int
    shown: bool


class KnownChat(Struct, frozen=True):
    """A chat's state in the database: the number of its messages; whether it is in the trash."""

    messages: int
    in_trash: bool
