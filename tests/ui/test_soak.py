"""A short soak, to see that it works; 2,000 turns in `make faults`."""

from __future__ import annotations

import pytest

from tests.faults.soak import ROUND, run


@pytest.mark.parametrize(
    "turns", [9, pytest.param(20 * ROUND, marks=pytest.mark.proof)], ids=["some", "all"]
)
async def test_turns_leave_nothing_behind(turns: int) -> None:
    told: list[str] = []
    soaked = await run(turns, 3, told.append)
    assert soaked.turns == turns
    assert not soaked.failed
    assert soaked.stopped
    assert len(soaked.samples) == max(1, turns // ROUND)
    assert all(sample.sequences == 0 for sample in soaked.samples)
    if turns > ROUND:
        assert soaked.grew(lambda sample: sample.files) <= 0
        assert soaked.grew(lambda sample: sample.threads) <= 0
        assert soaked.growth <= 0.05, told
