"""Heads on real weights: the words are those of plain decoding, whatever the head drafts, and no
prompt is decoded again for it."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from headstart.core.chats.parts import Origin
from headstart.core.chats.replies import NoReplies
from headstart.core.chats.values import Role
from headstart.core.events import DraftActivity, DraftStage, GenerationEvent, Notice, TextAdded
from headstart.core.models.ref import ModelRef
from headstart.core.requests import PromptMessage, WrittenSoFar
from headstart.core.retention import Retention
from headstart.core.settings.schema import Sampling, Speculation
from headstart.engine.backends import select
from headstart.engine.backends.heads.llama_assistant import LlamaAssistant
from headstart.engine.backends.heads.llama_block import LlamaBlock
from headstart.engine.backends.heads.llama_head import LlamaHead
from headstart.engine.backends.heads.llama_layers import LlamaLayers
from headstart.engine.backends.heads.numpy_medusa import MedusaHead
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.stop import StopSignal
from headstart.ui.inspector.speculation_words import activity_words
from tests.models.heads import random_eagle3
from tests.models.tiny import make_tiny
from tests.support.head_pairs import (
    BLOCKS,
    KINDS,
    STORY,
    TOKENS,
    Made,
    Pair,
    make_head,
    model_at,
)
from tests.support.prefix_engine import PrefixEngine
from tests.support.sampled import sampled

FIXED = Speculation(draft="d", depth_mode="fixed", depth=3, prompt_lookup=False)
TREE = Speculation(draft="d", depth_mode="fixed", depth=2, tree_branches="always")


def of_kinds(*kept: str) -> pytest.MarkDecorator:
    """Those kinds in `make test`, all of them in the proof."""
    return pytest.mark.parametrize("pair", sampled(KINDS, *kept), indirect=True)


@pytest.fixture(scope="module")
def made(shallow: ModelRef, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A target and its head of a kind, made once."""
    folder = tmp_path_factory.mktemp("heads")
    return functools.cache(lambda kind: make_head(kind, shallow, folder / kind))


@pytest.fixture(params=KINDS)
def pair(request: pytest.FixtureRequest, made: Made, tmp_path: Path) -> Iterator[Pair]:
    pair = Pair(request.param, made, tmp_path / "home")
    yield pair
    pair.engine.stop()


OFF = Speculation(enabled=False)


@pytest.mark.parametrize("count", sampled([2, 30], 30))
def test_a_row_is_the_same_whichever_others_are_asked_for(pair: Pair, count: int) -> None:
    if pair.kind in ("assistant", *BLOCKS):
        pytest.skip("it drafts at one place only")
    pair.write(FIXED)
    target, head = pair.engine.generator.loaded.decoder, pair.draft.decoder
    text = (target.encode("A river runs to the sea, and the sea is deep. ") * 4)[: count + 1]
    target.truncate(0)
    target.forward(text, range(count + 1))
    rows, found = target.states.rows(0, count), []
    for outputs in (range(count), [count - 1]):
        head.truncate(0)
        head.forward(text[1:], outputs, hidden=rows)
        own = head.states.rows(count - 1, count)
        found.append((head.row(len(outputs) - 1), own))
    for one, other in zip(*found, strict=True):
        known = np.isfinite(one)
        assert np.array_equal(known, np.isfinite(other))
        assert np.abs(one[known] - other[known]).max() < 1e-2
    # the engine believes that they hold something else
    target.truncate(0)
    head.truncate(0)


@pytest.mark.parametrize("temperature", sampled([0.0, 0.8], 0.8))
def test_words_are_those_of_plain_decoding(pair: Pair, temperature: float) -> None:
    sampling = Sampling(temperature=temperature, seed=5, max_tokens=TOKENS)
    plain = pair.write(OFF, sampling=sampling)
    for wanted in (FIXED, TREE, Speculation(draft="d")):
        assert pair.write(wanted, sampling=sampling) == plain
    tests = pair.engine.generator.loaded.speculation.pair
    assert tests is not None
    # it did draft
    assert tests.margins.all_verified > 5


