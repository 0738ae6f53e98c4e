"""The disk, the files beside the database, memory and the clock fail; more of it in `make proof`
and `make faults`."""

from __future__ import annotations

import pytest

from tests.faults.surroundings import (
    DISK,
    FAULTS,
    Sample,
    make_sample,
    mounts_allowed,
    run,
)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return make_sample(tmp_path_factory.mktemp("sample") / "home")


_SAMPLED = ("disk_full",)


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        *(pytest.param(kind, 1, id=f"one-{kind}") for kind in _SAMPLED),
        *(pytest.param(kind, 12, id=f"all-{kind}", marks=pytest.mark.proof) for kind in FAULTS),
    ],
)
def test_the_program_goes_on_and_nothing_is_lost(sample: Sample, kind: str, count: int) -> None:
    if kind in DISK and not mounts_allowed():
        pytest.skip("a small disk can only be made as root")
    told: list[str] = []
    row = run(sample, kind, count, seed=count, tell=told.append)
    assert (row.tried, row.survived, row.lost) == (count, count, 0), told
