"""What forwards cost and how often drafts are right, as it is learned."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headstart.engine.speculation.acceptance import length_bins, margin_bins
from headstart.engine.speculation.costs import Costs, bucket
from headstart.engine.speculation.plan import probability_margin
from tests.support.profiles import measured_in_a_slow_moment, timed, trained


def test_one_fast_forward_makes_what_was_measured_beside_it_doubtful() -> None:
    costs = measured_in_a_slow_moment()[0].costs
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


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.floats(0, 10), st.booleans()), max_size=60))
def test_chances_stay_chances(tests: list[tuple[float, bool]]) -> None:
    for bins in (margin_bins(), length_bins()):
        for value, right in tests:
            bins.observe(value, right)
        assert 0 < bins.mean < 1
        for index in range(len(bins.prior)):
            assert 0 < bins.chance_in(index) < 1


def test_acceptance_is_learned_from_tests() -> None:
    assert trained(0.9).mean > 0.8
    assert trained(0.1).mean < 0.2


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


def test_a_confidence_is_the_share_of_the_first_of_two() -> None:
    assert probability_margin(0.5) == 0
    assert probability_margin(0.0) == float("-inf")
    assert probability_margin(0.9) == pytest.approx(2.197, abs=0.001)


def test_a_fast_forward_after_slow_plain_ones_leaves_a_ratio_that_was_measured_often() -> None:
    costs = timed()[0].costs
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