@of_kinds("eagle3", "own")
def test_a_stopped_reply_goes_on_with_the_same_words(pair: Pair) -> None:
    halves = []
    for wanted in (OFF, FIXED):
        draft = pair.head if wanted.enabled else None
        half = pair.engine.ask("c", STORY, TOKENS // 2, speculation=wanted, draft=draft).text
        so_far = WrittenSoFar(half)
        more = pair.engine.ask(
            "c", STORY, TOKENS // 2, speculation=wanted, draft=draft, reply_so_far=so_far
        )
        halves.append((half, more.text))
    assert halves[0] == halves[1]


@of_kinds("own", "assistant")
def test_after_a_restart_no_prompt_is_decoded_again_for_the_head(pair: Pair) -> None:
    long = [PromptMessage(Role.USER, "river stone winter garden paper window " * 50, "a")]
    first = pair.engine.ask("c", long, TOKENS, speculation=FIXED, draft=pair.head)
    pair.engine.restart()
    turns = [
        *long,
        PromptMessage(Role.ASSISTANT, first.text, "b"),
        PromptMessage(Role.USER, "And then?", "c"),
    ]
    plain = pair.engine.ask("c", turns, TOKENS, speculation=OFF)
    pair.engine.restart(save=False)
    again = pair.engine.ask("c", turns, TOKENS, speculation=FIXED, draft=pair.head)
    assert again.text == plain.text
    # the reply to the first question came from the store, and with it what the head has seen
    assert again.reused > 200
    if pair.kind in ("assistant", "medusa"):
        # it needs nothing of what came before
        assert pair.draft.offset > 0
    else:
        assert pair.draft.offset == 0
        assert pair.draft.good > again.reused


@of_kinds("layers", "medusa")
def test_a_head_that_breaks_is_told_and_the_reply_comes(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = pair.write(OFF)
    left = 9
    owners = {"assistant": LlamaAssistant, "medusa": MedusaHead, "eagle3": LlamaHead}
    owners |= dict.fromkeys(BLOCKS, LlamaBlock)
    owner: Any = owners.get(pair.kind, LlamaLayers)
    forward = owner.forward

    def breaking(head: Any, *given: object, **more: object) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise RuntimeError("broken")
        forward(head, *given, **more)

    monkeypatch.setattr(owner, "forward", breaking)
    monkeypatch.setattr("headstart.engine.speculation.drafting.log.warning", lambda *_a, **_k: None)
    monkeypatch.setattr("headstart.engine.speculation.state.log.warning", lambda *_a, **_k: None)
    events: list[GenerationEvent] = []
    request = pair.engine.request("c", STORY, TOKENS, speculation=FIXED, draft=pair.head)
    pair.engine.generator.generate(request, events.append, StopSignal())
    told = [event for event in events if isinstance(event, Notice)]
    assert len(told) == 1
    assert pair.engine.generator.loaded.speculation.draft is None
    monkeypatch.undo()
    assert pair.write(OFF) == plain


@pytest.mark.logs("the draft")
def test_a_head_of_another_model_is_refused_with_a_reason(
    starter: ModelRef, tmp_path: Path
) -> None:
    tiny = make_tiny("llama", starter.path, tmp_path / "tiny.gguf", blocks=True)
    head = model_at(random_eagle3(tiny, tmp_path / "head.gguf", layers=[1, 1, 2]))
    engine = PrefixEngine(tmp_path / "home", starter)
    engine.chat("c")
    events: list[GenerationEvent] = []
    request = engine.request("c", STORY, 8, speculation=FIXED, draft=head)
    engine.generator.generate(request, events.append, StopSignal())
    said = [event.told.text for event in events if isinstance(event, Notice)]
    assert len(said) == 1
    assert "another model" in said[0]
    engine.stop()


def test_the_logits_are_the_same_with_taps_and_without(starter: ModelRef) -> None:
    from headstart.core.settings.schema import EngineSettings

    decoder = LlamaCppDecoder(starter.path, EngineSettings(context_length=512))
    tokens = decoder.encode("A river runs to the sea, and the sea is wide.")
    decoder.forward(tokens, [len(tokens) - 1])
    plain = decoder.row(0)
    decoder.truncate(0)
    decoder.states.keep((2, 15, "last"))
    decoder.forward(tokens, range(len(tokens)))
    assert (decoder.row(len(tokens) - 1) == plain).all()
    rows = decoder.states.rows(0, len(tokens))
    assert rows.shape == (len(tokens), 3 * decoder.facts.width)
    # a round with rows of which nothing is made has the states of all
    few = tokens[:4]
    decoder.truncate(0)
    decoder.forward(few, range(4))
    every, states = decoder.row(1), decoder.states.rows(0, 4)
    decoder.truncate(0)
    decoder.forward(few, [0, 1])
    assert (decoder.row(1) == every).all()
    assert (decoder.states.rows(0, 4) == states).all()
    assert np.isfinite(states).all()
    # a prompt has none
    decoder.truncate(0)
    decoder.forward(tokens * 2, [2 * len(tokens) - 1])
    assert np.isnan(decoder.states.rows(0, 1)[:, -1]).all()
    decoder.close()


@pytest.mark.logs("the draft")
@of_kinds("eagle3", "assistant")
def test_a_trial_that_failed_is_made_again_with_the_next_load(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the moment's fault: too little memory for both, say
    monkeypatch.setattr(select, "check_head", lambda *_asked: False)
    pair.write(FIXED)
    assert pair.engine.generator.loaded.speculation.draft is None
    monkeypatch.undo()
    pair.engine.restart()
    pair.write(FIXED)
    assert pair.draft.ready


@of_kinds("own", "medusa")
def test_a_reply_of_another_text_is_not_what_a_head_is_scored_on(pair: Pair) -> None:
    pair.write(FIXED)
    state = pair.engine.generator.loaded.speculation
    reply = state.last_reply
    assert reply is not None
    assert state.pair is not None
    # as if another chat had been read meanwhile, whose states the target has now
    state.last_reply = replace(reply, tokens=tuple(reversed(reply.tokens)))
    before = state.pair.margins.all_verified
    pair.engine.generator.learn_when_idle(StopSignal(), lambda _event: None)
    assert state.last_reply is None
    assert state.pair.margins.all_verified == before


class Counted(NoReplies):
    """Replies of before, and how often they were asked for."""

    def __init__(self) -> None:
        self.asked = 0

    def of(self, name: str, key: str, most: int) -> Future[list[str]]:
        self.asked += 1
        return super().of(name, key, most)


def test_earlier_replies_are_read_only_for_who_uses_them(starter: ModelRef, tmp_path: Path) -> None:
    replies = Counted()
    engine = PrefixEngine(tmp_path / "home", starter, replies=replies)
    engine.chat("c")

    def rest() -> int:
        engine.generator.learn_when_idle(StopSignal(), lambda _event: None)
        return replies.asked

    for wanted in (OFF, Speculation(earlier_chats=False)):
        engine.ask("c", STORY, 4, speculation=wanted)
        assert rest() == 0
    private = {"retention": Retention.MEMORY, "speculation": Speculation()}
    engine.ask("c", STORY, 4, **private)
    assert rest() == 0
    engine.ask("c", STORY, 4, speculation=Speculation())
    assert rest() == 1
    engine.stop()


@pytest.mark.parametrize(
    ("kind", "origin"), [("eagle3", Origin.HEAD), ("own", Origin.OWN_LAYERS)], ids=["head", "own"]
)
def test_text_says_what_drafted_it(kind: str, origin: Origin, made: Made, tmp_path: Path) -> None:
    pair = Pair(kind, made, tmp_path / "home")
    events: list[GenerationEvent] = []
    request = pair.engine.request("c", STORY, TOKENS, speculation=FIXED, draft=pair.head)
    pair.engine.generator.generate(request, events.append, StopSignal())
    assert pair.draft.origin is origin
    shown = {
        piece.origin for event in events if isinstance(event, TextAdded) for piece in event.pieces
    }
    assert shown <= {Origin.TARGET, origin}
    activity = DraftActivity(DraftStage.DRAFTING, 3, source=origin)
    assert activity_words(activity)[0] == f"{origin.value} drafting 3"
    pair.engine.stop()


def test_an_assistant_that_comes_later_has_nothing_prefilled_again(
    made: Made, tmp_path: Path
) -> None:
    pair = Pair("assistant", made, tmp_path / "home")
    long = [PromptMessage(Role.USER, "river stone winter garden paper window " * 50, "a")]
    first = pair.engine.ask("c", long, TOKENS)
    turns = [
        *long,
        PromptMessage(Role.ASSISTANT, first.text, "b"),
        PromptMessage(Role.USER, "And then?", "c"),
    ]
    # opening it makes the memory new that it shares with the target
    again = pair.engine.ask("c", turns, TOKENS, speculation=FIXED, draft=pair.head)
    assert again.reused > 300
    pair.engine.restart()
    assert pair.engine.ask("c", turns, TOKENS).text == again.text
    pair.engine.stop()


def test_an_assistant_is_scored_while_the_target_writes(made: Made, tmp_path: Path) -> None:
    pair = Pair("assistant", made, tmp_path / "home")
    pair.write(Speculation(draft="d"))
    state = pair.engine.generator.loaded.speculation
    assert state.pair is not None
    before = state.pair.margins.all_verified
    pair.engine.generator.learn_when_idle(StopSignal(), lambda _event: None)
    assert state.pair.margins.all_verified > before + 20
    pair.engine.stop()


def test_several_layers_hold_the_text_whatever_they_drafted(made: Made, tmp_path: Path) -> None:
    pair = Pair("three", made, tmp_path / "home")
    pair.write(FIXED)
    target, head = pair.engine.generator.loaded.decoder, pair.draft.decoder
    assert head.facts.depth == 3
    text = target.encode("A river runs to the sea, and the sea is deep and wide. It goes on.")
    count = len(text) - 2
    target.truncate(0)
    target.forward(text, range(len(text)))
    rows = target.states.rows(0, count + 1)

    def begin() -> Any:
        head.truncate(0)
        head.forward(text[1 : count + 1], [count - 1], hidden=rows[:count])
        return head.row(0)

    def go_on() -> Any:
        head.forward([text[count + 1]], [0], hidden=rows[count:])
        return head.row(0)

    first, plain = begin(), go_on()
    again = begin()
    assert np.array_equal(first, again)
    drafted: list[Any] = []
    for token in (5, 9):
        own = head.states.rows(*((count - 1, count) if not drafted else (0, 1)))
        head.forward([token], [0], hidden=own)
        drafted.append(head.row(0))
    # each by a layer of its own, over the same tokens
    assert np.abs(drafted[0] - drafted[1]).max() > 0.1
    # the last pair is read once more: only one layer holds it now
    assert head.truncate(count) == count - 1
    head.forward([text[count]], [0], hidden=rows[count - 1 : count])
    assert np.abs(head.row(0) - first).max() < 1e-3
    assert np.abs(go_on() - plain).max() < 1e-3
    target.truncate(0)
    head.truncate(0)
