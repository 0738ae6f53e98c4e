"""The stop signal."""

from __future__ import annotations

from headstart.engine.stop import NEVER, StopSignal
from tests.support.fake_decoder import Clock


def test_a_signal_stops_when_it_is_told() -> None:
    signal = StopSignal()
    assert not signal.stopped
    signal.stop()
    assert signal.stopped
    assert not NEVER.stopped


def test_a_deadline_stops_by_itself() -> None:
    assert StopSignal(-1).stopped
    clock = Clock()
    signal, part = StopSignal(10, clock), StopSignal(None, clock).within(20)
    clock.now = 9.9
    assert not signal.stopped
    clock.now = 10.1
    assert (signal.stopped, part.stopped) == (True, False)
    clock.now = 20.1
    assert part.stopped


def test_a_part_of_the_time_ends_with_the_whole() -> None:
    whole = StopSignal()
    part = whole.within(60)
    assert not part.stopped
    whole.stop()
    assert part.stopped
    assert StopSignal().within(-1).stopped


def test_native_work_is_aborted_even_if_the_stop_came_first() -> None:
    calls: list[str] = []
    signal = StopSignal()
    with signal.aborting(lambda: calls.append("during")):
        signal.stop()
    signal.stop()
    with signal.aborting(lambda: calls.append("after")):
        pass
    assert calls == ["during", "after"]


def test_a_stop_aborts_native_work_that_had_a_part_of_the_time() -> None:
    calls: list[str] = []
    whole = StopSignal()
    part = whole.within(60)
    part.set_abort(lambda: calls.append("aborted"))
    whole.stop()
    assert calls == ["aborted"]
    late = StopSignal(-1)
    late.set_abort(lambda: calls.append("late"))
    assert calls == ["aborted", "late"]
