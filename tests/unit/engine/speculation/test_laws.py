"""The laws of what is drawn: the noise, llama.cpp's chain, and the whole loop, by chi-square."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from headstart.core.settings.schema import Sampling, Speculation
from headstart.engine.backends.llama_cpp.sampler import Candidates, LlamaCppSampler
from headstart.engine.backends.predictions import Draws
from headstart.engine.noise import gumbel
from headstart.engine.speculation.depth.choice import Depth
from headstart.engine.speculation.draft_model import DraftModel
from headstart.engine.speculation.loop import Speculator
from headstart.engine.speculation.profile import PairProfile, TargetProfile
from headstart.engine.speculation.prompt_lookup import PromptLookup
from headstart.engine.speculation.sources import Sources
from headstart.engine.speculation.token_mapping import SameTokens
from headstart.engine.stop import NEVER
from tests.support.fake_decoder import FakeDecoder, table
from tests.unit.engine.speculation.laws import p_value, survival

DRAWS = 200_000


def test_the_chi_square_survival_function_is_right() -> None:
    # 5 % and 0.1 % points from tables
    assert survival(11.07, 5) == pytest.approx(0.05, abs=0.002)
    assert survival(37.70, 15) == pytest.approx(0.001, abs=0.0003)


def test_the_noise_draws_by_the_distribution_and_places_are_independent() -> None:
    logits = np.array([0.0, 1.0, 2.0, -1.0])
    shares = np.exp(logits) / np.exp(logits).sum()
    ids = np.arange(4)
    tokens = [int((logits + gumbel(7, place, ids)).argmax()) for place in range(60_000)]
    counts = np.bincount(tokens, minlength=4)
    assert p_value(list(counts), list(shares * len(tokens))) > 0.001
    pairs = np.bincount([4 * a + b for a, b in itertools.pairwise(tokens)], minlength=16)
    expected = np.outer(shares, shares).ravel() * (len(tokens) - 1)
    assert p_value(list(pairs), list(expected)) > 0.001


def test_seeds_and_places_do_not_share_their_noise() -> None:
    ids = np.arange(1000)
    for other in (gumbel(2, 5, ids), gumbel(1, 6, ids)):
        assert abs(np.corrcoef(gumbel(1, 5, ids), other)[0, 1]) < 0.1


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(temperature=0.8, top_k=6, top_p=0.9, min_p=0.05),
        Sampling(temperature=1.2, top_k=0, top_p=1, min_p=0, repeat_penalty=1.3),
        Sampling(temperature=0.7, top_k=0, top_p=0.95, min_p=0, presence_penalty=0.6),
    ],
)
def test_draws_through_llama_cpps_chain_follow_its_distribution(sampling: Sampling) -> None:
    logits = np.random.default_rng(3).normal(0, 1.5, 12).astype(np.float32)
    seen = [1, 4, 4, 7]
    sampler = LlamaCppSampler(lambda _row: logits, Candidates(12), sampling, Draws(5))
    sampler.accept(seen)
    counts = np.zeros(12)
    for place in range(20_000):
        counts[sampler.draw(0, place)] += 1
    sampler.close()
    expected = _chain_by_hand(logits, sampling, seen) * counts.sum()
    assert not counts[expected == 0].any()
    assert p_value(list(counts[expected > 0]), list(expected[expected > 0])) > 0.001


def _chain_by_hand(
    logits: np.ndarray[tuple[int], np.dtype[np.float32]], sampling: Sampling, seen: list[int]
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    values = logits.astype(np.float64)
    for token in set(seen):
        value = values[token]
        values[token] = (
            value / sampling.repeat_penalty if value > 0 else (value * sampling.repeat_penalty)
        )
        values[token] -= sampling.presence_penalty
    order = np.argsort(values)[::-1]
    if sampling.top_k:
        order = order[: sampling.top_k]
    shares = np.exp(values[order] - values[order].max())
    shares /= shares.sum()
    kept = int(np.searchsorted(np.cumsum(shares), sampling.top_p)) + 1
    order = order[:kept]
    best = values[order[0]]
    order = order[values[order] >= best + (math.log(sampling.min_p) if sampling.min_p else -1e9)]
    result = np.zeros(len(logits))
    weights = np.exp((values[order] - best) / sampling.temperature)
    result[order] = weights / weights.sum()
    return result


@pytest.mark.parametrize("draws", [20_000, pytest.param(DRAWS, marks=pytest.mark.proof)])
def test_the_whole_loop_draws_by_the_targets_law(draws: int) -> None:
    vocabulary = 5
    logits = table(vocabulary, 1)
    target, draft = FakeDecoder(logits), FakeDecoder(logits + table(vocabulary, 2, 0.7))
    sampling = Sampling(temperature=0.9)
    wanted = Speculation(depth_mode="fixed", depth=3, tree_branches="always")
    tokens = [0, 1]
    target.forward(tokens, [1])
    sampler = target.sampler(sampling, 11)
    pair = PairProfile()
    depth = Depth(TargetProfile(), pair, wanted)
    model = DraftModel(draft, SameTokens())
    prompt_lookup = PromptLookup()
    prompt_lookup.sync(tokens)
    model.begin(tokens, sampling, 11, NEVER)
    loop = Speculator(
        target, tokens, sampler, depth, Sources(wanted, prompt_lookup, model, lambda _reason: None)
    )
    written = [0, 1, sampler.draw(0, 2)]
    while len(written) < draws:
        written += [token for token, _ in loop.step(written[-1], 8)]
    assert loop.tally.stats.accepted > draws / 10
    counts = np.zeros((vocabulary, vocabulary, vocabulary))
    np.add.at(counts, (written[:-2], written[1:-1], written[2:]), 1)
    shares = np.exp(logits / sampling.temperature)
    shares /= shares.sum(axis=2, keepdims=True)
    expected = shares * counts.sum(axis=2, keepdims=True)
    # each row is a distribution of its own: one degree of freedom less for each
    cells = expected.ravel() >= 5
    statistic = float((((counts - expected) ** 2).ravel()[cells] / expected.ravel()[cells]).sum())
    assert survival(statistic, int(cells.sum()) - vocabulary**2) > 0.001
