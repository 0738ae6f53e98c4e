"""Replies with a target and a draft of tables, on a clock of their own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from headstart.core.settings.schema import Sampling, Speculation
from headstart.engine.speculation.block_draft import BlockDraft
from headstart.engine.speculation.depth.choice import Depth
from headstart.engine.speculation.draft_model import DraftModel
from headstart.engine.speculation.hidden_rows import HeadState
from headstart.engine.speculation.loop import Speculator
from headstart.engine.speculation.profile import PairProfile, TargetProfile
from headstart.engine.speculation.prompt_lookup import PromptLookup
from headstart.engine.speculation.sources import Sources
from headstart.engine.speculation.token_mapping import SameTokens
from headstart.engine.stop import NEVER
from tests.support.fake_block import FakeBlock
from tests.support.fake_decoder import Clock, FakeDecoder, table

VOCABULARY = 8
LOGITS = table(VOCABULARY, 7, 3)
# forwards of n tokens in forwards of one: a processor, one with steps, a graphics card, and kernels
# that compute four rows at once, and what is left over one by one
COSTS: dict[str, Callable[[int], float]] = {
    "steep": lambda n: 1 + 0.9 * (n - 1),
    "steps": lambda n: 1.4 + 0.1 * ((n + 3) // 4) if n > 1 else 1.0,
    "flat": lambda n: 1 + 0.01 * (n - 1),
    "fours": lambda n: 0.4 + 1.24 * (n // 4) + 0.66 * (n % 4) if n > 1 else 1.0,
}


def experts(n: int) -> float:
    """A target of which each token touches 8 of 128 experts: rows share few weights."""
    return 0.3 + 0.7 * (1 - (15 / 16) ** n) * 16


def simulate(
    cost: Callable[[int], float],
    noise: float,
    step: float,
    tokens: int,
    wanted: Speculation,
    state: tuple[TargetProfile, PairProfile] | None = None,
    prompt: int = 30,
    target: FakeDecoder | None = None,
    block: int = 0,
) -> tuple[float, Speculator]:
    """Seconds for `tokens` after the first one, with a draft whose logits are off by `noise`;
    `block`: a head that drafts up to so many at once."""
    clock = Clock()
    if target is not None:
        target.clock = clock
    target = target or FakeDecoder(LOGITS, cost, clock)
    wrong = LOGITS + table(VOCABULARY, 8, noise)
    target_profile, pair = state or (TargetProfile(), PairProfile())
    pair.at_once = block
    model = (
        BlockDraft(
            FakeBlock(wrong, lambda n: step * cost(n), clock, most=block), target, "t", _nothing
        )
        if block
        else DraftModel(FakeDecoder(wrong, lambda n: step * cost(n), clock), SameTokens())
    )
    target.states.keep(model.decoder.facts.wants)
    text = [index % VOCABULARY for index in range(prompt)]
    for start in range(0, prompt - 1, 64):
        part = text[start : min(start + 64, prompt - 1)]
        target.forward(part, [])
        if model.rows is not None:
            model.rows.saw(target, start, range(len(part)))
    target.forward(text[-1:], [0])
    if model.rows is not None:
        model.rows.saw(target, prompt - 1, (0,))
    assert target.tokens == text
    clock.now = 0.0
    sampling = Sampling(temperature=1.0)
    sampler = target.sampler(sampling, 3)
    facts = target.facts
    undo = None if facts.rollback == "exact" else facts.undo
    depth = Depth(target_profile, pair, wanted, undo)
    depth.begin(pair, wanted)
    if not pair.costs.known:
        # as after loading
        model.time_steps(pair.costs, 2, 8)
        clock.now = 0.0
    model.begin(text, sampling, 3, NEVER)
    prompt_lookup = PromptLookup()
    prompt_lookup.sync(text)
    speculator = Speculator(
        target, text, sampler, depth, Sources(wanted, prompt_lookup, model, pytest.fail)
    )
    pending, written = sampler.draw(0, len(text)), 0
    while written < tokens:
        emitted = speculator.step(pending, tokens - written - 1)
        written += len(emitted)
        pending = emitted[-1][0]
    depth.end()
    return clock.now, speculator


def _nothing(_state: HeadState) -> None:
    """Nothing is kept of it."""
