"""Whether a model fits, and with which context."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headstart.core.models.fit import (
    Memory,
    ModelShape,
    Pair,
    automatic_context,
    judge,
    largest_context,
    need,
    offer,
    windowed,
)
from headstart.core.settings.schema import LEAST_CONTEXT, EngineSettings

GB = 1 << 30
ENGINE = EngineSettings()
# about an 8 B model in 4 bits: 128 kB of keys and values for each token
EIGHT = ModelShape(
    weights=5 * GB, trained=131_072, keys=32_768, values=32_768,
    vocabulary=128_256, width=4096, feed_forward=14_336, heads=32,
)  # fmt: skip
SMALL = ModelShape(weights=GB // 2, trained=8192, keys=8_192, values=8_192, vocabulary=32_000)

shapes = st.builds(
    ModelShape,
    weights=st.integers(0, 80 * GB),
    trained=st.sampled_from([0, 512, 2048, 8192, 40_960, 131_072, 1_048_576]),
    keys=st.integers(0, 100_000),
    values=st.integers(0, 100_000),
    state=st.integers(0, GB // 8),
    vocabulary=st.integers(0, 262_144),
)
memories = st.integers(1, 128).flatmap(
    lambda total: st.integers(0, total).map(lambda free: Memory(total * GB, free * GB))
)


def test_a_laptop_of_16_gb_runs_an_8_b_model_with_a_useful_context() -> None:
    memory = Memory(16 * GB, 11 * GB)
    context = automatic_context(Pair(EIGHT), ENGINE, memory)
    assert context == 16_384
    assert judge(need(EIGHT, context, ENGINE), memory) == "fits"
    assert automatic_context(Pair(EIGHT), ENGINE, Memory(64 * GB, 50 * GB)) == 32_768


def test_a_model_gets_no_more_than_it_was_trained_for() -> None:
    memory = Memory(64 * GB, 60 * GB)
    assert automatic_context(Pair(SMALL), ENGINE, memory) == 8192
    assert automatic_context(Pair(ModelShape(GB, 1024, keys=64)), ENGINE, memory) == 1024
    assert automatic_context(Pair(ModelShape(GB, 40_960, keys=64)), ENGINE, memory) == 32_768


def test_a_draft_counts() -> None:
    alone, both = Pair(EIGHT), Pair(EIGHT, SMALL)
    more = both.need(32_768, ENGINE).total - alone.need(32_768, ENGINE).total
    # it has no longer context than it was trained for
    assert more == need(SMALL, 8192, ENGINE).total


def test_where_memory_is_short_the_context_is_what_fits_beside_other_programs() -> None:
    memory = Memory(8 * GB, 3 * GB)
    assert judge(need(EIGHT, 8192, ENGINE), memory) == "tight"
    assert automatic_context(Pair(EIGHT), ENGINE, memory) == 8192
    less = automatic_context(Pair(EIGHT), ENGINE, Memory(8 * GB, GB))
    assert 2048 <= less < 8192


def test_what_does_not_fit_gets_an_offer() -> None:
    memory = Memory(16 * GB, 9 * GB)
    found = offer(Pair(EIGHT), 98_304, ENGINE, memory)
    assert (found.context, found.kv_type) == (98_304, "q8_0")
    assert judge(need(EIGHT, 98_304, EngineSettings(kv_type="q8_0")), memory) != "no"
    found = offer(Pair(EIGHT), 131_072, EngineSettings(flash_attention="off"), memory)
    assert found.kv_type == "f16"
    assert 0 < found.context < 131_072
    vast = ModelShape(weights=40 * GB, trained=8192, keys=1000, values=1000)
    assert offer(Pair(vast), 8192, ENGINE, memory).context == 0


def test_a_window_is_all_that_is_kept_where_that_saves_much() -> None:
    # Gemma 3 12B: 40 of 48 layers see 1,024 tokens
    gemma = ModelShape(
        weights=8 * GB, trained=131_072, keys=98_304, values=98_304, masks=2,
        window=1024, window_keys=81_920, window_values=81_920,
    )  # fmt: skip
    whole = EngineSettings(window_cache="whole")
    assert windowed(gemma, 8192, ENGINE)
    assert need(gemma, 8192, whole).kv == 8192 * 4 * 98_304
    assert need(gemma, 8192, ENGINE).kv < 0.7 * need(gemma, 8192, whole).kv
    assert need(gemma, 32_768, ENGINE).kv < 0.3 * need(gemma, 32_768, whole).kv
    # a short context, or a small model, keeps what it can cut anywhere
    assert not windowed(gemma, 4096, ENGINE)
    assert not windowed(SMALL, 8192, EngineSettings(window_cache="window"))
    assert not windowed(gemma, 32_768, EngineSettings(exact=True))
    # a draft has to come back without snapshots
    pair = Pair(EIGHT, gemma)
    extra = pair.need(8192, ENGINE).kv - Pair(EIGHT).need(8192, ENGINE).kv
    assert extra == need(gemma, 8192, whole).kv


@given(shapes, memories)
def test_an_automatic_context_is_in_bounds_and_the_best_that_fits(
    shape: ModelShape, memory: Memory
) -> None:
    pair = Pair(shape)
    context = automatic_context(pair, ENGINE, memory)
    assert 0 < context <= min(shape.trained or 8192, 32_768)
    verdict = judge(pair.need(context, ENGINE), memory)
    smaller = [size for size in (2048, 4096, 6144, 8192) if size <= shape.trained]
    if verdict == "no":
        assert all(judge(pair.need(size, ENGINE), memory) == "no" for size in smaller)


@given(shapes, memories)
def test_the_largest_context_fits_and_a_larger_one_does_not(
    shape: ModelShape, memory: Memory
) -> None:
    pair = Pair(shape)
    most = largest_context(pair, ENGINE, memory)
    assert most == 0 or judge(pair.need(most, ENGINE), memory) != "no"
    assert most <= max(LEAST_CONTEXT, shape.trained or 32_768)
    more = most + 1024
    if most >= 1024 and more <= (shape.trained or 32_768):
        assert judge(pair.need(more, ENGINE), memory) == "no"
