"""What the idle engine learns of a draft: costs, acceptance, and when it does not pay."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
import pytest

from headstart.core.chats.values import SpeculationStats
from headstart.core.events import (
    DraftActivity,
    DraftStage,
    GenerationEvent,
    Loading,
    Notice,
)
from headstart.core.models.ref import ModelRef
from headstart.core.requests import GenerationRequest, LoadRequest
from headstart.core.settings.schema import EngineSettings, Sampling, Speculation
from headstart.engine.decoder import DecodeAborted
from headstart.engine.prefill import Resident
from headstart.engine.speculation import calibration
from headstart.engine.speculation.depth.worth import KNOWN_TESTS
from headstart.engine.speculation.idle import learn_when_idle
from headstart.engine.speculation.sources import Drawing
from headstart.engine.speculation.state import SpeculationState
from headstart.engine.stop import StopSignal
from tests.support.fake_decoder import Clock, FakeDecoder, table

VOCABULARY = 8
LOGITS = table(VOCABULARY, 7, 3)


class Pieces(StopSignal):
    """Stops after so many pieces of work."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self._left = count

    @property
    def stopped(self) -> bool:
        self._left -= 1
        return self._left < 0


class Pair:
    """A target and a draft of tables, with the state that the engine keeps for them."""

    def __init__(self, ref: ModelRef, noise: float) -> None:
        self.clock = Clock()
        self.target = FakeDecoder(LOGITS, lambda n: 1 + 0.1 * (n - 1), self.clock)
        self.draft = FakeDecoder(
            LOGITS + table(VOCABULARY, 8, noise), lambda n: 0.05 * (1 + 0.05 * n), self.clock
        )
        big = ModelRef(ref.path.with_name("target.gguf"), "target", 10 * ref.size)
        self.state = SpeculationState(big, self.target, None)
        self.events: list[GenerationEvent] = []
        self.state.load_draft(
            ref, EngineSettings(), lambda *_: self.draft, self.events.append, StopSignal()
        )
        self.request = GenerationRequest(
            LoadRequest(big, draft=ref),
            (),
            Sampling(temperature=1.0),
            speculation=Speculation(draft=ref.key, prompt_lookup=False),
        )

    def idle(self, resident: Resident | None = None, pieces: int = 10**6) -> None:
        held = resident or Resident(list(self.target.tokens))
        learn_when_idle(self.state, held, self.events.append, Pieces(pieces))

    def reply(self, tokens: int, prompt: int = 30) -> float:
        """Write a reply as a turn does; returns its seconds."""
        text = [index % VOCABULARY for index in range(prompt)]
        self.target.truncate(0)
        self.target.forward(text, [prompt - 1])
        sampler = self.target.sampler(self.request.sampling, 3)
        began = self.clock.now
        speculator = self.state.begin(
            self.request, text, Drawing(sampler, 3), self.events.append, StopSignal()
        )
        pending, written = sampler.draw(0, len(text)), 0
        while written < tokens:
            emitted = speculator.step(pending, tokens - written - 1)
            written += len(emitted)
            pending = emitted[-1][0]
        self.state.end()
        self.stats = speculator.tally.stats
        self.activity = speculator.activity
        return self.clock.now - began

    @property
    def stages(self) -> list[DraftStage]:
        return [event.stage for event in self.events if isinstance(event, DraftActivity)]


@pytest.fixture
def good(starter: ModelRef) -> Iterator[Pair]:
    pair = Pair(starter, 0.05)
    yield pair
    pair.state.close()


@pytest.fixture
def hostile(starter: ModelRef) -> Iterator[Pair]:
    pair = Pair(starter, 60.0)
    yield pair
    pair.state.close()


def test_a_draft_is_timed_when_it_is_loaded(good: Pair) -> None:
    assert good.state.pair is not None
    assert good.state.pair.costs.decode_time == pytest.approx(0.05 * 1.05)
    assert good.draft.tokens == []


def test_an_idle_engine_learns_costs_and_acceptance_and_leaves_the_text(good: Pair) -> None:
    good.target.forward([1, 2, 3], [])
    good.idle()
    costs, pair = good.state.target_costs(), good.state.pair
    assert pair is not None
    for n in range(2, 18):
        assert costs.ratio(n, 3) == pytest.approx(1 + 0.1 * (n - 1), rel=0.01)
    assert pair.margins.all_verified >= KNOWN_TESTS
    assert pair.margins.mean > 0.8
    assert good.target.tokens == [1, 2, 3]
    assert good.stages[0] is DraftStage.CALIBRATING
    assert good.stages[-1] is DraftStage.READY
    forwards = len(good.target.forwards)
    good.idle()
    assert len(good.target.forwards) == forwards


def test_a_request_cuts_calibration_and_it_goes_on_where_it_was(good: Pair) -> None:
    for cut in range(1, 100):
        good.target.truncate(0)
        try:
            good.idle(pieces=cut)
        except DecodeAborted:
            continue
        break
    else:
        pytest.fail("it never came to an end")
    assert good.state.pair is not None
    assert good.state.target_costs().unmeasured(calibration.SIZES, 0) == []


