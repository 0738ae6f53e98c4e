"""How deep to draft: never slower whatever the draft does, and close to the best when it fits."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headstart.core.parts import Origin
from headstart.core.settings import Sampling, Speculation
from headstart.engine.speculation import draft_model, loop
from headstart.engine.speculation.acceptance import Bins, length_bins, margin_bins
from headstart.engine.speculation.costs import Costs, bucket
from headstart.engine.speculation.depth.choice import Depth
from headstart.engine.speculation.depth.cost_table import CostTable
from headstart.engine.speculation.depth.time_budget import FIRST_SHARE, FIRST_TOKENS, SHARE, START
from headstart.engine.speculation.draft_model import DraftModel
from headstart.engine.speculation.loop import Speculator
from headstart.engine.speculation.plan import PLAIN, Path, probability_margin
from headstart.engine.speculation.profile import PairProfile, TargetProfile
from headstart.engine.speculation.prompt_lookup import PromptLookup
from headstart.engine.speculation.sources import Sources
from headstart.engine.speculation.token_mapping import SameTokens
from headstart.engine.stop import NEVER
from tests.support.fake_decoder import Clock, FakeDecoder, table

VOCABULARY = 8
LOGITS = table(VOCABULARY, 7, 3)
# forwards of n tokens in forwards of one: a processor, one with steps, a graphics card
COSTS: dict[str, Callable[[int], float]] = {
    "steep": lambda n: 1 + 0.9 * (n - 1),
    "steps": lambda n: 1.4 + 0.1 * ((n + 3) // 4) if n > 1 else 1.0,
    "flat": lambda n: 1 + 0.01 * (n - 1),
}


def simulate(
    monkeypatch: pytest.MonkeyPatch,
    cost: Callable[[int], float],
    noise: float,
    step: float,
    tokens: int,
    wanted: Speculation,
    state: tuple[TargetProfile, PairProfile] | None = None,
    prompt: int = 30,
) -> tuple[float, Speculator]:
    """Seconds for `tokens` after the first one, with a draft whose logits are off by `noise`."""
    clock = Clock()
    monkeypatch.setattr(loop, "perf_counter", clock)
    monkeypatch.setattr(draft_model, "perf_counter", clock)
    target = FakeDecoder(LOGITS, cost, clock)
    draft = FakeDecoder(LOGITS + table(VOCABULARY, 8, noise), lambda n: step * cost(n), clock)
    target_profile, pair = state or (TargetProfile(), PairProfile())
    text = [index % VOCABULARY for index in range(prompt)]
    for start in range(0, prompt, 64):
        target.forward(text[start : start + 64], [])
    target.truncate(prompt - 1)
    target.forward(text[-1:], [0])
    clock.now = 0.0
    sampling = Sampling(temperature=1.0)
    sampler = target.sampler(sampling, 3)
    depth = Depth(target_profile, pair, wanted)
    depth.begin(pair, wanted)
    model = DraftModel(draft, SameTokens())
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


@pytest.mark.parametrize("kind", COSTS)
@pytest.mark.parametrize("noise", [0.3, 3.0, 30.0])
@pytest.mark.parametrize("step", [0.02, 0.15, 0.6])
@pytest.mark.parametrize("tokens", [50, 300])
def test_a_cold_pair_is_never_slower_than_the_bound(
    monkeypatch: pytest.MonkeyPatch, kind: str, noise: float, step: float, tokens: int
) -> None:
    state = TargetProfile(), PairProfile()
    wanted = Speculation(draft="d")
    seconds, _ = simulate(monkeypatch, COSTS[kind], noise, step, tokens, wanted, state)
    # the last risk may be taken when the allowance is just large enough: it is the bound itself
    bound = tokens / (1 - SHARE) + START + 0.01
    assert seconds <= bound + FIRST_SHARE * max(FIRST_TOKENS, seconds)
    saved = state[0].time_budget
    seconds, _ = simulate(monkeypatch, COSTS[kind], noise, step, tokens, wanted, state)
    assert seconds <= bound + max(0.0, saved)


def _measured_in_a_slow_moment() -> tuple[TargetProfile, PairProfile]:
    """Costs as “Calibrate” finds them while another program has the computer; drafts are good."""
    target, pair = TargetProfile(), PairProfile()
    for _ in range(3):
        target.costs.observe(1, 0, 1.0)
        for size in range(2, 18):
            target.costs.observe(size, 0, 1.0 + 1.5 * (size - 1))
        pair.costs.observe(1, 0, 0.5)
        pair.costs.observe(32, 0, 1.0)
    for _ in range(60):
        pair.margins.observe(5.0, True)
    pair.replies = 1
    return target, pair


def test_good_drafts_come_back_after_costs_were_measured_in_a_slow_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = _measured_in_a_slow_moment()
    wanted = Speculation(draft="d", prompt_lookup=False)
    first, _ = simulate(monkeypatch, COSTS["flat"], 0.3, 0.05, 400, wanted, state)
    # finding out costs no more than is always allowed
    assert first <= 400 / (1 - SHARE) + START + 0.01
    for _ in range(2):
        seconds, speculator = simulate(monkeypatch, COSTS["flat"], 0.3, 0.05, 400, wanted, state)
    assert speculator.tally.stats.draft_accepted > 200
    assert seconds < 0.5 * 400


def test_bad_drafts_are_not_tried_again_for_the_sake_of_costs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target, pair = _measured_in_a_slow_moment()
    pair.margins = PairProfile().margins
    for _ in range(60):
        pair.margins.observe(5.0, False)
    depth = Depth(target, pair, Speculation(draft="d"))
    depth.begin(pair, Speculation(draft="d"))
    assert depth.worth.known_to_lose(0)
    assert not depth.worth.doubted(0)


def test_one_fast_forward_makes_what_was_measured_beside_it_doubtful() -> None:
    costs = _measured_in_a_slow_moment()[0].costs
    assert costs.ratio(8, 0) > 10
    costs.observe(4, 0, 1.3)
    assert costs.measured(0) == {4: pytest.approx(1.3, rel=0.01)}
    # what was measured often holds
    for _ in range(9):
        costs.observe(4, 0, 1.3)
    costs.observe(8, 0, 1.5)
    costs.observe(8, 0, 1.5)
    costs.observe(8, 0, 0.5)
    assert 4 in costs.measured(0)


def test_a_look_that_a_reply_ended_with_is_not_judged_in_a_reply_without_a_draft() -> None:
    target, pair = _measured_in_a_slow_moment()
    wanted = Speculation(draft="d", prompt_lookup=False)
    depth = Depth(target, pair, wanted)
    depth.begin(pair, wanted)
    for _ in range(400):
        depth.budget.earn_plain(1.0)
        if depth.plan(0, 40, None, 1).source is Origin.DRAFT:
            break
    else:
        pytest.fail("the doubted cost was never looked at")
    depth.end()
    depth.begin(None, wanted)
    target.costs.observe(4, 0, 1.0)
    assert depth.plan(0, 40, None, None) == PLAIN


def test_what_few_tokens_gained_says_little() -> None:
    target, pair = TargetProfile(), PairProfile()
    target.costs.observe(1, 0, 1.0)
    depth = Depth(target, pair, Speculation(draft="d"))
    gains = []
    for tokens in (3, 40):
        pair.gain = 0.0
        depth.begin(pair, Speculation(draft="d"))
        for _ in range(20):
            depth.budget.earn_plain(1.0)
        # the draft read a text first, for four forwards a token
        depth.budget.spend(4.0 * tokens)
        depth.budget.earn(tokens, float(tokens), speculated=True, drafted=True)
        depth.end()
        gains.append(pair.gain)
    assert gains == [pytest.approx(-4 * 3 / 32), pytest.approx(-4.0)]


@pytest.mark.parametrize("kind", COSTS)
def test_a_fitting_draft_comes_close_to_its_best_fixed_depth(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    state = TargetProfile(), PairProfile()
    for _ in range(3):
        simulate(monkeypatch, COSTS[kind], 0.3, 0.05, 400, Speculation(draft="d"), state)
    seconds, _ = simulate(monkeypatch, COSTS[kind], 0.3, 0.05, 400, Speculation(draft="d"), state)
    fixed = [
        simulate(
            monkeypatch, COSTS[kind], 0.3, 0.05, 400,
            Speculation(draft="d", depth_mode="fixed", depth=depth),
        )[0]
        for depth in (1, 2, 3, 5, 7, 10, 16)
    ]  # fmt: skip
    assert seconds <= 1.06 * min(*fixed, 400.0)


def test_sizes_that_say_most_are_timed_before_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rows that cost more than four must not speak against two and four."""
    costs = {1: 1.0, 2: 1.3, 3: 2.9, 4: 1.8}
    _, speculator = simulate(
        monkeypatch, lambda n: costs.get(n, 1.8 + 0.3 * (n - 4)), 0.3, 0.1, 120,
        Speculation(draft="d"),
    )  # fmt: skip
    timed = list(speculator.depth.target.costs.measured(100))
    assert timed[:2] == [2, 4]
    assert all(size <= 8 for size in timed[: timed.index(8)])


