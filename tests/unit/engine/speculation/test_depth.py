"""How deep to draft: never slower whatever the draft does, and close to the best when it fits."""

from __future__ import annotations

import pytest

from headstart.core.chats.parts import Origin
from headstart.core.settings.schema import Speculation
from headstart.engine.speculation.depth.choice import Depth
from headstart.engine.speculation.depth.cost_table import CostTable
from headstart.engine.speculation.depth.time_budget import SHARE, START
from headstart.engine.speculation.plan import PLAIN, Path
from headstart.engine.speculation.profile import PairProfile, TargetProfile
from tests.support.fake_decoder import FakeDecoder
from tests.support.profiles import measured_in_a_slow_moment, profiled, timed, trained
from tests.unit.engine.speculation.simulation import COSTS, simulate


def test_good_drafts_come_back_after_costs_were_measured_in_a_slow_moment() -> None:
    state = measured_in_a_slow_moment()
    wanted = Speculation(draft="d", prompt_lookup=False)
    first, _ = simulate(COSTS["flat"], 0.3, 0.05, 400, wanted, state)
    # finding out costs no more than is always allowed
    assert first <= 400 / (1 - SHARE) + START + 0.01
    for _ in range(2):
        seconds, speculator = simulate(COSTS["flat"], 0.3, 0.05, 400, wanted, state)
    assert speculator.tally.stats.draft_accepted > 200
    assert seconds < 0.5 * 400


def test_bad_drafts_are_not_tried_again_for_the_sake_of_costs() -> None:
    target, pair = measured_in_a_slow_moment()
    pair.margins = PairProfile().margins
    for _ in range(60):
        pair.margins.observe(5.0, False)
    depth = Depth(target, pair, Speculation(draft="d"))
    depth.begin(pair, Speculation(draft="d"))
    assert depth.worth.known_to_lose(0)
    assert not depth.worth.doubted(0)


def test_a_look_that_a_reply_ended_with_is_not_judged_in_a_reply_without_a_draft() -> None:
    target, pair = measured_in_a_slow_moment()
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
def test_a_fitting_draft_comes_close_to_its_best_fixed_depth(kind: str) -> None:
    state = TargetProfile(), PairProfile()
    for _ in range(3):
        simulate(COSTS[kind], 0.3, 0.05, 400, Speculation(draft="d"), state)
    seconds, _ = simulate(COSTS[kind], 0.3, 0.05, 400, Speculation(draft="d"), state)
    fixed = [
        simulate(COSTS[kind], 0.3, 0.05, 400,
            Speculation(draft="d", depth_mode="fixed", depth=depth),
        )[0]
        for depth in (1, 2, 3, 5, 7, 10, 16)
    ]  # fmt: skip
    assert seconds <= 1.06 * min(*fixed, 400.0)


def test_sizes_that_say_most_are_timed_before_others() -> None:
    """Three rows that cost more than four must not speak against two and four."""
    costs = {1: 1.0, 2: 1.3, 3: 2.9, 4: 1.8}
    _, speculator = simulate(lambda n: costs.get(n, 1.8 + 0.3 * (n - 4)), 0.3, 0.1, 120,
        Speculation(draft="d"),
    )  # fmt: skip
    timed = list(speculator.depth.target.costs.measured(100))
    assert timed[:2] == [2, 4]
    assert all(size <= 8 for size in timed[: timed.index(8)])


def test_forwards_are_filled_up_where_more_rows_are_faster() -> None:
    target, pair = profiled(COSTS["fours"], 0.1)
    costs = CostTable(target, pair)
    assert [costs.filled(rows, 0) for rows in range(1, 10)] == [1, 4, 4, 4, 5, 6, 8, 8, 9]
    assert costs.usual(0)[7] == costs.usual(0)[8] == pytest.approx(COSTS["fours"](8))
    assert costs.worst(0)[3] == pytest.approx(COSTS["fours"](4))
    # one that would have to go back to a checkpoint for it is not
    assert CostTable(target, pair, undo=4).filled(3, 0) == 3
    # nor for a size that was timed once only
    target.costs.curves[0].counts[4] = 1
    assert costs.filled(3, 4096) == 3


def test_dear_sizes_on_the_way_do_not_keep_from_cheap_ones() -> None:
    """Measured with eight-bit weights: eight rows take less than five."""
    measured = [
        1.0,
        2.5,
        3.3,
        3.3,
        4.75,
        4.9,
        5.0,
        3.35,
        4.7,
        5.0,
        5.6,
        4.5,
        5.7,
        6.3,
        6.3,
        5.2,
        6.9,
    ]

    def cost(rows: int) -> float:
        return measured[rows - 1] if rows <= len(measured) else 0.4 * rows

    state, wanted = profiled(cost, 0.15), Speculation(draft="d", prompt_lookup=False)
    seconds, speculator = simulate(cost, 0.3, 0.05, 120, wanted, state)
    assert seconds < 0.8 * 120
    target = speculator.target
    assert isinstance(target, FakeDecoder)
    assert not {5, 6, 7} & set(target.forwards)


