"""A start right after an end: the program that ends is waited for, and one window is open then."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headstart.core.started_with import StartedWith
from headstart.home import Home
from headstart.ui.shell import instance
from tests.support.patience import PATIENCE
from tests.support.sampled import sampled

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM")


def start(home: Home) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "headstart", "--home", str(home.path)]
    return subprocess.Popen(command, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})


def address(home: Home) -> str:
    try:
        return Path(home.path, "window-address").read_text(encoding="utf-8")
    except OSError:
        return ""


def wait_for_window(home: Home, program: subprocess.Popen[bytes]) -> None:
    """Wait until this program's window takes further starts."""
    ends = time.monotonic() + PATIENCE
    while not (address(home) and instance.hand_over(home.path, StartedWith())):
        assert program.poll() is None, "it ended"
        assert time.monotonic() < ends, "no window came"
        time.sleep(0.02)


@pytest.mark.parametrize("seed", sampled(range(50), 0, 1, 2))
def test_a_start_after_an_end_opens_a_window(home: Home, seed: int) -> None:
    draw = random.Random(seed)
    first = start(home)
    second = None
    try:
        wait_for_window(home, first)
        first.send_signal(signal.SIGTERM)
        time.sleep(draw.choice((0.0, draw.uniform(0, 0.05), draw.uniform(0, 1.2))))
        second = start(home)
        assert first.wait(PATIENCE) == 0
        wait_for_window(home, second)
        second.send_signal(signal.SIGTERM)
        assert second.wait(PATIENCE) == 0
    finally:
        for one in (first, second):
            if one is not None:
                one.kill()
                one.wait()
