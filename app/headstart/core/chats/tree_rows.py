"""The tree of a chat as rows of a drawing: the shown branch is one straight line, and every other
branch stands beside it, indented. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct

from headstart.core.chats.tree import TreeNode


class TreeRow(Struct, frozen=True):
    """A message. `depth`: number of forks between it and the straight line; `begins`: it is the
    first message of a branch; `lines`: columns in which a line passes through the whole row;
    `above` and `below`: whether its own line goes on there. `versions`: number of messages with the
    same parent."""

    node: TreeNode
    depth: int
    begins: bool
    lines: tuple[int, ...]
    above: bool
    below: bool
    versions: int


def rows_of(nodes: Sequence[TreeNode]) -> list[TreeRow]:
    """Each message once; other branches come before the continuation of the one they fork from."""
    children: dict[str | None, list[TreeNode]] = defaultdict(list)
    for node in nodes:
        children[node.parent].append(node)
    placed = _placed(children)
    chains = _chains(placed)
    rows = []
    for number, (node, depth, begins, chain) in enumerate(placed):
        passing = tuple(
            other.depth
            for other in chains.values()
            if other is not chains[chain] and other.first < number < other.last
        )
        own = chains[chain]
        rows.append(
            TreeRow(
                node,
                depth,
                begins,
                passing,
                above=number > own.first,
                below=number < own.last,
                versions=len(children[node.parent]),
            )
        )
    return rows


def branches_of(nodes: Sequence[TreeNode]) -> int:
    """The number of branches of a chat: messages without a child."""
    parents = {node.parent for node in nodes}
    return sum(node.id not in parents for node in nodes)


# a message, its depth, whether it begins a branch, and the number of its branch
_Place = tuple[TreeNode, int, bool, int]


def _placed(children: dict[str | None, list[TreeNode]]) -> list[_Place]:
    placed: list[_Place] = []
    ways = 0
    # a chat can be deeper than Python's recursion limit
    left: list[tuple[TreeNode, int, bool, int]] = []

    def push(below: Sequence[TreeNode], depth: int, chain: int) -> None:
        nonlocal ways
        if not below:
            return
        on = next((node for node in below if node.shown), below[-1])
        # a stack: the branch goes on after all others were shown
        left.append((on, depth, False, chain))
        for node in reversed([node for node in below if node is not on]):
            ways += 1
            left.append((node, depth + 1, True, ways))

    push(children[None], 0, 0)
    while left:
        node, depth, begins, chain = left.pop()
        placed.append((node, depth, begins, chain))
        push(children[node.id], depth, chain)
    return placed


class _Chain(Struct):
    depth: int
    first: int
    last: int


def _chains(placed: Sequence[_Place]) -> dict[int, _Chain]:
    """The line of each branch: from its first message to its last, or to its last fork."""
    rows = {node.id: number for number, (node, *_) in enumerate(placed)}
    chains: dict[int, _Chain] = {}
    of_node: dict[str, int] = {}
    for number, (node, depth, begins, chain) in enumerate(placed):
        of_node[node.id] = chain
        known = chains.setdefault(chain, _Chain(depth, number, number))
        known.last = max(known.last, number)
        if begins and node.parent in rows:
            left = chains[of_node[node.parent]]
            left.last = max(left.last, number)
    return chains
