"""Never slower than the bound, whatever draft, target and computer are like."""

from __future__ import annotations

import pytest

from headstart.core.settings.schema import Speculation
from headstart.engine.speculation.depth.time_budget import FIRST_SHARE, FIRST_TOKENS, SHARE, START
from headstart.engine.speculation.profile import PairProfile, TargetProfile
from tests.support.fake_decoder import FakeDecoder
from tests.unit.engine.speculation.simulation import COSTS, LOGITS, experts, simulate


@pytest.mark.parametrize("kind", COSTS)
@pytest.mark.parametrize("noise", [0.3, 3.0, 30.0])
@pytest.mark.parametrize("step", [0.02, 0.15, 0.6])
@pytest.mark.parametrize("tokens", [50, 300])
def test_a_cold_pair_is_never_slower_than_the_bound(
    kind: str, noise: float, step: float, tokens: int
) -> None:
    state = TargetProfile(), PairProfile()
    wanted = Speculation(draft="d")
    seconds, _ = simulate(COSTS[kind], noise, step, tokens, wanted, state)
    # the last risk may be taken when the allowance is just large enough: it is the bound itself
    bound = tokens / (1 - SHARE) + START + 0.01
    assert seconds <= bound + FIRST_SHARE * max(FIRST_TOKENS, seconds)
    saved = state[0].time_budget
    seconds, _ = simulate(COSTS[kind], noise, step, tokens, wanted, state)
    assert seconds <= bound + max(0.0, saved)


@pytest.mark.parametrize("noise", [0.3, 3.0, 30.0])
@pytest.mark.parametrize("step", [0.15, 0.6])
@pytest.mark.parametrize("tokens", [50, 300])
def test_the_bound_holds_for_a_dense_draft_of_a_target_with_experts(
    noise: float, step: float, tokens: int
) -> None:
    state = TargetProfile(), PairProfile()
    wanted = Speculation(draft="d")
    for _ in range(2):
        saved = state[0].time_budget
        seconds, _ = simulate(experts, noise, step, tokens, wanted, state)
        bound = tokens / (1 - SHARE) + START + 0.01 + max(0.0, saved)
        assert seconds <= bound + FIRST_SHARE * max(FIRST_TOKENS, seconds)


@pytest.mark.parametrize("kind", COSTS)
@pytest.mark.parametrize("noise", [0.3, 3.0, 30.0])
@pytest.mark.parametrize("step", [0.1, 0.6])
@pytest.mark.parametrize("tokens", [50, 300])
def test_the_bound_holds_for_a_head_that_drafts_blocks(
    kind: str, noise: float, step: float, tokens: int
) -> None:
    state = TargetProfile(), PairProfile()
    wanted = Speculation(draft="d")
    for _ in range(3):
        saved = state[0].time_budget
        seconds, _ = simulate(COSTS[kind], noise, step, tokens, wanted, state, block=8)
        bound = tokens / (1 - SHARE) + START + 0.01 + max(0.0, saved)
        assert seconds <= bound + FIRST_SHARE * max(FIRST_TOKENS, seconds)


@pytest.mark.parametrize("kind", ["steps", "flat"])
def test_a_block_head_that_is_right_pays(kind: str) -> None:
    state = TargetProfile(), PairProfile()
    wanted = Speculation(draft="d", prompt_lookup=False)
    seconds = [simulate(COSTS[kind], 0.1, 0.1, 300, wanted, state, block=8)[0] for _ in range(3)]
    assert seconds[-1] < 0.5 * 300


@pytest.mark.parametrize("undo", [0, 4])
@pytest.mark.parametrize("copying", [0.05, 0.5])
@pytest.mark.parametrize("noise", [0.3, 3.0, 30.0])
@pytest.mark.parametrize("kind", ["steep", "steps"])
def test_the_bound_holds_for_a_target_that_copies_its_state(
    kind: str, noise: float, copying: float, undo: int
) -> None:
    state, tokens = (TargetProfile(), PairProfile()), 300
    wanted = Speculation(draft="d")
    for _ in range(2):
        target = FakeDecoder(LOGITS, COSTS[kind], checkpoints=True, undo=undo)
        target.checkpoint_cost = copying
        saved = state[0].time_budget
        seconds, _ = simulate(COSTS[kind], noise, 0.05, tokens, wanted, state, target=target)
        bound = tokens / (1 - SHARE) + START + 0.01 + max(0.0, saved)
        assert seconds <= bound + FIRST_SHARE * max(FIRST_TOKENS, seconds)


def test_what_can_be_taken_back_is_drafted_where_copies_would_not_pay() -> None:
    seconds = []
    for undo in (0, 4):
        state = TargetProfile(), PairProfile()
        wanted = Speculation(draft="d", prompt_lookup=False)
        for _ in range(3):
            target = FakeDecoder(LOGITS, COSTS["steps"], checkpoints=True, undo=undo)
            target.checkpoint_cost = 3.0
            spent, _ = simulate(COSTS["steps"], 0.3, 0.02, 300, wanted, state, target=target)
        seconds.append(spent)
    assert seconds[1] < 0.7 * 300 < 0.8 * seconds[0]