def _proven(monkeypatch: pytest.MonkeyPatch) -> tuple[TargetProfile, PairProfile]:
    """Profiles after three replies in which drafts saved time."""
    state = TargetProfile(), PairProfile()
    for _ in range(3):
        simulate(monkeypatch, COSTS["steps"], 0.3, 0.05, 200, Speculation(draft="d"), state)
    assert state[1].gain > 0.1
    return state


def test_one_unlucky_round_does_not_end_drafting(monkeypatch: pytest.MonkeyPatch) -> None:
    state = _proven(monkeypatch)
    depth = Depth(*state, Speculation(draft="d"))
    depth.begin(state[1], depth.settings)
    depth.budget.earn(1, 9.0, speculated=True, drafted=True)
    assert depth.plan(100, 50, None, 1).source is Origin.DRAFT
    # but a pair that loses again and again is stopped
    for _ in range(3):
        depth.budget.earn(1, 9.0, speculated=True, drafted=True)
    assert depth.plan(100, 50, None, 1).source is Origin.TARGET


def test_one_round_risks_a_share_of_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    state = _proven(monkeypatch)
    state[0].time_budget, state[1].gain = 3.0, 0.0
    state[0].costs.curves.clear()
    for size in range(2, 18):
        for _ in range(6):
            state[0].costs.observe(size, 100, COSTS["steep"](size))
    depth = Depth(*state, Speculation(draft="d"))
    depth.begin(state[1], depth.settings)
    path = Path()
    made = 0
    while depth.go_on(path, 100, 16, 0.05 * made):
        path.add(0.99)
        made += 1
    # 4.2 forwards are left: one round may lose 2.5 of them, and not all
    assert made >= 1
    assert depth.costs.worst(100)[made + 1] - 1 <= 2.5


