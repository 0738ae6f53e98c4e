"""A conversation in transit between programs: a tree of messages with its data. Frozen values.

Times are milliseconds since 1970 (UTC). Ids are the source's own; `ids.py` turns them into ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from headstart.core.chats.parts import Part
from headstart.core.chats.values import MessageStatus, Role, TurnStats
from headstart.core.settings.schema import ChatOptions


class ModelName(Struct, frozen=True):
    """A model under its exported name: its name, the server that ran it, and an identifier of its
    bytes; never a path."""

    name: str
    host: str = ""
    content: str = ""


class ChatNode(Struct, frozen=True):
    """One message. `parent` is None for first messages; `extra`: the file's keys unknown to this
    version, as a JSON object, or ""."""

    id: str
    parent: str | None
    role: Role
    parts: tuple[Part, ...]
    created_at: int = 0
    status: MessageStatus = MessageStatus.COMPLETE
    model: ModelName | None = None
    error: str = ""
    stats: TurnStats | None = None
    extra: str = ""


class ExchangeChat(Struct, frozen=True):
    """`nodes`: each after its parent, in order of creation. `active`: the shown child, by parent
    (None: the first message); the last child by default. `blobs`: the bytes of files and images, by
    digest."""

    source: str
    id: str
    title: str
    nodes: tuple[ChatNode, ...]
    active: Mapping[str | None, str] = field(default_factory=dict)
    created_at: int = 0
    updated_at: int = 0
    pinned: bool = False
    titled_by_user: bool = True
    folder: str = ""
    tags: tuple[str, ...] = ()
    model: ModelName | None = None
    options: ChatOptions = field(default_factory=ChatOptions)
    blobs: Mapping[str, bytes] = field(default_factory=dict)
    extra: str = ""

    def children(self) -> dict[str | None, list[str]]:
        found: dict[str | None, list[str]] = {}
        for node in self.nodes:
            found.setdefault(node.parent, []).append(node.id)
        return found

    def branch(self) -> list[ChatNode]:
        """The shown messages, from the first to the last."""
        by_id, children = {node.id: node for node in self.nodes}, self.children()
        path: list[ChatNode] = []
        at: str | None = None
        while below := children.get(at):
            chosen = self.active.get(at)
            at = chosen if chosen in below else below[-1]
            path.append(by_id[at])
        return path

    def branches(self) -> int:
        """Number of branches, each from a first message to a leaf."""
        inner = {node.parent for node in self.nodes}
        return sum(node.id not in inner for node in self.nodes)

    def other_branches(self, shown: Iterable[ChatNode]) -> list[list[ChatNode]]:
        """Messages outside the shown branch: each path down once, the earliest first."""
        seen = {node.id for node in shown}
        by_id, children = {node.id: node for node in self.nodes}, self.children()
        found = []
        for node in self.nodes:
            if node.id in seen:
                continue
            way = [node]
            while below := [one for one in children.get(way[-1].id, ()) if one not in seen]:
                chosen = self.active.get(way[-1].id)
                way.append(by_id[chosen if chosen in below else below[-1]])
            seen.update(one.id for one in way)
            found.append(way)
        return found


def in_order(nodes: Iterable[ChatNode]) -> tuple[tuple[ChatNode, ...], int]:
    """Nodes with each after its parent, otherwise in the given order; and the number of nodes with
    a missing parent, a cyclic one, or a duplicate id: these are attached to the node before them,
    so that nothing is lost."""
    given, moved = _told_apart(nodes)
    by_id = {node.id: node for node in given}
    placed: dict[str, ChatNode] = {}
    before: str | None = None
    for node in given:
        way: list[ChatNode] = []
        seen: set[str] = set()
        at: ChatNode | None = node
        while at is not None and at.id not in placed and at.id not in seen:
            way.append(at)
            seen.add(at.id)
            at = by_id.get(at.parent) if at.parent is not None else None
        for one in reversed(way):
            if one.parent is not None and one.parent not in placed:
                one = replace(one, parent=before)
                moved += 1
            placed[one.id] = one
        before = node.id
    return tuple(placed.values()), moved


def _told_apart(nodes: Iterable[ChatNode]) -> tuple[list[ChatNode], int]:
    """Give the second of two nodes with the same id a new one."""
    found: dict[str, ChatNode] = {}
    again = 0
    for node in nodes:
        one = node
        while one.id in found:
            again += 1
            one = replace(one, id=f"{node.id}#{again}")
        found[one.id] = one
    return list(found.values()), again


def active_to(leaf: str | None, nodes: Sequence[ChatNode]) -> dict[str | None, str]:
    """The active messages that make `leaf` the last one; empty for an unknown leaf."""
    parents = {node.id: node.parent for node in nodes}
    chosen: dict[str | None, str] = {}
    while leaf is not None and leaf in parents:
        chosen[parents[leaf]] = leaf
        leaf = parents[leaf]
    return chosen


def chain(nodes: Iterable[ChatNode]) -> tuple[ChatNode, ...]:
    """Nodes of a file without branches: each answers the previous one."""
    result: list[ChatNode] = []
    for node in nodes:
        result.append(replace(node, parent=result[-1].id if result else None))
    return tuple(result)
