"""This computer's memory, and how many models fit in it at once."""

from __future__ import annotations

import sys
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.core.models.fit import Memory, Need
from headstart.engine.loading.plan import MOST_SHARE, crowded_out
from headstart.engine.memory import memory

GB = 1 << 30


def _need(size: int) -> Need:
    return Need(size * GB, size * GB // 10, GB // 4)


def test_models_stay_while_there_is_memory_for_all() -> None:
    assert crowded_out([_need(4), _need(5)], _need(5), Memory(32 * GB, 20 * GB)) == 0


def test_the_model_that_was_used_longest_ago_goes_first() -> None:
    loaded, there = [_need(4), _need(5), _need(1)], Memory(32 * GB, 20 * GB)
    assert crowded_out(loaded, _need(9), there) == 0
    assert crowded_out(loaded, _need(11), there) == 1
    assert crowded_out(loaded, _need(15), there) == 2


def test_what_other_programs_use_counts() -> None:
    assert crowded_out([_need(4)], _need(8), Memory(64 * GB, 40 * GB)) == 0
    assert crowded_out([_need(4)], _need(8), Memory(64 * GB, GB // 2)) == 1


@given(
    st.lists(st.integers(0, 40), max_size=6), st.integers(0, 60), st.integers(8, 128),
    st.integers(0, 128),
)  # fmt: skip
def test_no_more_models_go_than_have_to(
    sizes: list[int], need: int, total: int, available: int
) -> None:
    loaded, wanted = [_need(size) for size in sizes], _need(need)
    count = crowded_out(loaded, wanted, Memory(total * GB, available * GB))
    assert 0 <= count <= len(sizes)

    def fits(gone: int) -> bool:
        free = available * GB + sum(one.beside for one in loaded[:gone])
        kept = sum(one.total for one in loaded[gone:]) + wanted.total
        return kept <= MOST_SHARE * total * GB and wanted.beside <= free

    assert count == len(sizes) or fits(count)
    assert not any(fits(fewer) for fewer in range(count))


def _write(folder: Path, **files: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(f"{text}\n")


@pytest.mark.skipif(sys.platform != "linux", reason="control groups are Linux's")
def test_a_container_has_what_its_control_group_lets_it_have(tmp_path: Path) -> None:
    whole = psutil.virtual_memory().total
    assert memory(tmp_path).total == whole
    # files that were read do not count: 3 MB are used, 1 MB of them by such files
    two = tmp_path / "two"
    _write(
        two,
        memory__max=8_000_000,
        memory__current=3_000_000,
        memory__stat="anon 2000000\ninactive_file 1000000",
    )
    assert memory(two) == Memory(8_000_000, 6_000_000)
    one = tmp_path / "one"
    _write(
        one / "memory",
        memory__limit_in_bytes=8_000_000,
        memory__usage_in_bytes=3_000_000,
        memory__stat="inactive_file 5\ntotal_inactive_file 1000000",
    )
    assert memory(one) == Memory(8_000_000, 6_000_000)
    _write(two, memory__max="max")
    assert memory(two).total == whole
