"""kill -9 at random moments of writing, streaming, migrating and saving; all of them in `make
proof` and `make faults`."""

from __future__ import annotations

import pytest

from tests.faults.kills import SPAN, run


@pytest.mark.parametrize("kind", SPAN)
@pytest.mark.parametrize(
    "count", [3, pytest.param(35, marks=pytest.mark.proof)], ids=["some", "all"]
)
def test_what_was_committed_survives(kind: str, count: int) -> None:
    told: list[str] = []
    figures = run([kind], count, seed=count, tell=told.append)
    assert figures[f"kill_{kind}_survived"] == count, told
    assert figures[f"kill_{kind}_lost"] == 0, told
    # the child had come to do something before it was killed
    assert figures[f"kill_{kind}_committed"] > 0
