"""The computer stays awake while something runs, and for some seconds after it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from headstart.chat.awake import Awake
from headstart.chat.background import Background
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import Change, DownloadsChanged, ReplyEnded, ServedEnded
from headstart.core.wake_lock import HeldByProgram, command_of
from tests.support.patience import wait_for


class Lock:
    def __init__(self) -> None:
        self.held = False
        self.takes = 0
        self.threads: set[int] = set()

    def take(self) -> None:
        self.threads.add(threading.get_ident())
        self.held, self.takes = True, self.takes + 1

    def drop(self) -> None:
        self.threads.add(threading.get_ident())
        self.held = False


class Later(Background):
    """Timers that the test lets pass."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[Later.One] = []

    class One:
        def __init__(self, act: Callable[[], object]) -> None:
            self.act, self.cancelled = act, False

        def cancel(self) -> None:
            self.cancelled = True

    def later(self, seconds: float, act: Callable[[], object]) -> One:
        self.waiting.append(Later.One(act))
        return self.waiting[-1]

    def pass_by(self) -> None:
        waiting, self.waiting = self.waiting, []
        for one in waiting:
            if not one.cancelled:
                one.act()


class World:
    def __init__(self) -> None:
        self.lock, self.broadcast, self.background = Lock(), Broadcast(), Later()
        self.works = False
        self.awake = Awake(self.lock, lambda: self.works, self.broadcast, self.background)


@pytest.mark.parametrize(
    "change",
    [ReplyEnded("c", "m"), ServedEnded(), DownloadsChanged(())],
    ids=lambda one: type(one).__name__,
)
def test_it_is_held_until_some_seconds_after_the_end(change: Change) -> None:
    world = World()
    world.broadcast.tell(change)
    assert not world.lock.held
    world.works = True
    world.broadcast.tell(change)
    world.broadcast.tell(change)
    wait_for(lambda: world.lock.held)
    world.works = False
    world.broadcast.tell(change)
    world.background.pass_by()
    wait_for(lambda: not world.lock.held)
    assert world.lock.takes == 1
    # the loop's own thread never waits for it, and one thread has it, as Windows needs
    assert len(world.lock.threads) == 1
    assert threading.get_ident() not in world.lock.threads


def test_it_is_held_while_the_last_seconds_pass() -> None:
    world = World()
    world.works = True
    world.awake.look()
    wait_for(lambda: world.lock.held)
    world.works = False
    world.awake.look()
    assert len(world.background.waiting) == 1
    assert world.lock.held


def test_the_next_step_keeps_it() -> None:
    world = World()
    world.works = True
    world.awake.look()
    world.works = False
    world.awake.look()
    world.works = True
    world.awake.look()
    world.background.pass_by()
    world.awake.close()
    wait_for(lambda: not world.lock.held and world.lock.takes == 1)


def test_it_is_dropped_at_the_end_of_the_program_and_stays_so() -> None:
    world = World()
    world.works = True
    world.awake.look()
    wait_for(lambda: world.lock.held)
    world.background.closing = True
    world.awake.close()
    # a reply that is stopped by the end tells so
    world.broadcast.tell(ReplyEnded("c", "m"))
    wait_for(lambda: not world.lock.held)
    assert world.lock.takes == 1


@pytest.mark.logs("the lock that keeps this computer awake failed")
def test_a_lock_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    world.works = True

    def broken() -> None:
        raise RuntimeError("no such call")

    world.lock.take = broken  # type: ignore[method-assign]
    world.awake.look()
    wait_for(lambda: "no such call" in caplog.text)


def test_each_system_has_its_own_way() -> None:
    assert command_of("darwin", 7, "why") == ["caffeinate", "-i", "-w", "7"]
    linux = command_of("linux", 7, "why")
    assert linux is not None
    assert linux[0] == "systemd-inhibit"
    assert linux[-1] == "cat"
    # Windows has a call
    assert command_of("win32", 7, "why") is None


@pytest.mark.skipif(os.name != "posix", reason="a call on Windows")
def test_a_program_holds_it_until_it_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "holder"
    program.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec cat\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    lock = HeldByProgram(["holder"])
    lock.take()
    lock.take()
    wait_for(lambda: (tmp_path / "pid").exists() and bool((tmp_path / "pid").read_text().strip()))
    process = int((tmp_path / "pid").read_text())
    os.kill(process, 0)
    lock.drop()
    lock.drop()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    # one that is not there is no problem
    HeldByProgram(["no-such-holder"]).take()


@pytest.mark.skipif(os.name != "posix", reason="a call on Windows")
def test_it_ends_with_a_killed_program(tmp_path: Path) -> None:
    program = tmp_path / "holder"
    program.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec cat\n")
    program.chmod(0o755)
    code = (
        "import time; from headstart.core.wake_lock import HeldByProgram;"
        "HeldByProgram(['holder']).take(); time.sleep(60)"
    )
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    owner = subprocess.Popen([sys.executable, "-c", code], env=environment)
    wait_for(lambda: (tmp_path / "pid").exists() and bool((tmp_path / "pid").read_text().strip()))
    process = int((tmp_path / "pid").read_text())
    owner.send_signal(signal.SIGKILL)
    owner.wait()

    def gone() -> bool:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
        return False

    wait_for(gone)
