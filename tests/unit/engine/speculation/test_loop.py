"""The loop over random events: the words are plain decoding's, the KV state is the token list."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headstart.core.chats.parts import Origin
from headstart.core.settings.schema import Sampling, Speculation
from headstart.engine.decoder import ContextFull, DecodeAborted
from headstart.engine.speculation.depth.choice import Depth
from headstart.engine.speculation.draft_model import DraftModel
from headstart.engine.speculation.loop import Speculator
from headstart.engine.speculation.profile import PairProfile, TargetProfile
from headstart.engine.speculation.prompt_lookup import PromptLookup
from headstart.engine.speculation.sources import Sources
from headstart.engine.speculation.token_mapping import SameTokens
from headstart.engine.stop import NEVER, StopSignal
from tests.support.fake_decoder import FakeDecoder, table

VOCABULARY = 6
LOGITS = table(VOCABULARY, 4)
FITTING = LOGITS + table(VOCABULARY, 5, 0.5)
FOREIGN = table(VOCABULARY, 6)
SETTINGS = (
    Speculation(),
    Speculation(depth_mode="fixed", depth=1),
    Speculation(depth_mode="fixed", depth=3, tree_branches="always"),
    Speculation(depth_mode="fixed", depth=8, prompt_lookup=False),
    Speculation(depth_mode="fixed", depth=4, min_probability=0.7),
    Speculation(tree_branches="never", prompt_lookup=False),
)


class Chat:
    """One target and one draft over several turns, as the engine drives them."""

    def __init__(self, checkpoints: bool, fitting: bool, undo: int = 0) -> None:
        self.target = FakeDecoder(LOGITS, checkpoints=checkpoints, undo=undo if checkpoints else 0)
        self.draft = FakeDecoder(FITTING if fitting else FOREIGN, checkpoints=checkpoints)
        self.model = DraftModel(self.draft, SameTokens())
        self.pair = PairProfile()
        back = undo if checkpoints else None
        self.depth = Depth(TargetProfile(), self.pair, Speculation(), back)
        self.prompt_lookup = PromptLookup()
        self.tokens: list[int] = []

    def turn(
        self, prompt: Sequence[int], wanted: Speculation, temperature: float, seed: int, length: int
    ) -> list[int]:
        """Read `prompt`, write `length` tokens, stop there: maybe inside what was accepted."""
        pairs = zip(self.tokens, prompt[:-1], strict=False)
        common = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
        common = self.target.truncate(common)
        del self.tokens[common:]
        self.target.forward(prompt[common:], [len(prompt) - common - 1])
        self.tokens.extend(prompt[common:])
        sampling = Sampling(temperature=temperature)
        sampler = self.target.sampler(sampling, seed)
        self.depth.begin(self.pair, wanted)
        self.prompt_lookup.sync(self.tokens)
        self.model.begin(self.tokens, sampling, seed, NEVER)
        loop = Speculator(
            self.target,
            self.tokens,
            sampler,
            self.depth,
            Sources(
                wanted,
                self.prompt_lookup if wanted.prompt_lookup else None,
                self.model,
                pytest.fail,
            ),
        )
        written = [sampler.draw(0, len(self.tokens))]
        while len(written) < length:
            position = loop.position
            emitted = loop.step(written[-1], length - len(written) - 1 if length % 2 else 20)
            assert emitted
            left = length - len(written)
            written += [token for token, _ in emitted][:left]
            if len(emitted) > left:
                loop.cut(position + left)
            self.check([*prompt, *written])
        self.depth.end()
        return written

    def check(self, text: Sequence[int]) -> None:
        assert self.target.tokens == self.tokens
        assert self.tokens == list(text[: len(self.tokens)])
        assert self.draft.tokens == self.model.held
        assert self.draft.tokens[: self.model.good] == list(
            text[self.model.offset : self.model.offset + self.model.good]
        )


def plain(prompt: Sequence[int], temperature: float, seed: int, length: int) -> list[int]:
    target = FakeDecoder(LOGITS)
    sampler = target.sampler(Sampling(temperature=temperature), seed)
    target.forward(prompt, [len(prompt) - 1])
    written = [sampler.draw(0, len(prompt))]
    while len(written) < length:
        target.forward([written[-1]], [0])
        written.append(sampler.draw(0, len(target.tokens)))
    return written


TOKEN = st.integers(0, VOCABULARY - 1)
TURN = st.tuples(
    st.lists(TOKEN, min_size=1, max_size=12),
    st.sampled_from(SETTINGS),
    st.sampled_from([0.0, 0.8, 1.5]),
    st.integers(0, 50),
    st.integers(1, 40),
    st.sampled_from(["go on", "edit", "regenerate", "new chat"]),
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(TURN, min_size=1, max_size=5), st.booleans(), st.booleans(), st.sampled_from([0, 3])
)
def test_words_are_plain_decodings_and_kv_is_the_token_list(
    turns: list[tuple[list[int], Speculation, float, int, int, str]],
    checkpoints: bool,
    fitting: bool,
    undo: int,
) -> None:
    chat = Chat(checkpoints, fitting, undo)
    text: list[int] = []
    start = 0
    for words, wanted, temperature, seed, length, event in turns:
        if event == "go on":
            start = len(text)
            prompt = [*text, *words]
        elif event == "edit":
            prompt = [*text[:start], *words]
        elif event == "regenerate" and text:
            prompt = text[: max(1, start)]
        else:
            start, prompt = 0, words
        written = chat.turn(prompt, wanted, temperature, seed, length)
        assert written == plain(prompt, temperature, seed, length)
        text = [*prompt, *written]


@pytest.mark.parametrize(("depth", "taken"), [(3, False), (6, True)])
def test_only_rounds_that_cannot_be_taken_back_copy_the_state(depth: int, taken: bool) -> None:
    chat = Chat(checkpoints=True, fitting=True, undo=4)
    wanted = Speculation(depth_mode="fixed", depth=depth, prompt_lookup=False)
    chat.turn([1, 2, 3], wanted, 0.8, 1, 40)
    assert chat.depth.pair is not None
    assert chat.depth.pair.margins.all_verified > 10
    assert (chat.target.checkpoints > 0) == taken


def _loop(target: FakeDecoder, draft: FakeDecoder | None, wanted: Speculation) -> Speculator:
    tokens = [1, 2]
    target.forward(tokens, [1])
    sampling = Sampling(temperature=0)
    model = None
    if draft is not None:
        model = DraftModel(draft, SameTokens())
        model.begin(tokens, sampling, 0, NEVER)
    depth = Depth(TargetProfile(), PairProfile() if model else None, wanted)
    # a target that was timed: before that, the first rounds are plain
    depth.target.costs.observe(1, 0, 1.0)
    failed: list[str] = []
    loop = Speculator(
        target,
        tokens,
        target.sampler(sampling, 0),
        depth,
        Sources(wanted, None, model, failed.append),
    )
    loop.__dict__["failed"] = failed
    return loop


def test_origins_say_where_each_token_came_from() -> None:
    loop = _loop(FakeDecoder(LOGITS), FakeDecoder(LOGITS), SETTINGS[1])
    emitted = loop.step(3, 8)
    assert [origin for _, origin in emitted] == [Origin.DRAFT, Origin.TARGET]


def test_an_end_inside_a_draft_ends_the_round_there() -> None:
    text = plain([1, 2, 3], 0, 0, 3)
    wanted = Speculation(depth_mode="fixed", depth=8, prompt_lookup=False)
    loop = _loop(FakeDecoder(LOGITS, ends=[text[1]]), FakeDecoder(LOGITS), wanted)
    emitted = [token for token, _ in loop.step(3, 8)]
    assert emitted[-1] == text[1]
    assert emitted == text[: len(emitted)]


def test_a_full_context_leaves_the_state_as_it_was() -> None:
    target = FakeDecoder(LOGITS, context=3)
    loop = _loop(target, FakeDecoder(LOGITS), SETTINGS[2])
    loop.step(3, 8)
    with pytest.raises(ContextFull):
        loop.step(4, 8)
    assert target.tokens == [1, 2, 3]


def test_a_cancel_while_drafting_stops_the_round() -> None:
    draft = FakeDecoder(LOGITS)
    loop = _loop(FakeDecoder(LOGITS), draft, SETTINGS[3])
    assert loop.drafting.draft is not None
    loop.drafting.draft.stop = StopSignal(-1)
    with pytest.raises(DecodeAborted):
        loop.step(3, 8)
    assert loop.target.n_past() == 2


@pytest.mark.logs("the draft failed")
def test_a_draft_that_fails_is_told_once_and_the_reply_goes_on() -> None:
    draft = FakeDecoder(LOGITS, context=48)
    loop = _loop(FakeDecoder(LOGITS), draft, SETTINGS[3])

    def fail(*_args: object, **_more: object) -> None:
        raise ContextFull

    draft.forward = fail  # type: ignore[method-assign]
    written = [3]
    for _ in range(3):
        written += [token for token, _ in loop.step(written[-1], 8)]
    assert written == [3, *plain([1, 2, 3], 0, 0, 3)]
    assert len(loop.__dict__["failed"]) == 1


def test_a_draft_with_a_small_context_sees_the_end_of_the_text_only() -> None:
    draft = FakeDecoder(LOGITS, context=64)
    loop = _loop(FakeDecoder(LOGITS), draft, SETTINGS[3])
    written = [3]
    while len(written) < 200:
        written += [token for token, _ in loop.step(written[-1], 8)]
    assert written[1:] == plain([1, 2, 3], 0, 0, len(written) - 1)
    # the draft is the target's twin: what it sees of the text is enough for it
    assert loop.tally.stats.draft_accepted > 100


def test_a_draft_that_finds_no_more_room_is_timed_as_far_as_there_is() -> None:
    class Narrow(FakeDecoder):
        """Its memory is another's, which has room for one token more."""

        def forward(self, *asked: Any, **more: Any) -> None:
            if len(asked[0]) > 1:
                raise ContextFull
            super().forward(*asked, **more)

    model, costs = DraftModel(Narrow(FITTING), SameTokens()), PairProfile().costs
    model.time_steps(costs, 2, 8)
    assert costs.known
    assert model.held == []
