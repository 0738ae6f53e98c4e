"""How many models fit in memory at once."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from headstart.core.model_ref import ModelRef
from headstart.core.requests import LoadRequest
from headstart.engine.memory import MOST_SHARE, beside_weights, crowded_out, footprint

GB = 1 << 30


def test_models_stay_while_there_is_memory_for_all() -> None:
    assert crowded_out([4 * GB, 5 * GB], 5 * GB, 32 * GB, 20 * GB) == 0


def test_the_model_that_was_used_longest_ago_goes_first() -> None:
    assert crowded_out([4 * GB, 5 * GB, 1 * GB], 12 * GB, 32 * GB, 20 * GB) == 0
    assert crowded_out([4 * GB, 5 * GB, 1 * GB], 14 * GB, 32 * GB, 20 * GB) == 1
    assert crowded_out([4 * GB, 5 * GB, 1 * GB], 19 * GB, 32 * GB, 20 * GB) == 2


def test_what_other_programs_use_counts() -> None:
    assert crowded_out([4 * GB], 8 * GB, 64 * GB, 40 * GB) == 0
    assert crowded_out([4 * GB], 8 * GB, 64 * GB, GB // 2) == 1


@given(
    st.lists(st.integers(0, 40), max_size=6), st.integers(0, 60), st.integers(8, 128),
    st.integers(0, 128),
)  # fmt: skip
def test_no_more_models_go_than_have_to(
    sizes: list[int], need: int, total: int, available: int
) -> None:
    count = crowded_out([size * GB for size in sizes], need * GB, total * GB, available * GB)
    assert 0 <= count <= len(sizes)

    def fits(gone: int) -> bool:
        free = available * GB + sum(beside_weights(size * GB) for size in sizes[:gone])
        loaded = sum(sizes[gone:]) * GB + need * GB
        return loaded <= MOST_SHARE * total * GB and beside_weights(need * GB) <= free

    assert count == len(sizes) or fits(count)
    assert not any(fits(fewer) for fewer in range(count))


def test_a_draft_counts_with_its_model() -> None:
    model, draft = ModelRef(Path("m"), "m", 4 * GB), ModelRef(Path("d"), "d", GB)
    alone = footprint(LoadRequest(model))
    assert alone > 4 * GB
    assert footprint(LoadRequest(model, draft=draft)) > alone + GB
