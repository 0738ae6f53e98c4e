"""A screen in memory with a window manager, and a user's hands: Xvfb, openbox and xdotool."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping

from tests.support.patience import PATIENCE

TOOLS = ("Xvfb", "openbox", "xdotool", "gio")


def missing_tools() -> list[str]:
    return [tool for tool in TOOLS if shutil.which(tool) is None]


class Screen:
    """`environment`: what programs on it are started with."""

    def __init__(self, number: str, environment: Mapping[str, str]) -> None:
        self.environment = {**environment, "DISPLAY": number}
        for name in ("WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
            self.environment.pop(name, None)

    def do(self, *command: str) -> str:
        done = subprocess.run(
            command,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return done.stdout.strip()

    def begin(self, *command: str) -> None:
        """Start what stays open."""
        quiet = subprocess.DEVNULL
        subprocess.run(
            command, env=self.environment, stdout=quiet, stderr=quiet, timeout=PATIENCE, check=True
        )

    def windows(self, name: str) -> list[str]:
        """Ids of the visible windows whose titles this regular expression is found in."""
        return self.do("xdotool", "search", "--onlyvisible", "--name", name).split()

    def press(self, *keys: str) -> None:
        self.do("xdotool", "key", "--delay", "60", *keys)

    def write(self, text: str) -> None:
        self.do("xdotool", "type", "--delay", "15", text)

    def to_front(self, window: str) -> None:
        self.do("xdotool", "windowactivate", "--sync", window)


@contextlib.contextmanager
def screen(environment: Mapping[str, str], size: str = "1400x900x24") -> Iterator[Screen]:
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", size, "-nolisten", "tcp"],
        pass_fds=[write],
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    with os.fdopen(read) as said:
        number = f":{said.readline().strip()}"
    shown = Screen(number, environment)
    manager = subprocess.Popen(
        ["openbox"], env=shown.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield shown
    finally:
        for process in (manager, server):
            process.terminate()
            process.wait(PATIENCE)
