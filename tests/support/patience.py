"""One patience for all tests: what has to come is waited for, on however busy a computer.

A test that succeeds waits for the event and no longer; the limit is there so that a test which can
not succeed ends. No test has a limit of its own.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest
from PySide6.QtCore import SignalInstance
from pytestqt.qtbot import QtBot

# seconds; with it end all waits, of tests and of what they start
PATIENCE = 180.0

T = TypeVar("T")

# limits of the program after which it goes another way, not to hold its user up: how long they are
# decides what a test sees on a busy computer, so a test that is about one sets it itself
LIMITS = {
    # a request that is refused later than this gets its refusal inside a stream
    "headstart.server.answering.FIRST_SECONDS": PATIENCE,
    "headstart.server.answering.WHOLE_SECONDS": PATIENCE,
    # what is not stored by then is processed again
    "headstart.parts.WRITE_SECONDS": PATIENCE,
    "headstart.engine.local.QUIT_SECONDS": PATIENCE,
    "headstart.engine.loading.models.SWITCH_SECONDS": PATIENCE,
    "headstart.engine.loading.models.RELEASE_SECONDS": PATIENCE,
    "headstart.engine.turn.PAUSE_SECONDS": PATIENCE,
    "headstart.engine.prefill.KEEP_SECONDS": PATIENCE,
    # a check that takes longer than this is none that pays
    "headstart.engine.remote.drafting.learning._LONG": PATIENCE,
    "headstart.chat.servers.LOOK_SECONDS": PATIENCE,
}


def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the program's `LIMITS` our patience."""
    for name, seconds in LIMITS.items():
        monkeypatch.setattr(name, seconds)


def wait_for(condition: Callable[[], T], pause: float = 0.01) -> T:
    """Wait until the condition is true, with the thread asleep meanwhile; returns its value."""
    ends = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < ends, "it never came"
        time.sleep(pause)
    return value


async def until(
    condition: Callable[[], object] | Callable[[], Awaitable[object]], seconds: float = PATIENCE
) -> None:
    """Wait until the condition is true, letting the window live meanwhile. Benchmarks and faults,
    which may take hours, have other limits."""
    loop = asyncio.get_running_loop()
    ends = loop.time() + seconds
    while True:
        value = condition()
        if isinstance(value, Awaitable):
            value = await value
        if value:
            return
        assert loop.time() < ends, "it never came"
        await asyncio.sleep(0.01)


class PatientBot(QtBot):
    """pytest-qt's own waits, which end after five seconds, with our patience."""

    def waitUntil(self, callback: Callable[[], bool | None]) -> None:  # type: ignore[override]
        super().waitUntil(callback, timeout=int(PATIENCE * 1000))

    def waitSignal(self, signal: SignalInstance) -> object:  # type: ignore[override]
        return super().waitSignal(signal, timeout=int(PATIENCE * 1000))
