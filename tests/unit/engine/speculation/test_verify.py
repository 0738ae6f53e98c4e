"""Verification is lossless: the exact law of every reply, by enumeration; and mutants that fail."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest

from headstart.engine.speculation.verify import Tree, verify

VOCABULARY, LENGTH = 4, 3
Law = dict[tuple[int, ...], float]
Rows = npt.NDArray[np.float64]
Round = Callable[["Chooser", tuple[int, ...], "Model", "Model"], list[int]]


class Chooser:
    """Takes one way through a random procedure; `laws` walks all of them."""

    def __init__(self, way: list[int]) -> None:
        self.way = way
        self.probability = 1.0
        self.open: list[tuple[int, int]] = []  # place, number of choices
        self._at = 0

    def choose(self, probabilities: Sequence[float]) -> int:
        if self._at == len(self.way):
            self.way.append(0)
        if len(self.open) == self._at:
            self.open.append((self._at, len(probabilities)))
        choice = self.way[self._at]
        self._at += 1
        self.probability *= probabilities[choice]
        return choice


class Model:
    """A distribution for every prefix."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._known: dict[tuple[int, ...], list[float]] = {}

    def __call__(self, prefix: tuple[int, ...]) -> list[float]:
        if prefix not in self._known:
            generator = np.random.default_rng([self._seed, *prefix, 99])
            self._known[prefix] = generator.dirichlet([0.7] * VOCABULARY).tolist()
        return self._known[prefix]


def law(one_round: Round, target: Model, draft: Model) -> Law:
    """The exact law of the first LENGTH tokens that rounds of `one_round` emit."""
    result: Law = defaultdict(float)
    way: list[int] = []
    while True:
        chooser = Chooser(list(way))
        emitted: list[int] = []
        while len(emitted) < LENGTH:
            emitted += one_round(chooser, tuple(emitted), target, draft)
            if chooser.probability == 0:
                break
        result[tuple(emitted[:LENGTH])] += chooser.probability
        way = chooser.way[: len(chooser.open)]
        while way and way[-1] + 1 == chooser.open[len(way) - 1][1]:
            way.pop()
        if not way:
            return result
        way[-1] += 1


def distance(found: Law, target: Model) -> float:
    """Total variation from the law of plain decoding."""
    total = 0.0
    for tokens in itertools.product(range(VOCABULARY), repeat=LENGTH):
        wanted = 1.0
        for index, token in enumerate(tokens):
            wanted *= target(tokens[:index])[token]
        total += abs(wanted - found.get(tokens, 0.0))
    return total / 2


def _verified(chooser: Chooser, tree: Tree, prefix: tuple[int, ...], target: Model) -> list[int]:
    paths = {0: prefix}
    for node, (token, parent) in enumerate(zip(tree.tokens, tree.parents, strict=True)):
        paths[node + 1] = (*paths[parent + 1], token)
    verdict = verify(tree, lambda row: chooser.choose(target(paths[row])), lambda _token: False)
    return list(verdict.emitted)


def sampled_chain(
    chooser: Chooser, prefix: tuple[int, ...], target: Model, draft: Model
) -> list[int]:
    chain: list[int] = []
    for _ in range(2):
        chain.append(chooser.choose(draft((*prefix, *chain))))
    return _verified(chooser, Tree.chain(chain), prefix, target)


def greedy_chain(
    chooser: Chooser, prefix: tuple[int, ...], target: Model, draft: Model
) -> list[int]:
    chain: list[int] = []
    for _ in range(3):
        chain.append(int(np.argmax(draft((*prefix, *chain)))))
    return _verified(chooser, Tree.chain(chain), prefix, target)


def trimmed_chain(
    chooser: Chooser, prefix: tuple[int, ...], target: Model, draft: Model
) -> list[int]:
    """A drawn draft token is dropped when the draft itself thought it unlikely: allowed here."""
    q = draft(prefix)
    drafted = chooser.choose(q)
    chain = [drafted] if q[drafted] > 0.3 else []
    return _verified(chooser, Tree.chain(chain), prefix, target)


def small_tree(chooser: Chooser, prefix: tuple[int, ...], target: Model, draft: Model) -> list[int]:
    first, second = (int(token) for token in np.argsort(draft(prefix))[::-1][:2])
    below = int(np.argmax(draft((*prefix, first))))
    tree = Tree.chain([first, below])
    tree.add(second, -1)
    return _verified(chooser, tree, prefix, target)


def nothing_drafted(
    chooser: Chooser, prefix: tuple[int, ...], target: Model, draft: Model
) -> list[int]:
    return _verified(chooser, Tree(), prefix, target)


@pytest.mark.parametrize(
    "one_round", [sampled_chain, greedy_chain, trimmed_chain, small_tree, nothing_drafted]
)
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.proof)])
def test_every_rule_gives_exactly_the_law_of_plain_decoding(one_round: Round, seed: int) -> None:
    target, draft = Model(seed), Model(seed + 100)
    assert distance(law(one_round, target, draft), target) < 1e-12


def soft_q_for_a_greedy_draft(
    chooser: Chooser, prefix: tuple[int, ...], target: Model, draft: Model
) -> list[int]:
    """The classic mistake: the draft token was certain, but is weighed as if it had been drawn."""
    p, q = np.array(target(prefix)), np.array(draft(prefix))
    drafted = int(q.argmax())
    return _rejection(chooser, p, q, drafted)


def trimming_after_the_draw(
    chooser: Chooser, prefix: tuple[int, ...], target: Model, draft: Model
) -> list[int]:
    """Rejection sampling with a draft token dropped because of its own probability."""
    p, q = np.array(target(prefix)), np.array(draft(prefix))
    drafted = chooser.choose(list(q))
    if q[drafted] < 0.3:
        return [chooser.choose(list(p))]
    return _rejection(chooser, p, q, drafted)


def _rejection(chooser: Chooser, p: Rows, q: Rows, drafted: int) -> list[int]:
    accept = min(1.0, p[drafted] / q[drafted])
    if chooser.choose([accept, 1 - accept]) == 0:
        return [drafted]
    left = np.maximum(p - q, 0)
    total = left.sum()
    return [chooser.choose(list(left / total if total > 0 else p))]


@pytest.mark.parametrize("mutant", [soft_q_for_a_greedy_draft, trimming_after_the_draw])
def test_the_enumeration_finds_lossy_rules(mutant: Round) -> None:
    target, draft = Model(1), Model(101)
    assert distance(law(mutant, target, draft), target) > 0.01


def test_the_end_of_a_reply_ends_the_walk_and_is_accepted() -> None:
    draws = iter([7, 9])
    tree = Tree.chain([7, 9, 8])
    verdict = verify(tree, lambda _row: next(draws), lambda token: token == 9)
    assert verdict.emitted == (7, 9)
    assert verdict.path == (0, 1)


def test_a_branch_is_taken_where_the_first_token_was_wrong() -> None:
    tree = Tree.chain([1, 2])
    tree.add(5, 0)
    draws = {0: 1, 1: 5, 3: 6}
    verdict = verify(tree, draws.__getitem__, lambda _token: False)
    assert verdict.emitted == (1, 5, 6)
    assert verdict.path == (0, 2)
