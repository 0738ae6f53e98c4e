"""Lossless verification: the target draws every token, a draft only saves it forwards. Pure.

The rule is "match": draw from the target at each row, continue while the draw was drafted. The
emitted tokens are the target's own draws whatever was drafted, and the noise of the draws is fixed
by seed and position (`engine.noise`), so draft tokens may be made, dropped and trimmed for any
reason. With the same noise on both sides a draft token is right about as often as the best possible
rule allows (Daliri, Musco, Suresh 2024: at least (1-d)/(1+d) for a total variation d); rejection
sampling and block verification would win a little more at the price of traps: they are lossy as
soon as a drawn token is dropped because of its own probability.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct, field


class Tree(Struct):
    """Draft tokens after the pending one; `parents` as in `Decoder.forward`, -1 for pending.

    A chain is a tree of one path. Children of a node have different tokens.
    """

    tokens: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)

    @classmethod
    def chain(cls, tokens: Sequence[int]) -> Tree:
        return cls(list(tokens), list(range(-1, len(tokens) - 1)))

    @property
    def is_chain(self) -> bool:
        return self.parents == list(range(-1, len(self.tokens) - 1))

    def add(self, token: int, parent: int) -> None:
        """Add a draft token after `parent`, unless the same one exists."""
        if self.child(parent, token) is None:
            self.tokens.append(token)
            self.parents.append(parent)

    def below(self, count: int, chain: int, filling: int) -> list[int] | None:
        """The parents, as in `Decoder.forward`, of a chain of `count` tokens, of the tree, which
        continues its last one, and of `filling` padding tokens, which continue the tree's first
        `chain` tokens; None if all of it is one chain."""
        if self.is_chain:
            return None
        end = count + len(self.tokens)
        filled = [count + chain - 1, *range(end, end + filling - 1)][:filling]
        return [*range(-1, count - 1), *(parent + count for parent in self.parents), *filled]

    def child(self, node: int, token: int) -> int | None:
        for index, (drafted, parent) in enumerate(zip(self.tokens, self.parents, strict=True)):
            if parent == node and drafted == token:
                return index
        return None


class RoundVerdict(Struct, frozen=True):
    """The outcome of a round. `emitted`: the target's draws; all but the last were drafted, at the
    nodes `path`.

    A last draw that ends the reply may have been drafted too: then `path` is as long.
    """

    emitted: tuple[int, ...]
    path: tuple[int, ...]


def verify(tree: Tree, draw: Callable[[int], int], is_end: Callable[[int], bool]) -> RoundVerdict:
    """Follow the target's draws down the tree.

    `draw(row)` draws from the distribution after the pending token (row 0) or after tree node
    `row - 1`; it is called once for each position, in order.
    """
    emitted: list[int] = []
    path: list[int] = []
    node = -1
    while True:
        token = draw(node + 1)
        emitted.append(token)
        child = tree.child(node, token)
        if child is None:
            break
        path.append(child)
        node = child
        if is_end(token):
            break
    return RoundVerdict(tuple(emitted), tuple(path))
