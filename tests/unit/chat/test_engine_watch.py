"""An engine that is stuck is started again, once, and not for what the computer slept through."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from headstart.chat.answering.engine_watch import PERIOD, REST, EngineWatch
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import Trouble
from headstart.engine.runner import STOP_SECONDS, Runner
from tests.conftest import until
from tests.support.fake_generator import FakeGenerator


class _StuckRunner(Runner):
    """Says what it is told to say."""

    def __init__(self) -> None:
        super().__init__(FakeGenerator)
        self.is_stuck = False
        self.restarts = 0

    def stuck(self, now: float) -> bool:
        return self.is_stuck

    def restart(self) -> None:
        self.is_stuck = False
        self.restarts += 1


@pytest.fixture
def told() -> list[str]:
    return []


async def test_a_stuck_engine_is_restarted_and_that_is_told(told: list[str]) -> None:
    now = [100.0]
    runner, broadcast = _StuckRunner(), Broadcast()
    broadcast.on(Trouble, lambda change: told.append(change.told.code))
    watch = EngineWatch(runner, broadcast, lambda: now[0])
    for _ in range(3):
        now[0] += PERIOD
        watch.look()
    assert runner.restarts == 0
    runner.is_stuck = True
    for _ in range(3):
        now[0] += PERIOD
        watch.look()
    assert runner.restarts == 1
    assert told == ["engine-restarted"]
    runner.close()


async def test_what_was_slept_through_counts_for_nothing(told: list[str]) -> None:
    now = [100.0]
    runner = _StuckRunner()
    watch = EngineWatch(runner, Broadcast(), lambda: now[0])
    now[0] += 8 * 3600
    woken = now[0]
    runner.is_stuck = True
    while now[0] < woken + STOP_SECONDS:
        watch.look()
        assert runner.restarts == 0
        now[0] += PERIOD
    watch.look()
    assert runner.restarts == 1
    runner.close()


async def test_an_engine_with_nothing_to_do_is_looked_at_rarely(told: list[str]) -> None:
    now = [100.0]
    runner = _StuckRunner()
    watch = EngineWatch(runner, Broadcast(), lambda: now[0])
    loop, due = asyncio.get_running_loop(), []

    def note(seconds: float, *wanted: Any, **more: Any) -> asyncio.TimerHandle:
        if seconds in (PERIOD, REST):
            due.append(seconds)
        return later(seconds, *wanted, **more)

    later, loop.call_later = loop.call_later, note  # type: ignore[method-assign, assignment]
    try:
        await until(lambda: not runner.busy)
        watch.begin()
        assert due == [REST]
        # whoever asks has it looked at sooner, once
        now[0] += 10
        for _ in range(2):
            async for _event in runner.release(()):
                pass
        assert due == [REST, PERIOD]
        # the long pause was no sleep
        now[0] += PERIOD
        runner.is_stuck = True
        watch.look()
        assert runner.restarts == 1
    finally:
        loop.call_later = later  # type: ignore[method-assign]
        watch.close()
        runner.close()
