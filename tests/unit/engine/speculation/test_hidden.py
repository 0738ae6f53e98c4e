"""Drafting from hidden states: the words are plain decoding's, a perfect head is never wrong."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headstart.core.chats.parts import Origin
from headstart.core.settings.schema import Sampling, Speculation
from headstart.engine.speculation.block_draft import BlockDraft
from headstart.engine.speculation.depth.choice import Depth
from headstart.engine.speculation.hidden_draft import HiddenStateDraft
from headstart.engine.speculation.hidden_rows import HeadState, HiddenRows
from headstart.engine.speculation.loop import Speculator
from headstart.engine.speculation.profile import PairProfile, TargetProfile
from headstart.engine.speculation.sources import Sources
from headstart.engine.stop import NEVER
from tests.support.fake_block import FakeBlock
from tests.support.fake_decoder import FakeDecoder, FakeHead
from tests.unit.engine.speculation.test_loop import (
    FITTING,
    LOGITS,
    TURN,
    VOCABULARY,
    plain,
)

KINDS = pytest.mark.parametrize("block", [False, True], ids=["head", "block"])
FIXED = Speculation(depth_mode="fixed", depth=3, prompt_lookup=False, tree_branches="never")


def no_cache(_state: HeadState) -> None:
    return None


class Chat:
    """A target and a head over several turns, as the engine drives them."""

    def __init__(
        self,
        checkpoints: bool = False,
        logits: object = LOGITS,
        undo: int = 0,
        block: bool = False,
    ) -> None:
        self.target = FakeDecoder(LOGITS, checkpoints=checkpoints, undo=undo if checkpoints else 0)
        assert isinstance(logits, np.ndarray)
        self.head = FakeBlock(logits) if block else FakeHead(logits)
        self.draft = (
            BlockDraft(self.head, self.target, "t", no_cache)
            if isinstance(self.head, FakeBlock)
            else HiddenStateDraft(self.head, self.target, "t", no_cache)
        )
        self.target.states.keep(self.head.facts.wants)
        self.pair = PairProfile(at_once=self.head.facts.at_once)
        back = undo if checkpoints else None
        self.depth = Depth(TargetProfile(), self.pair, Speculation(), back)
        self.tokens: list[int] = []
        self.rounds: list[list[tuple[int, Origin]]] = []
        self.failures: list[str] = []

    def prefill(self, prompt: Sequence[int]) -> None:
        pairs = zip(self.tokens, prompt[:-1], strict=False)
        common = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
        self.draft.rows.cut(common)
        common = self.target.truncate(common)
        del self.tokens[common:]
        self.target.forward(prompt[common:], [len(prompt) - common - 1])
        self.draft.rows.saw(self.target, common, range(len(prompt) - common))
        self.tokens.extend(prompt[common:])

    def turn(
        self, prompt: Sequence[int], wanted: Speculation, temperature: float, seed: int, length: int
    ) -> list[int]:
        self.prefill(prompt)
        sampling = Sampling(temperature=temperature)
        sampler = self.target.sampler(sampling, seed)
        self.depth.begin(self.pair, wanted)
        self.draft.begin(self.tokens, sampling, seed, NEVER)
        sources = Sources(wanted, None, self.draft, self.failures.append)
        loop = Speculator(self.target, self.tokens, sampler, self.depth, sources)
        written = [sampler.draw(0, len(self.tokens))]
        while len(written) < length:
            position = loop.position
            emitted = loop.step(written[-1], 20)
            self.rounds.append(emitted)
            left = length - len(written)
            written += [token for token, _ in emitted][:left]
            if len(emitted) > left:
                loop.cut(position + left)
            assert self.target.tokens == self.tokens
        self.depth.end()
        self.draft.end()
        return written


def test_what_a_head_read_without_states_is_not_kept() -> None:
    chat = Chat()
    chat.prefill([1, 2, 3, 4])
    draft = chat.draft
    draft.rows.clear()
    draft.begin(chat.tokens, Sampling(temperature=0), 0, NEVER)
    assert not draft.ready
    draft.prefill(chat.pair.costs)
    assert draft.held
    list(draft.save("c", tail=False))
    assert draft.good == 0


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(TURN, min_size=1, max_size=5),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0, 3]),
    st.booleans(),
)
def test_words_are_plain_decodings(
    turns: list[tuple[list[int], Speculation, float, int, int, str]],
    checkpoints: bool,
    fitting: bool,
    undo: int,
    block: bool,
) -> None:
    chat = Chat(checkpoints, LOGITS if fitting else FITTING, undo, block)
    text: list[int] = []
    start = 0
    for words, wanted, temperature, seed, length, event in turns:
        if event == "go on":
            start, prompt = len(text), [*text, *words]
        elif event == "edit":
            prompt = [*text[:start], *words]
        elif event == "regenerate" and text:
            prompt = text[: max(1, start)]
        else:
            start, prompt = 0, words
        written = chat.turn(prompt, wanted, temperature, seed, length)
        assert written == plain(prompt, temperature, seed, length)
        text = [*prompt, *written]
    assert not chat.failures


@pytest.mark.parametrize("temperature", [0.0, 0.8])
@pytest.mark.parametrize("depth", [1, 3, 7])
@pytest.mark.parametrize("checkpoints", [False, True])
@KINDS
def test_a_perfect_head_gives_depth_and_one_tokens_a_round(
    temperature: float, depth: int, checkpoints: bool, block: bool
) -> None:
    chat = Chat(checkpoints, block=block)
    wanted = Speculation(depth_mode="fixed", depth=depth, prompt_lookup=False)
    chat.turn([1, 2, 3, 4], wanted, temperature, 7, 80)
    drafted = [one for one in chat.rounds if one[0][1].drafted]
    assert {len(one) for one in drafted} == {depth + 1}
    # the first rounds are plain: they time the target
    assert len(chat.rounds) - len(drafted) <= 3


@KINDS
def test_a_perfect_head_is_right_after_edits_and_other_chats(block: bool) -> None:
    chat = Chat(block=block)
    text = [1, 2, 3, 4]
    text += chat.turn(text, FIXED, 0.8, 1, 30)
    chat.turn([*text[:9], 5, 1], FIXED, 0.8, 2, 30)
    chat.turn([4, 4, 2], FIXED, 0.8, 3, 30)
    drafted = [one for one in chat.rounds if one[0][1].drafted]
    assert all(len(one) == 4 for one in drafted)


@KINDS
def test_a_branch_that_wins_does_not_make_a_head_blind(block: bool) -> None:
    chat = Chat(logits=FITTING, block=block)
    wanted = Speculation(depth_mode="fixed", depth=3, tree_branches="always", prompt_lookup=False)
    written = chat.turn([1, 2, 3], wanted, 0.8, 5, 120)
    assert written == plain([1, 2, 3], 0.8, 5, 120)
    # there are rows up to the pending token, also of a branch that is still to be decoded again
    assert chat.draft.rows.end in (len(chat.tokens), len(chat.tokens) + 1)
    drafted = sum(one[0][1].drafted or len(one) > 1 for one in chat.rounds)
    assert drafted > len(chat.rounds) / 2


@KINDS
def test_a_head_that_fails_in_the_middle_is_told_and_the_reply_goes_on(block: bool) -> None:
    chat = Chat(block=block)
    chat.head.fails_in = 9
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("headstart.engine.speculation.drafting.log.warning", lambda *_a, **_k: None)
        written = chat.turn([1, 2, 3], FIXED, 0.8, 1, 60)
    assert written == plain([1, 2, 3], 0.8, 1, 60)
    assert len(chat.failures) == 1


@KINDS
def test_a_head_begins_where_rows_begin_and_never_has_text_decoded_again(block: bool) -> None:
    chat = Chat(block=block)
    long = [(3 * n) % VOCABULARY for n in range(40)]
    # as after a restart: the target's beginning came from disk, without rows
    chat.target.forward(long[:30], [])
    chat.tokens.extend(long[:30])
    forwards = len(chat.target.forwards)
    chat.turn(long, FIXED, 0.0, 0, 20)
    assert chat.draft.offset == 30
    # the prompt's rest once, then a forward a round
    assert len(chat.target.forwards) == forwards + 1 + len(chat.rounds)
    assert any(len(one) == 4 for one in chat.rounds)


# --- rows ----------------------------------------------------------------------------------


def rows(first: int, last: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.array([[n, -n] for n in range(first, last)], np.float32)


def known(store: HiddenRows) -> list[float]:
    return [float(row[0]) for row in store.get(store.start, store.end)]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), max_size=30))
def test_rows_are_those_of_the_last_run_of_tokens(puts: list[tuple[int, int]]) -> None:
    store, text, sure = HiddenRows(2, 16), dict[int, float](), list[int]()
    for number, (position, count) in enumerate(puts):
        made = rows(position, position + count) + 100 * number
        store.put(position, made)
        sure = [at for at in sure if at < position]
        if sure and sure[-1] + 1 != position:
            sure = []
        sure = [*sure, *range(position, position + count)][-16:]
        text |= {position + index: float(row[0]) for index, row in enumerate(made)}
        for at in range(store.start, store.end):
            assert store.get(at, at + 1)[0][0] == text[at]
        assert store.end == position + count
        # the last ones are always there
        assert store.start <= sure[0]


def test_a_row_is_put_before_the_first_one() -> None:
    store = HiddenRows(2, 16)
    store.put(5, rows(5, 8))
    store.lead(3, rows(3, 4)[0])
    assert store.start == 5
    store.lead(4, rows(4, 5)[0])
    assert known(store) == [4, 5, 6, 7]
    store.cut(6)
    assert known(store) == [4, 5]


def test_state_of_a_head_is_kept_with_the_row_that_comes_next() -> None:
    target, head = FakeDecoder(LOGITS), FakeHead(LOGITS)
    target.states.keep(head.facts.wants)
    store = HiddenRows(2)
    state = HeadState(head, store, "t")
    # of another target it would be something else
    assert state.facts.state.endswith("of t")
    target.forward([1, 2, 3, 4], [3])
    store.put(0, target.states.rows(0, 4))
    head.forward([2, 3], [1], hidden=store.get(0, 2))
    blob, last = state.export(0, 2), state.export(1, 2)
    head.truncate(0)
    store.clear()
    assert state.restore(blob, 0, 2)
    assert head.tokens == [2, 3]
    assert state.restored is not None
    assert state.restored[0] == 2
    assert list(state.restored[1]) == [3, 2]
    # where the row is not known, that is said
    head.truncate(1)
    assert state.restore(last, 1, 2)
    head.truncate(1)
    assert not state.restore(last[:5], 1, 2)
    assert state.export(0, 1).size == len(last)
