"""Served turns of every cache family: what sessions share, and turns that give way, engine only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from headstart.core.events import Finished, GenerationEvent, Loading, TextAdded
from headstart.core.models.ref import ModelRef
from headstart.core.requests import GenerationRequest, PromptMessage
from headstart.core.settings.schema import Sampling
from headstart.engine.generator import GaveWay
from headstart.engine.prefix import speeds
from headstart.engine.prefix.speeds import PrefixSpeeds
from headstart.engine.stop import StopSignal
from headstart.hub.library import open_model
from tests.models.tiny import FAMILIES, make_tiny
from tests.support.prefix_engine import PrefixEngine, prose, system, user

pytestmark = pytest.mark.usefixtures("unhurried")


@pytest.fixture(autouse=True)
def reading_is_dear(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiny models read faster than a file is opened; here everything kept comes back."""
    monkeypatch.setattr(speeds, "load", lambda *_: PrefixSpeeds(token_seconds=10.0))
    monkeypatch.setattr(PrefixSpeeds, "observe_prefill", lambda *_: None)


def session(engine: PrefixEngine, name: str) -> str:
    """A session's id, with the row that its records refer to."""
    found = f"server:{name}"
    engine.storage.submit(lambda store: store.sessions.use(found, "agent")).result()
    return found


def begin(family: str, starter: ModelRef, folder: Path) -> PrefixEngine:
    path = make_tiny(family, starter.path, folder / "model.gguf")
    return PrefixEngine(folder, open_model(path))


@pytest.mark.parametrize("family", list(FAMILIES))
def test_a_new_session_begins_where_an_old_one_did(
    family: str, starter: ModelRef, tmp_path: Path
) -> None:
    engine = begin(family, starter, tmp_path)
    rules = system(prose(700, 1))
    for number, name in enumerate("abc"):
        if number == 2:
            engine.restart()
        asked = [rules, user(f"{name}: {prose(20, number)}")]
        found = engine.ask(session(engine, name), asked, served=True)
        whole = found.stats.prompt_tokens
        # the question and the template's words around it
        assert (whole - found.reused < 80) == bool(number), (number, whole, found.reused)
    engine.stop()


@pytest.mark.parametrize("family", list(FAMILIES))
def test_a_line_that_changes_costs_what_comes_after_it(
    family: str, starter: ModelRef, tmp_path: Path
) -> None:
    engine = begin(family, starter, tmp_path)
    reused = []
    for day in range(4):
        rules = system(f"{prose(500, 1)} Today is day {day}. {prose(200, 2)}")
        found = engine.ask(session(engine, str(day)), [rules, user("Hello.")], served=True)
        reused.append(found.reused)
    # one session shows the beginning that two share; the next ones begin there
    assert min(reused[2:]) >= 256, reused
    engine.stop()


def run(
    engine: PrefixEngine, request: GenerationRequest, pauses: Sequence[int]
) -> tuple[str, Finished, int]:
    """A served turn that gives way after these numbers of tokens, each time to another chat."""
    events: list[GenerationEvent] = []
    left, given = list(pauses), 0
    while True:
        stop = StopSignal()

        def emit(event: GenerationEvent, stop: StopSignal = stop) -> None:
            events.append(event)
            if left and isinstance(event, TextAdded) and event.tokens >= left[0]:
                left.pop(0)
                stop.give_way()

        try:
            engine.generator.generate(request, emit, stop)
            break
        except GaveWay:
            given += 1
            engine.ask("c", [user(f"Another question {given}: {prose(40, given)}")])
    last = events[-1]
    assert isinstance(last, Finished)
    pieces = [one for event in events if isinstance(event, TextAdded) for one in event.pieces]
    return "".join(piece.text for piece in pieces), last, given


@pytest.mark.parametrize("family", list(FAMILIES))
def test_a_turn_that_gives_way_writes_the_same(
    family: str, starter: ModelRef, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # an event for each token
    monkeypatch.setattr("headstart.engine.reply_emitter.EMIT_SECONDS", 0.0)
    engine = begin(family, starter, tmp_path)
    engine.chat("c")
    messages: list[PromptMessage] = [system(prose(300, 1)), user("Tell me more.")]
    name = session(engine, "a")
    sampling = Sampling(temperature=0.8, seed=3, max_tokens=60)
    whole = engine.request(name, messages, served=True, reply_key="one", sampling=sampling)
    text, plain, _ = run(engine, whole, ())
    parts = engine.request(name, messages, served=True, reply_key="two", sampling=sampling)
    again, paused, given = run(engine, parts, (1, 13, 40))
    assert given == 3
    assert again == text
    assert paused.stats.generated_tokens == plain.stats.generated_tokens
    assert paused.stats.prompt_tokens == plain.stats.prompt_tokens
    engine.stop()


def test_a_turn_gives_way_while_its_model_loads(starter: ModelRef, tmp_path: Path) -> None:
    engine = begin("llama", starter, tmp_path)
    name = session(engine, "a")
    request = engine.request(name, [user("Hello.")], served=True, reply_key="one")
    events: list[GenerationEvent] = []
    stop = StopSignal()

    def emit(event: GenerationEvent) -> None:
        events.append(event)
        if isinstance(event, Loading):
            stop.give_way()

    with pytest.raises(GaveWay):
        engine.generator.generate(request, emit, stop)
    assert not any(isinstance(event, Finished | TextAdded) for event in events)
    stop.gave_way()
    engine.generator.generate(request, events.append, stop)
    assert isinstance(events[-1], Finished)
    assert events[-1].stats.generated_tokens == 8
    engine.stop()


@pytest.mark.parametrize("family", list(FAMILIES))
def test_a_document_keeps_nothing_of_the_questions_to_it(
    family: str, starter: ModelRef, tmp_path: Path
) -> None:
    """The records of a document are those of its own words, whatever it was asked, also after a
    stop in the middle; each question begins from them."""
    engine = begin(family, starter, tmp_path)
    owner = "document:ab:cd"
    engine.storage.submit(lambda store: store.sessions.use(owner, "report.pdf")).result()
    text = system(prose(600, 1))
    kept: list[set[tuple[int, bytes]]] = []
    for number in range(3):
        words = f"secret {number} {prose(30, number + 2)}"
        found = engine.ask(owner, [text, user(words)], 12, served=True, beginning_only=True)
        assert (found.stats.prompt_tokens - found.reused < 90) == bool(number)
        # another chat is next: what the document may have is saved
        engine.ask(engine.chat(f"{number}" * 32), [user("Hello.")])
        engine.leave()
        records = engine.storage.submit(lambda store: store.prefixes.load()).result()
        mine = {key for chat, key in records.uses if chat == owner}
        kept.append({(one.end, one.key) for one in records.records if one.key in mine})
        if number == 1:
            engine.restart()
    assert kept[0]
    assert kept[0] == kept[1] == kept[2]
    assert max(end for end, _ in kept[0]) < found.stats.prompt_tokens
    traces = engine.storage.submit(lambda store: store.prefixes.load_trace(owner)).result()
    tokens = engine.storage.submit(lambda store: store.prefixes.load_reply_tokens(owner)).result()
    assert traces is None
    assert tokens == []
    engine.stop()
