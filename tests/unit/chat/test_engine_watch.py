"""An engine that is stuck is started again, once, and not for what the computer slept through."""

from __future__ import annotations

import pytest

from headstart.chat.answering.engine_watch import PERIOD, EngineWatch
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import Trouble
from headstart.engine.runner import STOP_SECONDS, Runner
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
