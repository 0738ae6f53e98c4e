"""Draft tokens for a draft: its draft is the same, with fewer forwards, and they come where they
pay."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headstart.core.settings.schema import Sampling
from headstart.engine.decoder import Prediction
from headstart.engine.speculation.costs import Costs
from headstart.engine.speculation.draft_model import DraftModel
from headstart.engine.speculation.recycling import Recycling
from headstart.engine.speculation.second_stage import MOST, SecondStage
from headstart.engine.speculation.token_mapping import DraftToken, SameTokens
from headstart.engine.stop import NEVER
from tests.support.fake_decoder import FakeDecoder, table

VOCABULARY = 8
LOGITS = table(VOCABULARY, 3, 3)


def costs(step: float) -> Costs:
    """Each further row costs so much of the first."""
    known = Costs()
    known.observe(1, 0, 1.0)
    known.observe(1, 0, 1.0)
    for _, count in itertools.product(range(6), range(2, MOST + 2)):
        known.observe(count, 0, 1 + step * (count - 1))
    return known


class Chat:
    """A draft over a text that grows by what it drafts."""

    def __init__(self, stage: bool, temperature: float, text: list[int]) -> None:
        self.decoder = FakeDecoder(LOGITS)
        self.draft = DraftModel(self.decoder, SameTokens())
        self.costs = costs(0.05)
        if not stage:
            self.draft.second_stage.next = lambda *_asked: []  # type: ignore[method-assign]
        self.text = list(text)
        self.draft.begin(text, Sampling(temperature=temperature), 7, NEVER)

    def round(self, depth: int, kept: int) -> list[DraftToken]:
        def go_on(_prediction: Prediction, _seconds: float) -> bool:
            return True

        drafted = self.draft.draft(self.costs, go_on, depth)
        # the target takes some of it, and another token
        accepted = [one.token for one in drafted[:kept]]
        more = [*accepted, (sum(accepted) + depth) % VOCABULARY]
        self.draft.extend(more)
        self.text += more
        held = self.draft.held
        assert self.decoder.tokens == held
        assert held[: self.draft.good] == self.text[: self.draft.good]
        return drafted


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    st.lists(st.integers(0, VOCABULARY - 1), min_size=1, max_size=30),
    st.sampled_from([0.0, 0.8]),
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), min_size=1, max_size=12),
)
def test_what_is_drafted_is_the_same(
    text: list[int], temperature: float, rounds: list[tuple[int, int]]
) -> None:
    with_, without = (Chat(stage, temperature, text) for stage in (True, False))
    for depth, kept in rounds:
        assert with_.round(depth, kept) == without.round(depth, kept)


def test_a_text_that_repeats_takes_fewer_forwards() -> None:
    forwards = []
    for stage in (True, False):
        chat = Chat(stage, 0.0, [1, 2, 3])
        for _ in range(20):
            chat.round(6, 6)
        forwards.append(len(chat.decoder.forwards))
    assert forwards[0] < 0.75 * forwards[1]


@pytest.mark.parametrize(("step", "most"), [(0.02, MOST), (1.0, 0)])
def test_stage_are_made_where_rows_are_cheap(step: float, most: int) -> None:
    stage, known = SecondStage(), costs(step)
    stage.see([1, 2, 3, 4, 5, 6, 1, 2])
    assert len(stage.next(1, 2, known, 0)) == most


def test_wrong_stage_are_given_up_and_right_ones_go_deeper() -> None:
    known = costs(0.3)
    for right, expected in ((0, 0), (MOST, MOST)):
        stage = SecondStage()
        stage.see([1, 2, 3, 4, 5, 6, 1, 2])
        for _ in range(40):
            made = stage.next(1, 2, known, 0)
            stage.learn(min(right, len(made)))
        assert len(stage.next(1, 2, known, 0)) == expected


def test_candidates_of_the_target_are_drafted_where_the_tokens_are_the_same() -> None:
    recycling = Recycling()
    for _ in range(30):
        recycling.at(1, 2)
        for token in (3, 4, 5):
            recycling.wrote(Prediction(token, 0, 9.0), token)
    known = costs(0.05)
    for same, expected in ((True, [3, 4, 5]), (False, [])):
        stage = SecondStage(same)
        stage.recycling = recycling
        assert stage.next(1, 2, known, 0) == expected
    # who may not use earlier replies has the text alone
    assert SecondStage().next(1, 2, known, 0) == []