def test_a_good_draft_helps_in_its_first_reply(good: Pair) -> None:
    good.idle()
    assert good.reply(120) < 120 * 0.7
    assert good.stats.draft_verified > 50


def test_a_good_draft_helps_in_its_first_reply_when_asked_at_once(good: Pair) -> None:
    assert good.reply(120) < 120


def test_nothing_is_spent_on_a_draft_that_is_known_not_to_pay(hostile: Pair) -> None:
    hostile.idle()
    assert hostile.stages[-1] is DraftStage.NOT_PAYING
    last = hostile.events[-2]
    assert isinstance(last, DraftActivity)
    assert last.acceptance < last.needed
    seconds = hostile.reply(120)
    assert hostile.stats.draft_verified == 0
    assert seconds == pytest.approx(120, abs=0.5)
    assert hostile.activity.stage is DraftStage.NOT_PAYING


def test_each_reply_teaches_what_the_draft_would_have_said(good: Pair) -> None:
    good.request = GenerationRequest(
        good.request.load,
        (),
        Sampling(temperature=1.0),
        speculation=Speculation(draft="x", enabled=False),
    )
    good.reply(60)
    pair = good.state.pair
    assert pair is not None
    assert pair.margins.all_verified == 0
    good.idle(Resident(list(good.target.tokens), chat_id="chat"))
    assert pair.margins.all_verified > 40
    assert good.state.last_reply is None
    # and what the target has read, the draft has read
    assert good.draft.tokens == good.target.tokens


def test_of_few_verified_drafts_no_speed_is_told() -> None:
    for verified, told in ((0, False), (1, False), (7, False), (8, True)):
        stats = SpeculationStats(rounds=50, draft_verified=verified, plain_seconds=3.0)
        assert (stats.against_plain(6.0) is not None) == told


def test_plain_rounds_count_as_what_they_took(good: Pair) -> None:
    good.request = GenerationRequest(
        LoadRequest(good.request.load.model), (), Sampling(temperature=0), speculation=Speculation()
    )
    # another program takes the computer in the middle of the reply
    slow = good.target.cost
    good.target.cost = lambda n: slow(n) * (4 if len(good.target.tokens) > 60 else 1)
    seconds = good.reply(60)
    if good.stats.verified == 0:
        assert good.stats.plain_seconds == pytest.approx(seconds, rel=0.02)
    assert good.stats.plain_seconds > 0.8 * seconds


def test_a_draft_that_fails_in_idle_time_is_no_news(good: Pair) -> None:
    assert not [event for event in good.events if isinstance(event, Notice)]
    assert any(isinstance(event, Loading) for event in good.events)
    assert np.isfinite(good.clock.now)


def _asked_by(pair: Pair, chat_id: str) -> None:
    """The next reply is that chat's, written without its draft."""
    pair.request = GenerationRequest(
        pair.request.load,
        (),
        Sampling(temperature=1.0),
        chat_id=chat_id,
        speculation=Speculation(draft="x", enabled=False),
    )


def test_what_a_draft_reads_for_one_chat_is_never_another_ones(good: Pair) -> None:
    """A reply in one chat ends while another one is looked at, and is resident by then."""
    for _ in range(3):
        # until nothing is left to be measured
        good.idle()
    _asked_by(good, "private")
    good.reply(60)
    written = list(good.target.tokens)
    good.target.truncate(0)
    good.target.forward([7, 6, 5, 4] * 5, [19])
    shown = Resident(list(good.target.tokens), chat_id="shown")
    assert good.state.draft is not None
    seen: list[tuple[object, list[int]]] = []
    for pieces in range(60):
        # cut after ever more pieces: at no moment is the private text under the other's name
        good.target.truncate(20)
        with contextlib.suppress(DecodeAborted):
            good.idle(shown, pieces)
        held = good.state.draft.held[: good.state.draft.good]
        seen.append((good.state.draft_chat, held))
    for chat, held in seen:
        if chat == ("shown",):
            assert held[:1] != written[:1]
    assert any(chat == ("shown",) and held for chat, held in seen)


def test_a_draft_that_is_cut_while_it_reads_holds_nobodys_text(good: Pair) -> None:
    _asked_by(good, "first")
    good.reply(60)
    good.idle(Resident(list(good.target.tokens), chat_id="first"))
    assert good.state.draft_chat == ("first",)
    good.target.truncate(0)
    text = [index * 3 % VOCABULARY for index in range(40)]
    good.target.forward(text, [39])
    assert good.state.draft is not None

    def cut(*_arguments: object) -> None:
        raise DecodeAborted

    good.draft.forward = cut  # type: ignore[method-assign,assignment]
    with pytest.raises(DecodeAborted):
        good.idle(Resident(text, chat_id="second"))
    assert not good.state.draft_chat
