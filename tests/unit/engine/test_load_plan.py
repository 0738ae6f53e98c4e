"""Plans of loads: decided before anything is opened or evicted."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from headstart.core.models.fit import Memory, ModelShape, Need, Pair, judge
from headstart.core.models.ref import ModelRef
from headstart.core.requests import LoadRequest
from headstart.core.settings.schema import EngineSettings
from headstart.engine.loading.plan import (
    Computer,
    LoadPlan,
    Refused,
    make_room,
    plan_draft,
    plan_target,
    refuse_projector,
)

GB = 1 << 30


class Occupied(Struct, frozen=True):
    wanted: LoadRequest
    need: Need


def _model(name: str, gigabytes: int) -> ModelRef:
    return ModelRef(Path(f"/m/{name}.gguf"), name, gigabytes * GB)


def _shape(gigabytes: int) -> ModelShape:
    """64 kB of keys and values for each token."""
    return ModelShape(
        gigabytes * GB, 131_072, keys=16_384, values=16_384, vocabulary=32_000, layers=32,
        layer_weights=gigabytes * GB * 9 // 10,
    )  # fmt: skip


def _occupied(name: str, gigabytes: int) -> Occupied:
    return Occupied(LoadRequest(_model(name, gigabytes)), Need(gigabytes * GB, GB // 2, GB // 8))


sizes = st.integers(1, 40)
computers = st.builds(
    lambda total, free, card, card_free: Computer(
        Memory(total * GB, total * GB * free // 100),
        None if card is None else Memory(card * GB, card * GB * card_free // 100),
    ),
    st.integers(4, 128),
    st.integers(0, 100),
    st.none() | st.integers(4, 80),
    st.integers(0, 100),
)


@given(sizes, st.none() | sizes, computers, st.lists(sizes, max_size=4), st.booleans())
def test_a_plan_that_evicts_is_followed_by_one_that_opens(
    target: int, draft: int | None, computer: Computer, others: list[int], again: bool
) -> None:
    loaded = [_occupied(f"other {index}", size) for index, size in enumerate(others)]
    if again:
        loaded.append(_occupied("target", target))
    wanted = LoadRequest(_model("target", target), EngineSettings())
    pair = Pair(_shape(target), None if draft is None else _shape(draft))
    plan = plan_target(wanted, pair, computer, loaded)
    if isinstance(plan, Refused):
        return
    assert not again or wanted.model in plan.evict
    kept = [one for one in loaded if one.wanted.model not in plan.evict]
    # a draft without room is left out of the plan
    rooms = [make_room(wanted, one, computer, loaded) for one in (pair, Pair(pair.target))]
    then = [room for evict, room in rooms if evict == plan.evict][0]  # noqa: RUF015
    after = plan_target(wanted, pair, then, kept)
    assert isinstance(after, LoadPlan)
    assert after.evict == ()
    assert after.run == plan.run
    if then.cards is None:
        assert judge(after.need, then.memory) != "no"


@given(sizes, computers, st.lists(sizes, max_size=4))
def test_nothing_is_refused_that_fits_alone(
    target: int, computer: Computer, others: list[int]
) -> None:
    loaded = [_occupied(str(index), size) for index, size in enumerate(others)]
    wanted, pair = LoadRequest(_model("target", target), EngineSettings()), Pair(_shape(target))
    plan = plan_target(wanted, pair, computer, loaded)
    freed = sum(one.need.beside for one in loaded)
    memory = Memory(computer.memory.total, computer.memory.available + freed)
    cards = computer.cards
    empty = (
        None if cards is None else Memory(cards.total, cards.total if loaded else cards.available)
    )
    alone = plan_target(wanted, pair, Computer(memory, empty), [])
    assert isinstance(plan, LoadPlan) or isinstance(alone, Refused)


def test_fewer_layers_are_another_plan_with_more_in_the_computers_memory() -> None:
    wanted, pair = LoadRequest(_model("target", 8), EngineSettings()), Pair(_shape(8))
    computer = Computer(Memory(16 * GB, 14 * GB), Memory(24 * GB, 24 * GB))
    whole = plan_target(wanted, pair, computer, [])
    assert isinstance(whole, LoadPlan)
    assert (whole.run.gpu_layers, whole.notices) == (33, ())
    fewer = plan_target(wanted, pair, computer, [], whole.fewer_layers)
    assert isinstance(fewer, LoadPlan)
    assert fewer.run.gpu_layers == 24
    assert [notice.told.code for notice in fewer.notices] == ["gpu-fewer-layers"]
    # without memory for what does not lie on the card, there is no such plan
    tight = Computer(Memory(4 * GB, GB), computer.cards)
    assert isinstance(plan_target(wanted, pair, tight, []), LoadPlan)
    refused = plan_target(wanted, pair, tight, [], 4)
    assert isinstance(refused, Refused)
    assert refused.problem.told.code.startswith("does-not-fit")


def test_a_draft_lies_on_the_card_as_a_whole_or_not_at_all() -> None:
    wanted = LoadRequest(_model("target", 8), EngineSettings(), _model("draft", 2))
    pair = Pair(_shape(8), _shape(2))
    for free, layers in ((8, 33), (1, 0)):
        computer = Computer(Memory(16 * GB, 14 * GB), Memory(24 * GB, free * GB))
        plan = plan_draft(wanted, pair, 8192, computer, [])
        assert isinstance(plan, LoadPlan)
        assert plan.run.gpu_layers == layers
    refused = plan_draft(wanted, pair, 8192, Computer(Memory(16 * GB, GB // 2)), [])
    assert isinstance(refused, Refused)
    assert refused.reason.code == "draft-without-room"


def test_a_projector_without_room_is_refused_by_name() -> None:
    computer = Computer(Memory(16 * GB, GB))
    assert refuse_projector(_model("sees", 4), GB // 4, computer) is None
    refused = refuse_projector(_model("sees", 4), 3 * GB // 4, computer)
    assert refused is not None
    assert refused.problem.told.facts["model"] == "sees"
