"""Tests need nothing but what the set-up installed: collections start no program and ask no other
computer, and no test starts a client of a package index."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import patch

CLIENTS = {"pip", "pip3", "npm", "npx", "uv", "uvx", "curl", "wget", "apt-get", "cargo"}


class NotFromTheSetUp(Exception):
    """Something would be fetched or built, which tests wait for unseen."""


def _refuse(self: object, *args: Any, **_more: Any) -> NoReturn:
    raise NotFromTheSetUp(f"while collecting: {args[:1]}")


@contextmanager
def nothing_starts() -> Iterator[None]:
    """Within it, a child process or a connection is a NotFromTheSetUp."""
    with (
        patch.object(subprocess.Popen, "__init__", _refuse),
        patch.object(socket.socket, "connect", _refuse),
    ):
        yield


def _is_client(command: object) -> bool:
    words = [command] if isinstance(command, str | bytes | os.PathLike) else command
    names = [os.fsdecode(one) for one in words if isinstance(one, str | bytes | os.PathLike)]  # type: ignore[attr-defined]
    return bool(names) and (Path(names[0]).name in CLIENTS or names[1:3] == ["-m", "pip"])


@contextmanager
def no_clients() -> Iterator[None]:
    """Within it, a command of `CLIENTS`, or pip as a module, is a NotFromTheSetUp."""
    begin: Callable[..., None] = subprocess.Popen.__init__

    def begin_others(self: object, args: Any, *more: Any, **options: Any) -> None:
        if _is_client(args):
            raise NotFromTheSetUp(f"in a test: {args}")
        begin(self, args, *more, **options)

    with patch.object(subprocess.Popen, "__init__", begin_others):
        yield