def test_debts_of_a_pair_that_saves_are_forgiven(monkeypatch: pytest.MonkeyPatch) -> None:
    state = _proven(monkeypatch)
    depth = Depth(*state, Speculation(draft="d"))
    depth.begin(state[1], depth.settings)
    for _ in range(20):
        depth.budget.earn(1, 1.5, speculated=True, drafted=False)
    depth.end()
    assert state[0].time_budget == 0.0
    state[1].gain = -1.0
    depth.begin(state[1], depth.settings)
    for _ in range(20):
        depth.budget.earn(1, 1.5, speculated=True, drafted=False)
    depth.end()
    assert state[0].time_budget < -5


def test_a_hostile_draft_is_left_unread_after_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    state = TargetProfile(), PairProfile()
    simulate(monkeypatch, COSTS["steps"], 30.0, 0.1, 300, Speculation(draft="d"), state)
    assert state[1].pause > 0
    _, again = simulate(
        monkeypatch, COSTS["steps"], 30.0, 0.1, 60, Speculation(draft="d"), state, prompt=600
    )
    assert again.draft is not None
    assert again.draft.held == []


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.floats(0, 10), st.booleans()), max_size=60))
def test_chances_stay_chances(tests: list[tuple[float, bool]]) -> None:
    for bins in (margin_bins(), length_bins()):
        for value, right in tests:
            bins.observe(value, right)
        assert 0 < bins.mean < 1
        for index in range(len(bins.prior)):
            assert 0 < bins.chance_in(index) < 1


