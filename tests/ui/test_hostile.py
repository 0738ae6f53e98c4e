"""What strangers send is shown or refused, in time, and does nothing else; 300 in `make proof`."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from tests.faults.hostile import KINDS, run


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "count", [8, pytest.param(40, marks=pytest.mark.proof)], ids=["some", "all"]
)
@pytest.mark.logs("a file could not be read", "a request failed", "an image could not")
def test_it_does_nothing_that_it_should_not(qapp: QApplication, kind: str, count: int) -> None:
    told: list[str] = []
    row = run(kind, count, seed=count, tell=told.append)
    assert (row.tried, row.survived) == (count, count), told
