"""A short soak, to see that it works; 2,000 turns in `make faults`."""

from __future__ import annotations

import pytest

from tests.faults.soak import ROUND, run


@pytest.mark.parametrize(
    "rounds", [1, pytest.param(20, marks=pytest.mark.proof)], ids=["one", "all"]
)
async def test_turns_leave_nothing_behind(rounds: int) -> None:
    told: list[str] = []
    soaked = await run(rounds * ROUND, 3, told.append)
    assert soaked.turns == rounds * ROUND
    assert not soaked.failed
    assert soaked.stopped
    assert len(soaked.samples) == rounds
    assert all(sample.sequences == 0 for sample in soaked.samples)
    if rounds > 1:
        assert soaked.grew(lambda sample: sample.files) <= 0
        assert soaked.grew(lambda sample: sample.threads) <= 0
        assert soaked.growth <= 0.05, told
