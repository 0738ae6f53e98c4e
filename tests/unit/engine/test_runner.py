"""The engine thread: order, stops, and that every stream ends. The generator is a fake here."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator

import pytest

from headstart.core.chats.values import FinishReason, TurnStats
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import (
    Emit,
    Failed,
    Finished,
    GenerationEvent,
    InMemory,
    Loaded,
    Waiting,
)
from headstart.core.models.ref import ModelRef
from headstart.core.requests import AheadRequest, CountRequest, GenerationRequest, LoadRequest
from headstart.core.settings.schema import Sampling
from headstart.core.told import told
from headstart.engine.runner import LONG_SECONDS, STOP_SECONDS, Runner
from headstart.engine.stop import StopSignal
from headstart.engine.stream import Stream
from tests.support.fake_generator import FakeGenerator
from tests.support.patience import PATIENCE, until, wait_for

FIGURES = TurnStats(FinishReason.END, 1, 0, 0.0, 0.0, 1, 0.0)


@pytest.fixture
def fake() -> FakeGenerator:
    return FakeGenerator()


def _request(model: ModelRef, name: str) -> GenerationRequest:
    return GenerationRequest(LoadRequest(model), (), Sampling(), chat_id=name)


async def _all(stream: Stream) -> list[GenerationEvent]:
    return [event async for event in stream]


async def test_requests_run_in_order_and_before_warm_ups(
    fake: FakeGenerator, starter: ModelRef
) -> None:
    def blocked(emit: Emit, cancel: StopSignal) -> None:
        fake.gate.wait(PATIENCE)
        emit(Finished(FIGURES))

    fake.plays = {"a": blocked, "b": lambda emit, cancel: emit(Finished(FIGURES))}
    runner = Runner(lambda: fake)
    first = runner.stream(_request(starter, "a"))
    warm = runner.preload(LoadRequest(starter))
    second = runner.stream(_request(starter, "b"))
    fake.gate.set()
    events = await asyncio.gather(_all(first), _all(warm), _all(second))
    assert fake.order == ["a", "b", "warm"]
    assert [type(found[-1]) for found in events] == [Finished, Loaded, Finished]
    assert len(fake.threads) == 1
    assert threading.get_ident() not in fake.threads
    await asyncio.to_thread(runner.close)
    assert fake.closed


async def test_a_request_cancelled_while_it_waits_never_starts(
    fake: FakeGenerator, starter: ModelRef
) -> None:
    def blocked(emit: Emit, cancel: StopSignal) -> None:
        fake.gate.wait(PATIENCE)
        emit(Finished(FIGURES))

    fake.plays = {"a": blocked, "b": blocked}
    runner = Runner(lambda: fake)
    first = runner.stream(_request(starter, "a"))
    second = runner.stream(_request(starter, "b"))
    second.cancel()
    # at once, not when the first is through
    (last,) = await _all(second)
    fake.gate.set()
    await _all(first)
    assert isinstance(last, Finished)
    assert last.stats.finish is FinishReason.CANCELLED
    assert fake.order == ["a"]
    await asyncio.to_thread(runner.close)


async def test_problems_and_bugs_end_the_stream_and_the_next_request_runs(
    fake: FakeGenerator, starter: ModelRef, caplog: pytest.LogCaptureFixture
) -> None:
    def problem(emit: Emit, cancel: StopSignal) -> None:
        raise EnvironmentProblem("as-written", message="The disk is gone.", remedy="Find it.")

    def bug(emit: Emit, cancel: StopSignal) -> None:
        raise ZeroDivisionError("oops")

    fake.plays = {
        "problem": problem,
        "bug": bug,
        "fine": lambda emit, cancel: emit(Finished(FIGURES)),
    }
    runner = Runner(lambda: fake)
    with caplog.at_level(logging.CRITICAL, logger="headstart"):
        (first,) = await _all(runner.stream(_request(starter, "problem")))
        (second,) = await _all(runner.stream(_request(starter, "bug")))
    assert first == Failed(told("as-written", message="The disk is gone.", remedy="Find it."))
    assert isinstance(second, Failed)
    assert second.bug
    assert "ZeroDivisionError: oops" in second.told.message
    assert await _all(runner.stream(_request(starter, "fine"))) == [Finished(FIGURES)]
    await asyncio.to_thread(runner.close)


async def test_close_cancels_what_runs(fake: FakeGenerator, starter: ModelRef) -> None:
    running = threading.Event()

    def until_cancelled(emit: Emit, cancel: StopSignal) -> None:
        running.set()
        cancel.set_abort(fake.gate.set)
        assert fake.gate.wait(PATIENCE)
        emit(Finished(FIGURES))

    fake.plays = {"a": until_cancelled}
    runner = Runner(lambda: fake)
    stream: AsyncIterator[GenerationEvent] = runner.stream(_request(starter, "a")).__aiter__()
    assert await asyncio.to_thread(running.wait, PATIENCE)
    await asyncio.to_thread(runner.close)
    assert await anext(stream) == Finished(FIGURES)
    assert fake.closed


async def test_a_job_that_comes_after_the_end_ends_at_once(
    fake: FakeGenerator, starter: ModelRef
) -> None:
    runner = Runner(lambda: fake)
    await asyncio.to_thread(runner.close)
    (last,) = await _all(runner.stream(_request(starter, "a")))
    assert isinstance(last, Finished)
    assert fake.order == []


def _ahead(model: ModelRef, name: str) -> AheadRequest:
    return AheadRequest(LoadRequest(model), (), name)


async def test_reading_ahead_gives_way_to_a_request_at_once(
    fake: FakeGenerator, starter: ModelRef
) -> None:
    reading = threading.Event()

    def until_cancelled(emit: Emit, cancel: StopSignal) -> None:
        cancel.set_abort(fake.gate.set)
        reading.set()
        assert fake.gate.wait(PATIENCE)

    fake.plays = {
        "ahead a": until_cancelled,
        "b": lambda emit, cancel: emit(Finished(FIGURES)),
    }
    runner = Runner(lambda: fake)
    ahead = runner.ahead(_ahead(starter, "a"))
    assert await asyncio.to_thread(reading.wait, PATIENCE)
    assert await _all(runner.stream(_request(starter, "b"))) == [Finished(FIGURES)]
    assert await _all(ahead) == []
    assert fake.order == ["ahead a", "b"]
    await asyncio.to_thread(runner.close)


@pytest.mark.parametrize("hurried", [False, True])
async def test_only_a_count_that_a_reply_waits_for_ends_work_ahead(
    fake: FakeGenerator, starter: ModelRef, hurried: bool
) -> None:
    began, counting = threading.Event(), threading.Event()
    stopped: list[bool] = []

    def read(_emit: Emit, cancel: StopSignal) -> None:
        began.set()
        counting.wait(PATIENCE)
        if hurried:
            wait_for(lambda: cancel.stopped)
        stopped.append(cancel.stopped)

    fake.plays = {"ahead a": read}
    runner = Runner(lambda: fake)
    ahead = runner.ahead(_ahead(starter, "a"))
    await asyncio.to_thread(began.wait, PATIENCE)
    count = runner.count(CountRequest(LoadRequest(starter), ("text",)), hurried)
    counting.set()
    await asyncio.gather(_all(ahead), _all(count))
    assert stopped == [hurried]
    assert fake.order == ["ahead a", "count"]
    await asyncio.to_thread(runner.close)


async def test_what_is_done_in_times_of_rest_gives_way_too_and_goes_on_later(
    fake: FakeGenerator, starter: ModelRef
) -> None:
    rested, done = threading.Event(), threading.Event()

    def rest(cancel: StopSignal) -> float | None:
        if fake.order == ["a"]:
            fake.gate.clear()
            cancel.set_abort(fake.gate.set)
            rested.set()
            assert fake.gate.wait(PATIENCE)
            return 0.0
        done.set()
        return None

    fake.plays = {name: lambda emit, cancel: emit(Finished(FIGURES)) for name in "ab"}
    fake.idle_stop = rest
    runner = Runner(lambda: fake)
    await _all(runner.stream(_request(starter, "a")))
    assert await asyncio.to_thread(rested.wait, PATIENCE)
    assert await _all(runner.stream(_request(starter, "b"))) == [Finished(FIGURES)]
    assert await asyncio.to_thread(done.wait, PATIENCE)
    assert fake.order == ["a", "b"]
    await asyncio.to_thread(runner.close)
    assert fake.closed


async def test_rest_comes_again_after_the_time_it_asked_for(
    fake: FakeGenerator, starter: ModelRef
) -> None:
    again = threading.Event()

    def rest(_cancel: StopSignal) -> float | None:
        if fake.rests == 2:
            again.set()
            return None
        return 0.01

    fake.plays = {"a": lambda emit, cancel: emit(Finished(FIGURES))}
    fake.idle_stop = rest
    runner = Runner(lambda: fake)
    await _all(runner.stream(_request(starter, "a")))
    assert await asyncio.to_thread(again.wait, PATIENCE)
    await asyncio.to_thread(runner.close)


@pytest.mark.logs("the engine does not answer")
async def test_an_engine_that_does_not_let_go_is_started_again(starter: ModelRef) -> None:
    made: list[FakeGenerator] = []
    back = threading.Event()

    def make() -> FakeGenerator:
        fake = FakeGenerator()
        fake.plays["hangs"] = lambda emit, stop: _hang(emit, back)
        fake.plays["b"] = _answer
        made.append(fake)
        return fake

    runner = Runner(make)
    heard: list[GenerationEvent] = []
    runner.on_idle(heard.append)
    hung = runner.stream(_request(starter, "hangs"))
    waiting = runner.stream(_request(starter, "b"))
    await anext(aiter(hung))
    now = time.monotonic()
    assert not runner.stuck(now + STOP_SECONDS + 1)
    assert runner.stuck(now + LONG_SECONDS + 1)
    hung.cancel()
    assert not runner.stuck(time.monotonic())
    assert runner.stuck(time.monotonic() + STOP_SECONDS + 1)
    runner.restart()
    events = [event async for event in hung]
    assert isinstance(events[-1], Failed)
    assert events[-1].told.code == "engine-restarted"
    # what waited is answered by the new engine
    assert isinstance([event async for event in waiting][-1], Finished)
    assert [fake.order for fake in made] == [["hangs"], ["b"]]
    assert any(isinstance(event, InMemory) for event in heard)
    assert not runner.stuck(time.monotonic() + 1)
    # the old one frees what it has as soon as it can
    back.set()
    await until(lambda: made[0].closed)
    assert not made[1].closed
    await asyncio.to_thread(runner.close)
    assert made[1].closed


async def test_work_that_cannot_be_cut_off_gets_its_time(starter: ModelRef) -> None:
    back, fake = threading.Event(), FakeGenerator()

    def encode(emit: Emit, stop: StopSignal) -> None:
        with stop.patiently():
            _hang(emit, back)
        emit(Finished(FIGURES))

    fake.plays["image"] = encode
    runner = Runner(lambda: fake)
    stream = runner.stream(_request(starter, "image"))
    await anext(aiter(stream))
    stream.cancel()
    assert not runner.stuck(time.monotonic() + STOP_SECONDS + 1)
    assert runner.stuck(time.monotonic() + LONG_SECONDS + 1)
    back.set()
    assert [event async for event in stream]
    await asyncio.to_thread(runner.close)


@pytest.mark.logs("the engine")
async def test_an_engine_whose_thread_ended_is_noticed(starter: ModelRef) -> None:
    class Ends(BaseException):
        pass

    def end(emit: Emit, stop: StopSignal) -> None:
        raise Ends

    before, threading.excepthook = threading.excepthook, lambda _args: None
    try:
        fake = FakeGenerator()
        fake.plays["ends"], fake.plays["b"] = end, _answer
        runner = Runner(lambda: fake)
        stream = runner.stream(_request(starter, "ends"))
        assert [type(event) for event in await _all(stream)] == [Failed]
        await until(lambda: runner.stuck(time.monotonic()))
    finally:
        threading.excepthook = before
    runner.restart()
    assert isinstance(
        [event async for event in runner.stream(_request(starter, "b"))][-1], Finished
    )
    await asyncio.to_thread(runner.close)


def _hang(emit: Emit, back: threading.Event) -> None:
    emit(Waiting())
    back.wait(PATIENCE)


def _answer(emit: Emit, _stop: StopSignal) -> None:
    emit(Finished(FIGURES))
