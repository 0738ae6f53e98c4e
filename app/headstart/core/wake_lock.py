"""Keeps the computer from sleeping by itself while something runs that nobody watches.

Windows is told by a call, the other systems by a program of theirs that holds the lock while it
runs, and ends with this process. Where neither is there, the computer sleeps as it always does.
"""

from __future__ import annotations

import ctypes
import logging
import os
import shutil
import subprocess
import sys
from typing import Protocol

log = logging.getLogger(__name__)

# of SetThreadExecutionState: until the next call; the system stays on, the screen need not
_CONTINUOUS, _SYSTEM_REQUIRED = 0x80000000, 0x00000001


class WakeLock(Protocol):
    def take(self) -> None: ...

    def drop(self) -> None: ...


def command_of(platform: str, process: int, why: str) -> list[str] | None:
    """The program that holds the lock on a system; None if it needs none, or has none."""
    if platform == "darwin":
        return ["caffeinate", "-i", "-w", str(process)]
    if platform.startswith("linux"):
        # it ends when its input does, also after a kill of this process
        return [
            "systemd-inhibit",
            "--what=sleep:idle",
            "--mode=block",
            "--who=Headstart",
            f"--why={why}",
            "cat",
        ]
    return None


class HeldByProgram:
    """The lock of a child process. Both verbs may wait for the child, on one thread at a
    time."""

    def __init__(self, command: list[str]) -> None:
        self._command = command
        self._child: subprocess.Popen[bytes] | None = None

    def take(self) -> None:
        if self._child is not None and self._child.poll() is None:
            return
        path = shutil.which(self._command[0])
        if path is None:
            return
        try:
            self._child = subprocess.Popen(
                [path, *self._command[1:]],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            log.info("nothing keeps this computer awake: %s", error.strerror)

    def drop(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        if child.stdin is not None:
            child.stdin.close()
        child.terminate()
        try:
            child.wait(2)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


class HeldByCall:
    """The lock of Windows, which belongs to the thread that takes it."""

    def take(self) -> None:
        self._set(_CONTINUOUS | _SYSTEM_REQUIRED)

    def drop(self) -> None:
        self._set(_CONTINUOUS)

    @staticmethod
    def _set(state: int) -> None:
        if sys.platform == "win32":
            ctypes.windll.kernel32.SetThreadExecutionState(ctypes.c_uint(state))


def make_wake_lock(why: str) -> WakeLock:
    """The lock of this computer; `why` is shown to who asks what keeps it awake."""
    command = command_of(sys.platform, os.getpid(), why)
    return HeldByCall() if command is None else HeldByProgram(command)
