"""A whole chat as it is stored: its row, every message of every branch, and what belongs to it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from headstart.core.chats.values import Chat, Message, Role


class ChatTree(Struct, frozen=True):
    """`messages`: each after its parent. `active`: which child is on show, by parent (None: the
    first message). `extra` and `of_messages`: JSON that is kept for files, of the chat and by
    message id. `blobs`: bytes of files and images by digest, where they came with it."""

    chat: Chat
    messages: tuple[Message, ...]
    active: Mapping[str | None, str]
    extra: str = ""
    of_messages: Mapping[str, str] = field(default_factory=dict)
    blobs: Mapping[str, bytes] = field(default_factory=dict)


class RemovedBranch(Struct, frozen=True):
    """Messages that were taken out of a chat, the first of them above all others; their places in
    the order of the chat, and whether they were on show."""

    tree: ChatTree
    positions: Mapping[str, int]
    shown: bool


class TreeNode(Struct, frozen=True):
    """A message in the map of a chat: its first words, and whether it is on show."""

    id: str
    parent: str | None
    role: Role
    words: str
    model: str
    created_at: int
    shown: bool


class KnownChat(Struct, frozen=True):
    """A chat's state in the database: how many of its messages; whether it is in the trash."""

    messages: int
    in_trash: bool
