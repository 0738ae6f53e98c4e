"""Connections that say nothing, too little or nothing of use: the server ends them, and none of
them shuts out a program with the key or takes the files of the window."""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import keyring
import psutil
import pytest

from headstart.server.thread import MOST_CONNECTIONS
from tests.conftest import OpenApp
from tests.support.keyrings import MemoryKeyring
from tests.support.program import Plain, beside, free_port, opened

HELLO: Any = {"messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 2}
# seconds for what must come at last; nothing is measured by it
PATIENCE = 60


@pytest.fixture(autouse=True)
def kept_keys() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    yield
    keyring.set_keyring(before)


@contextmanager
def idle(port: int, count: int, first: bytes = b"") -> Iterator[list[socket.socket]]:
    """So many connections; each has sent `first`."""
    found: list[socket.socket] = []
    try:
        for _ in range(count):
            found.append(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))
            if first:
                found[-1].sendall(first)
        yield found
    finally:
        for one in found:
            one.close()


def still_open(connections: list[socket.socket]) -> int:
    """The number of connections that the server has not closed."""
    count = 0
    for one in connections:
        one.setblocking(False)
        try:
            count += one.recv(1) != b""
        except BlockingIOError:
            count += 1
        except OSError:
            pass
    return count


def ends(connection: socket.socket) -> bytes:
    """All that the server sends before it closes the connection."""
    connection.settimeout(PATIENCE)
    found = b""
    try:
        while data := connection.recv(4096):
            found += data
    except ConnectionResetError:
        pass
    return found


@pytest.mark.parametrize("first", [b"", b"GET /v1/models HTTP/1.1\r\nhost: 127.0.0.1\r\nx: "])
async def test_a_program_with_the_key_is_served_whatever_else_is_open(
    running: OpenApp, first: bytes
) -> None:
    async with running() as app:
        port, key = await opened(app)
        program = Plain(port, key)

        def ask() -> int:
            kept = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            given = {"authorization": f"Bearer {key}"}
            kept.request("GET", "/v1/models", headers=given)
            assert kept.getresponse().read()
            before = kept.sock
            with idle(port, MOST_CONNECTIONS + 150, first) as strangers:
                assert program.post("/v1/chat/completions", HELLO)[0] == 200
                # one that a program keeps for its next request is not the one that gives way
                kept.request("GET", "/v1/models", headers=given)
                assert kept.getresponse().read()
                assert kept.sock is before
                kept.close()
                return still_open(strangers)

        assert await beside(ask) <= MOST_CONNECTIONS


@pytest.mark.parametrize(
    "first", [b"", b"G", b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n", b"POST /v1/models H"]
)
async def test_a_head_that_does_not_come_ends_the_connection(
    running: OpenApp, monkeypatch: pytest.MonkeyPatch, first: bytes
) -> None:
    monkeypatch.setattr("headstart.server.connections.HEAD_SECONDS", 0.3)
    async with running() as app:
        port, _ = await opened(app)

        def ask() -> bytes:
            with idle(port, 1, first) as (one,):
                return ends(one)

        assert await beside(ask) == b""


async def test_a_head_in_drops_is_not_waited_for(
    running: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headstart.server.connections.HEAD_SECONDS", 0.3)
    async with running() as app:
        port, key = await opened(app)

        def ask() -> None:
            with idle(port, 1, b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n") as (one,):
                until = time.monotonic() + PATIENCE
                while still_open([one]):
                    assert time.monotonic() < until
                    with contextlib.suppress(OSError):
                        one.sendall(b"x: y\r\n")
                    time.sleep(0.02)
            # the second head of a connection with the key is not waited for either
            kept = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            kept.request("GET", "/v1/models", headers={"authorization": f"Bearer {key}"})
            assert kept.getresponse().read()
            assert kept.sock is not None
            kept.sock.sendall(b"GET /v1/mod")
            assert ends(kept.sock) == b""
            kept.close()

        await beside(ask)


async def test_nothing_stays_open_without_the_key(running: OpenApp) -> None:
    async with running() as app:
        port, key = await opened(app, origins=("app://notes",))
        host = f"host: 127.0.0.1:{port}\r\n".encode()
        body = b"x" * 300_000
        long = b"content-length: %d\r\n\r\n" % len(body)

        def send(data: bytes) -> bytes:
            with idle(port, 1, data) as (one,):
                return ends(one)

        def ask() -> None:
            for data, status in (
                (b"GET / HTTP/1.1\r\n" + host + b"\r\n", b" 200 "),
                (b"HEAD /api/version HTTP/1.1\r\n" + host + b"\r\n", b" 200 "),
                (b"GET /v1/models HTTP/1.1\r\n" + host + b"\r\n", b" 401 "),
                (b"GET / HTTP/1.1\r\nhost: evil.example\r\n\r\n", b" 403 "),
                (b"POST /v1/messages HTTP/1.1\r\n" + host + long + body, b" 401 "),
                (
                    b"OPTIONS /v1/models HTTP/1.1\r\norigin: app://notes\r\n" + host + b"\r\n",
                    b" 204 ",
                ),
            ):
                found = send(data)
                assert status in found.partition(b"\r\n")[0], data[:60]
                assert b"connection: close" in found
            # a body that never comes is not waited for
            assert b" 401 " in send(b"POST /v1/messages HTTP/1.1\r\n" + host + long)
            with_key = host + b"x-api-key: " + key.encode() + b"\r\n\r\n"
            with idle(port, 1, b"GET /v1/models HTTP/1.1\r\n" + with_key) as (one,):
                found = one.recv(65536)
                assert b" 200 " in found
                assert b"connection: close" not in found
                one.sendall(b"GET /v1/models HTTP/1.1\r\n" + with_key)
                assert one.recv(65536)

        await beside(ask)


async def test_the_rest_of_a_body_that_nobody_reads_is_not_waited_for(
    running: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headstart.server.connections.REST_SECONDS", 0.3)
    async with running() as app:
        port, key = await opened(app)
        head = (
            f"POST /v1/nothing HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nx-api-key: {key}\r\n"
            "content-length: 1000\r\n\r\n{"
        ).encode()

        def ask() -> bytes:
            with idle(port, 1, head) as (one,):
                return ends(one)

        assert b" 404 " in await beside(ask)


@pytest.mark.skipif(sys.platform == "win32", reason="files have no limit there")
def test_connections_leave_files_for_everything_else(tmp_path: Path) -> None:
    port, key = free_port(), "hs-for-tests"
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment |= {"HEADSTART_SERVER_KEY": key, "PYTHONUNBUFFERED": "1"}
    # fewer files than connections, and a hard limit that nothing can raise
    command = [sys.executable, "-m", "headstart", "--home", str(tmp_path / "home"), "serve"]
    process = subprocess.Popen(
        ["/bin/sh", "-c", 'ulimit -S -n 128 && ulimit -H -n 256 && exec "$@"', "sh", *command,
         "--port", str(port)],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert "listening" in process.stdout.readline()
        if sys.platform == "linux":
            # the start has raised the limit as far as the system lets it
            assert psutil.Process(process.pid).rlimit(psutil.RLIMIT_NOFILE)[0] == 256
        with idle(port, 400) as strangers:
            # a model is opened only now, with its files and threads
            assert Plain(port, key).post("/v1/chat/completions", HELLO)[0] == 200
            assert still_open(strangers) <= 256 // 4
    finally:
        process.kill()
        process.wait(PATIENCE)
        assert process.stdout is not None
        process.stdout.close()
    log = (tmp_path / "home" / "logs" / "headstart.log").read_text(encoding="utf-8")
    assert "Errno 24" not in log