def _trained(right: float) -> Bins:
    bins = margin_bins()
    for number in range(200):
        bins.observe(number % 10, number % 100 < 100 * right)
    bins.begin()
    return bins


def test_acceptance_is_learned_from_tests() -> None:
    assert _trained(0.9).mean > 0.8
    assert _trained(0.1).mean < 0.2


def test_costs_keep_ratios_while_the_machine_slows_down() -> None:
    costs = Costs()
    for _ in range(6):
        costs.observe(1, 10, 0.05)
        costs.observe(8, 10, 0.1)
    for _ in range(12):
        costs.observe(1, 10, 0.1)
    assert costs.ratio(8, 10) == pytest.approx(2.0, rel=0.02)
    assert costs.seconds(8, 10) == pytest.approx(0.2, rel=0.1)


def test_one_slow_moment_does_not_make_a_depth_slow() -> None:
    costs = Costs()
    for _ in range(8):
        costs.observe(1, 10, 0.05)
        costs.observe(4, 10, 0.08)
    costs.observe(4, 10, 0.8)
    assert costs.ratio(4, 10) < 2.0


def test_few_samples_are_no_worse_than_the_line_between_known_sizes() -> None:
    costs = Costs()
    for _ in range(6):
        costs.observe(1, 100, 1.0)
        costs.observe(4, 100, 2.0)
        costs.observe(8, 100, 4.0)
    costs.observe(6, 100, 3.9)
    assert costs.ratio(6, 100) == pytest.approx(3.0, rel=0.05)
    for _ in range(6):
        costs.observe(6, 100, 3.9)
    assert costs.ratio(6, 100) == pytest.approx(3.9, rel=0.02)


def test_unknown_sizes_lie_between_their_neighbours_and_contexts_have_their_own() -> None:
    costs = Costs()
    costs.observe(1, 10, 1.0)
    costs.observe(5, 10, 2.0)
    costs.observe(9, 10, 4.0)
    assert 2.0 < costs.ratio(7, 10) < 4.0
    costs.observe(5, 5000, 5.0)
    assert costs.ratio(5, 10) == pytest.approx(2.0)
    assert costs.ratio(5, 5000) == pytest.approx(5.0)
    assert [bucket(length) for length in (0, 255, 256, 511, 512, 4096)] == [0, 0, 1, 1, 2, 5]


def test_a_draft_token_that_is_not_sure_enough_is_not_verified() -> None:
    pair = PairProfile(margins=_trained(0.9))
    target = TargetProfile()
    for _ in range(4):
        target.costs.observe(1, 0, 1.0)
        for n in range(2, 20):
            target.costs.observe(n, 0, 1 + 0.3 * (n - 1))
    depth = Depth(target, pair, Speculation(draft="d"))
    depth.begin(pair, Speculation(draft="d"))
    path = Path()
    for chance in (0.95, 0.9, 0.02):
        path.add(chance)
    assert depth.cut(path, 0) == 2


def test_a_confidence_is_the_share_of_the_first_of_two() -> None:
    assert probability_margin(0.5) == 0
    assert probability_margin(0.0) == float("-inf")
    assert probability_margin(0.9) == pytest.approx(2.197, abs=0.001)


def _timed(pair_time: float = 0.1) -> tuple[TargetProfile, PairProfile]:
    """Forwards of 4 rows cost 1.6, measured often, and so does the draft's step."""
    target, pair = TargetProfile(), PairProfile()
    for _ in range(20):
        target.costs.observe(1, 0, 1.0)
        target.costs.observe(4, 0, 1.6)
        pair.costs.observe(1, 0, pair_time)
    return target, pair


