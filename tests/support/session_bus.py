"""A session bus (D-Bus) of its own for programs under test."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping


@contextlib.contextmanager
def session_bus(environment: Mapping[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Its address, and the environment of programs that are to find it."""
    started = subprocess.run(
        ["dbus-daemon", "--session", "--fork", "--print-address=1", "--print-pid=1"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    address, process = started.stdout.split()
    try:
        yield address, {**environment, "DBUS_SESSION_BUS_ADDRESS": address}
    finally:
        os.kill(int(process), signal.SIGTERM)
