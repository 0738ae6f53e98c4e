"""Drafts from the target's own candidates: the words are plain decoding's, and a text of habits is
written in fewer forwards."""

from __future__ import annotations

import random
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from headstart.core.chats.replies import NoReplies
from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import Sampling, Speculation
from headstart.engine.decoder import Prediction
from headstart.engine.speculation.depth.choice import Depth
from headstart.engine.speculation.earlier import EarlierChats
from headstart.engine.speculation.loop import Speculator
from headstart.engine.speculation.plan import Chain
from headstart.engine.speculation.profile import TargetProfile
from headstart.engine.speculation.recycling import Recycling
from headstart.engine.speculation.sources import Sources
from tests.support.fake_decoder import FakeDecoder
from tests.unit.engine.speculation.test_loop import LOGITS, VOCABULARY, plain

MODEL = ModelRef(Path("/models/a.gguf"), "a", 1)


def sure(token: int, margin: float = 3.0) -> Prediction:
    return Prediction(token, token + 1, margin)


def write(table: Recycling, text: list[int], margin: float = 3.0) -> None:
    """As if the target had drawn its first candidate each time."""
    table.at(*text[:2])
    for token in text[2:]:
        table.wrote(sure(token, margin), token)


def test_two_tokens_tell_more_than_one() -> None:
    table = Recycling()
    write(table, [1, 2, 3, 4, 5, 2, 9])
    table.at(1, 2)
    assert table.chain(3).tokens == [3, 4, 5]
    # after another token before it, the last time counts
    table.at(8, 2)
    assert table.chain(1).tokens == [9]
    table.at(7, 7)
    assert table.chain(4) == Chain([], [])
    assert table.first_chance() == 0.0


def test_chances_follow_what_turned_out_right() -> None:
    table = Recycling()
    rng = random.Random(1)
    for _ in range(300):
        table.at(1, 2)
        # the candidate of last time is drawn again nine times of ten
        table.wrote(sure(3), 3 if rng.random() < 0.9 else 4)
    table.at(1, 2)
    assert 0.8 < table.first_chance() < 0.97
    for _ in range(300):
        table.at(5, 6)
        table.wrote(sure(7, 0.1), rng.randrange(20))
    table.at(5, 6)
    assert table.first_chance() < 0.2


def test_what_was_not_seen_for_long_goes_first() -> None:
    table = Recycling(most=40)
    write(table, list(range(100)))
    assert len(table) <= 40
    table.at(97, 98)
    assert table.chain(1).tokens == [99]
    table.at(3, 4)
    assert table.chain(1).tokens == []


def test_it_comes_back_as_it_was_kept_and_torn_bytes_are_nothing() -> None:
    table = Recycling()
    write(table, [1, 2, 3, 200_000, 5, 2, 9], margin=1.3)
    data = table.pack()
    assert table.news == 0
    again = Recycling()
    again.unpack(data)
    for key in ((1, 2), (2, 3), (8, 2), (3, 200_000)):
        table.at(*key)
        again.at(*key)
        assert again.chain(4) == table.chain(4)
    for torn in (b"", b"{}", data[:-9], data.replace(b"pairs", b"wars"), b'{"pairs":3}'):
        empty = Recycling()
        empty.unpack(torn)
        assert len(empty) == 0
    again.clear()
    assert len(again) == 0


def test_a_full_table_takes_less_than_two_megabytes() -> None:
    table = Recycling()
    rng = random.Random(2)
    table.at(1, 2)
    for _ in range(80_000):
        token = rng.randrange(1 << 17)
        table.wrote(sure(token), token)
    assert len(table.pack()) < 2_000_000


def turn(
    table: Recycling, wanted: Speculation, temperature: float, seed: int, prompt: list[int]
) -> tuple[list[int], int]:
    """Write 60 tokens; returns them, and the forwards that took."""
    target = FakeDecoder(LOGITS, cost=lambda count: 1.0 + 0.01 * count)
    sampler = target.sampler(Sampling(temperature=temperature), seed)
    tokens = list(prompt)
    target.forward(tokens, [len(tokens) - 1])
    depth = Depth(TargetProfile(), None, wanted)
    depth.begin(None, wanted)
    for size in (1, 1, 1, 2, 4, 8, 16):
        depth.target.costs.observe(size, 0, 1.0 + 0.01 * size)
    earlier = EarlierChats(MODEL, None, NoReplies())
    earlier.recycling = table
    earlier.begin()
    sources = Sources(wanted, None, None, lambda _why: None, earlier=earlier)
    loop = Speculator(target, tokens, sampler, depth, sources)
    written = [sampler.draw(0, len(tokens))]
    while len(written) < 60:
        written += [token for token, _ in loop.step(written[-1], 20)]
        assert target.tokens == tokens
    return written[:60], len(target.forwards)


AUTO = Speculation(prompt_lookup=False)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(0, VOCABULARY - 1), min_size=1, max_size=5),
            st.sampled_from([0.0, 0.7, 1.5]),
            st.integers(0, 9),
            st.sampled_from([AUTO, Speculation(depth_mode="fixed", depth=3, prompt_lookup=False)]),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_words_are_plain_decodings(
    turns: list[tuple[list[int], float, int, Speculation]],
) -> None:
    table = Recycling()
    for prompt, temperature, seed, wanted in turns:
        written, _ = turn(table, wanted, temperature, seed, prompt)
        assert written == plain(prompt, temperature, seed, 60)


def test_a_text_of_habits_takes_fewer_forwards() -> None:
    table = Recycling()
    for seed in range(6):
        turn(table, AUTO, 0.3, seed, [1, 2])
    forwards = [turn(table, AUTO, 0.3, seed, [1, 2])[1] for seed in range(20, 26)]
    assert sum(forwards) / len(forwards) < 45