def _proven() -> tuple[TargetProfile, PairProfile]:
    """Profiles after three replies in which drafts saved time."""
    state = TargetProfile(), PairProfile()
    for _ in range(3):
        simulate(COSTS["steps"], 0.3, 0.05, 200, Speculation(draft="d"), state)
    assert state[1].gain > 0.1
    return state


def test_one_unlucky_round_does_not_end_drafting() -> None:
    state = _proven()
    depth = Depth(*state, Speculation(draft="d"))
    depth.begin(state[1], depth.settings)
    depth.budget.earn(1, 9.0, speculated=True, drafted=True)
    assert depth.plan(100, 50, None, 1).source is Origin.DRAFT
    # but a pair that loses again and again is stopped
    for _ in range(3):
        depth.budget.earn(1, 9.0, speculated=True, drafted=True)
    assert depth.plan(100, 50, None, 1).source is Origin.TARGET


def test_one_round_risks_a_share_of_what_is_left() -> None:
    state = _proven()
    state[0].time_budget, state[1].gain = 3.0, 0.0
    state[0].costs.curves.clear()
    for size in range(2, 18):
        for _ in range(6):
            state[0].costs.observe(size, 100, 1 + 0.3 * (size - 1))
    depth = Depth(*state, Speculation(draft="d"))
    depth.begin(state[1], depth.settings)
    path = Path()
    made = 0
    planned = depth.plan(100, 50, None, 1)
    assert planned.source is Origin.DRAFT
    while depth.go_on(path, 100, 16, 0.05 * made):
        path.add(0.99)
        made += 1
    # one round may lose as much of what is left as drafts are right, and not all
    assert 1 <= made <= planned.depth
    share = depth.worth.known_mean
    assert 0.5 < share < 1
    assert depth.costs.worst(100)[made + 1] - 1 <= share * depth.budget.risk()
    # half, where that is not known
    depth.begin(PairProfile(costs=state[1].costs, replies=1), depth.settings)
    planned = depth.plan(100, 50, None, 1)
    assert depth.costs.worst(100)[planned.depth + 1] - 1 <= max(2.5, 0.5 * depth.budget.risk())


def test_all_that_is_left_may_go_where_less_is_too_little() -> None:
    """What a part of the allowance pays for would lose: few rows are as dear as many."""
    target, pair = profiled(lambda n: 3.3 if n < 9 else 6.0, 0.1)
    depth = Depth(target, pair, Speculation(draft="d"))
    depth.begin(pair, depth.settings)
    plan = depth.plan(0, 100, None, 1)
    assert plan.source is Origin.DRAFT
    assert plan.depth == 7


def test_a_pair_that_promises_much_may_borrow_after_a_first_reply_without_luck() -> None:
    target, pair = profiled(COSTS["fours"], 0.2)
    wanted = Speculation(draft="d")
    pair.replies, pair.gain = 1, -0.2
    depth = Depth(target, pair, wanted)
    depth.begin(pair, wanted)
    # reading the prompt takes three forwards
    assert pair.costs.worst_seconds(40, 0) > depth.budget.allowance()
    assert depth.plan(40, 100, None, 40).probe
    # what it loses is a debt
    depth.budget.spend(4.0)
    for _ in range(40):
        depth.budget.earn_plain(1.0)
    depth.end()
    assert target.time_budget < -3
    depth.begin(pair, wanted)
    assert not depth.plan(40, 100, None, 40).probe
    # one that is right less often does not promise enough
    pair.margins, target.time_budget = trained(0.3), 0.0
    depth = Depth(target, pair, wanted)
    depth.begin(pair, wanted)
    assert not depth.plan(40, 100, None, 40).probe


def test_debts_of_a_pair_that_saves_are_forgiven() -> None:
    state = _proven()
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


def test_a_hostile_draft_is_left_unread_after_a_look() -> None:
    state = TargetProfile(), PairProfile()
    simulate(COSTS["steps"], 30.0, 0.1, 300, Speculation(draft="d"), state)
    assert state[1].pause > 0
    _, again = simulate(COSTS["steps"], 30.0, 0.1, 60, Speculation(draft="d"), state, prompt=600)
    assert again.drafting.draft is not None
    assert again.drafting.draft.held == []


def test_a_draft_token_that_is_not_sure_enough_is_not_verified() -> None:
    pair = PairProfile(margins=trained(0.9))
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


def test_short_replies_may_not_each_spend_what_only_a_first_one_may() -> None:
    target, pair = timed()
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
    target, pair = timed(pair_time=0.5)
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
    target, pair = timed()
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
    target, pair = timed()
    wanted = Speculation(draft="d")
    depth = Depth(target, pair, wanted)
    depth.begin(pair, wanted)
    depth.plan(0, length - 1, None, 600)
    assert most - 0.5 <= depth.budget.allowance() <= most