def test_a_fast_forward_after_slow_plain_ones_leaves_a_ratio_that_was_measured_often() -> None:
    costs = _timed()[0].costs
    for _ in range(6):
        costs.observe(1, 0, 2.6)
    costs.observe(4, 0, 1.6)
    # which of the two is wrong shows the next plain forward
    assert costs.surprised
    costs.observe(1, 0, 1.0)
    assert costs.decode_time == pytest.approx(1.0)
    assert costs.ratio(4, 0) == pytest.approx(1.6, rel=0.02)


def test_a_ratio_that_was_measured_often_in_a_slow_time_is_given_up_after_a_plain_forward() -> None:
    costs = Costs()
    for _ in range(20):
        costs.observe(1, 0, 1.0)
        costs.observe(4, 0, 4.0)
    costs.observe(4, 0, 1.6)
    assert costs.ratio(4, 0) == pytest.approx(4.0)
    costs.observe(1, 0, 1.0)
    costs.observe(4, 0, 1.6)
    assert costs.ratio(4, 0) == pytest.approx(1.6)
    assert costs.decode_time == pytest.approx(1.0, rel=0.05)


def test_more_rows_never_look_cheaper_than_one() -> None:
    costs = Costs()
    for _ in range(3):
        costs.observe(1, 0, 2.0)
        costs.observe(4, 0, 1.0)
    assert costs.ratio(4, 0) >= 1.0


def test_short_replies_may_not_each_spend_what_only_a_first_one_may() -> None:
    target, pair = _timed()
    wanted = Speculation(draft="d")
    depth, allowed = Depth(target, pair, wanted), []
    for _ in range(4):
        depth.begin(pair, wanted)
        allowed.append(depth.budget.allowance())
        for _ in range(12):
            depth.budget.earn_plain(1.0)
        depth.budget.spend(max(0.0, depth.budget.allowance() - 1.0))
        depth.end()
    assert allowed[0] > 4
    assert max(allowed[1:]) < START + 0.5


def test_another_pace_of_the_draft_does_not_make_it_free() -> None:
    target, pair = _timed(pair_time=0.5)
    wanted = Speculation(draft="d")
    target.use(2)
    pair.use(2)
    target.costs.observe(1, 0, 1.0)
    depth = Depth(target, pair, wanted)
    depth.begin(pair, wanted)
    depth.follow(2, 1)
    assert pair.costs.decode_time == pytest.approx(0.5)
    # a text of thousands of tokens that it has not seen cannot be had for nothing
    plan = depth.plan(5000, 40, None, 4000, unseen=4000)
    assert not plan.from_start


def test_a_draft_is_scored_before_anything_was_timed() -> None:
    target, pair = TargetProfile(), PairProfile()
    depth = Depth(target, pair, Speculation(draft="d"))
    depth.begin(pair, Speculation(draft="d"))
    depth.worth.learn([(2.0, True), (0.1, False)], 0)
    assert pair.margins.all_verified > 1
    assert depth.worth.needed(0) == 1.0
    assert not depth.worth.known_to_lose(0)


def test_verdicts_are_not_worked_out_again_for_every_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target, pair = _timed()
    for _ in range(60):
        pair.margins.observe(0.1, False)
    depth = Depth(target, pair, Speculation(draft="d"))
    depth.begin(pair, Speculation(draft="d"))
    before = depth.worth.known_to_lose(0)
    asked = 0
    usual = CostTable.usual

    def counted(self: CostTable, context: int) -> list[float]:
        nonlocal asked
        asked += 1
        return usual(self, context)

    monkeypatch.setattr(CostTable, "usual", counted)
    for _ in range(50):
        depth.budget.earn_plain(1.0)
        assert depth.worth.known_to_lose(0) is before
    # only what `worst` asks for
    assert asked <= 3 * 50


@pytest.mark.parametrize(("length", "most"), [(30, START), (50, START + 0.5), (120, START + 4.1)])
def test_a_first_reply_that_can_only_be_short_has_little_to_find_out_with(
    length: int, most: float
) -> None:
    target, pair = _timed()
    wanted = Speculation(draft="d")
    depth = Depth(target, pair, wanted)
    depth.begin(pair, wanted)
    depth.plan(0, length - 1, None, 600)
    assert most - 0.5 <= depth.budget.allowance() <= most
