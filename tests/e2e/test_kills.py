"""kill -9 at random moments of whatever writes; all of them in `make proof` and `make faults`."""

from __future__ import annotations

import pytest

from tests.faults.kills import KINDS, run


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "count", [2, pytest.param(35, marks=pytest.mark.proof)], ids=["some", "all"]
)
def test_what_was_committed_survives(kind: str, count: int) -> None:
    if kind in ("saving", "importing") and count == 2:
        # it loads a model three times, or imports twelve megabytes twice
        count = 1
    told: list[str] = []
    row = run(kind, count, seed=count, tell=told.append)
    assert (row.tried, row.survived, row.lost) == (count, count, 0), told
    # the child had come to do something before it was killed
    assert row.committed > 0
