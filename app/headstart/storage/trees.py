"""The tree of a chat's messages: its active branch, and the repair of a damaged tree.

Pure; rows are anything with id, parent_id, position and active_child_id. In a sound tree a message
comes after its parent, which is in the same chat, and the active child of a message is one of its
children; violations are repaired so that every message can be reached.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Protocol

from msgspec import Struct, field


class StoredNode(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def parent_id(self) -> str | None: ...
    @property
    def position(self) -> int: ...
    @property
    def active_child_id(self) -> str | None: ...


class SoundTree(Struct):
    """Correct parents and active children, and the changes that were needed."""

    parents: dict[str, str | None] = field(default_factory=dict)
    children: dict[str | None, list[str]] = field(default_factory=lambda: defaultdict(list))
    # by parent, None for the chat itself
    active: dict[str | None, str] = field(default_factory=dict)
    moved: dict[str, str | None] = field(default_factory=dict)
    switched: dict[str | None, str] = field(default_factory=dict)

    @property
    def sound(self) -> bool:
        return not self.moved

    @property
    def leaves(self) -> int:
        """Number of branches."""
        return sum(1 for one in self.parents if not self.children.get(one))

    def add(self, one: str, parent: str | None) -> None:
        """Append a new message, after all others."""
        self.parents[one] = parent
        self.children[parent].append(one)

    def branch(self) -> list[str]:
        """The active messages from the root on; every step goes to a later one, so it ends."""
        path, at = [], self.active.get(None)
        while at is not None:
            path.append(at)
            at = self.active.get(at)
        return path


def sound_tree(nodes: Iterable[StoredNode], root: str | None) -> SoundTree:
    """`root` is the chat's active root. A message with an impossible parent is attached to the
    message before it in the chat's order: no branch is invented, and nothing is hidden."""
    ordered = list(nodes)
    places = [node.position for node in ordered]
    if not all(isinstance(place, int) for place in places) or places != sorted(set(places)):
        ordered.sort(key=lambda node: (_order(node), node.id))
    tree = SoundTree()
    parents, children, active = tree.parents, tree.children, tree.active
    wanted: dict[str | None, str | None] = {None: root}
    before: str | None = None
    for node in ordered:
        one, parent = node.id, node.parent_id
        if parent is not None and parent not in parents:
            parent = tree.moved[one] = before
        parents[one] = parent
        children[parent].append(one)
        wanted[one] = node.active_child_id
        before = one
    for above, below in children.items():
        choice = wanted.get(above)
        if choice not in below:
            choice = tree.switched[above] = below[-1]
        assert choice is not None
        active[above] = choice
    return tree


def _order(node: StoredNode) -> int:
    """Positions that are no longer numbers come first."""
    return node.position if isinstance(node.position, int) else 0
