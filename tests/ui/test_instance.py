"""A second start finds the window that is open, and hands it what it was given."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path

import pytest
from PySide6.QtNetwork import QLocalSocket

from headstart.core.started_with import StartedWith
from headstart.ui.shell.arrivals import Arrivals
from headstart.ui.shell.instance import InstanceServer, hand_over
from tests.conftest import OpenApp, until


@pytest.mark.parametrize("runtime", ["", "short", "too long"])
async def test_what_a_second_start_was_given_arrives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runtime: str
) -> None:
    home = tmp_path / ("h" * 120 if runtime == "too long" else "home")
    home.mkdir()
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    if runtime == "short":
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    server = InstanceServer(home)
    arrived: list[StartedWith] = []
    server.arrived.connect(arrived.append)
    # the last name is no text, as on disks from before there was Unicode
    files = ("/a/ü b.headstart.json", "/c.pdf", "/caf\udce9.pdf")
    given = StartedWith(files, "/models/x.gguf", new_chat=True)
    # as another process would be told of it, wherever its own folders are
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    assert await asyncio.to_thread(hand_over, home, given)
    assert await asyncio.to_thread(hand_over, home, StartedWith())
    assert arrived == [given, StartedWith()]
    server.close()
    assert not await asyncio.to_thread(hand_over, home, given, 0.1)
    assert list(home.iterdir()) == []


async def test_only_the_user_may_enter(tmp_path: Path) -> None:
    server = InstanceServer(tmp_path)
    address = Path((tmp_path / "window-address").read_text())
    assert stat.S_IMODE(address.stat().st_mode) & 0o077 == 0
    server.close()


async def test_what_a_killed_program_left_is_in_nobodys_way(tmp_path: Path) -> None:
    first = InstanceServer(tmp_path)
    address = (tmp_path / "window-address").read_text()
    # as after a kill: the file stays, nobody listens
    first.close()
    Path(address).touch()
    (tmp_path / "window-address").write_text(address)
    assert not await asyncio.to_thread(hand_over, tmp_path, StartedWith(), 0.1)
    second = InstanceServer(tmp_path)
    assert await asyncio.to_thread(hand_over, tmp_path, StartedWith())
    second.close()


@pytest.mark.parametrize(
    "said",
    [
        b"hello\n",
        b"[]\n",
        b'{"started": {"files": 7}}\n',
        b"x" * 2**21,
        # a zero, a token and a name without an end, more files than a message has
        b'{"started": {"model": "a\\u0000b"}}\n',
        b'{"started": {}, "token": "a\\u0000b"}\n',
        b'{"started": {}, "token": "' + b"x" * 500_000 + b'"}\n',
        b'{"started": {"files": ["' + b"x" * 5_000 + b'"]}}\n',
        b'{"started": {"files": [' + b'"a",' * 90_000 + b'"a"]}}\n',
    ],
)
async def test_what_is_no_start_is_hung_up_on(tmp_path: Path, said: bytes) -> None:
    server = InstanceServer(tmp_path)
    arrived: list[StartedWith] = []
    server.arrived.connect(arrived.append)
    socket = QLocalSocket()
    socket.connectToServer((tmp_path / "window-address").read_text())
    socket.write(said)
    await until(lambda: socket.state() is QLocalSocket.LocalSocketState.UnconnectedState)
    assert not arrived
    assert await asyncio.to_thread(hand_over, tmp_path, StartedWith())
    assert arrived
    server.close()


async def test_a_further_start_brings_the_window_back_with_a_new_chat(running: OpenApp) -> None:
    async with running() as app:
        app.window.showMinimized()
        app.window.composer.set_text("half a sentence")
        arrivals = Arrivals(app.window, app.controllers, app.services.preferences)
        arrivals.arrive(StartedWith(new_chat=True))
        assert not app.window.isMinimized()
        assert app.window.isVisible()
        await until(lambda: not app.window.composer.edit.toPlainText())
