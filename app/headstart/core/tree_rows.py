"""The tree of a chat as few rows as it needs: messages that follow each other without another
version are one. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from headstart.core.chat_tree import TreeNode


@dataclass(slots=True)
class Run:
    """Messages from one that others stand beside (or the first) to where the branch divides or
    ends; `below` are the ways on."""

    first: TreeNode
    last: TreeNode
    count: int = 1
    below: list[Run] = field(default_factory=list)

    @property
    def shown(self) -> bool:
        return self.first.shown


def runs_of(nodes: Sequence[TreeNode]) -> list[Run]:
    """What the chat begins with: usually one."""
    children: dict[str | None, list[TreeNode]] = defaultdict(list)
    for node in nodes:
        children[node.parent].append(node)
    roots = [Run(node, node) for node in children[None]]
    left = list(roots)
    while left:
        run = left.pop()
        while len(children[run.last.id]) == 1:
            run.last = children[run.last.id][0]
            run.count += 1
        run.below = [Run(node, node) for node in children[run.last.id]]
        left += run.below
    return roots
