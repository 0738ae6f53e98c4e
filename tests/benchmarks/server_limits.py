"""The server among senders of nothing and of too much: how long a program with the key waits beside
them, and the memory that they take."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.benchmarks.report import Report, spread
from tests.benchmarks.server_agents import KEY, free_port

IDLE = 2_000
_ROUNDS = 7
_HELLO = {"messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 4}


class Served(Struct, frozen=True):
    port: int
    pid: int


@contextmanager
def served(home: Path) -> Iterator[Served]:
    """`headstart serve` with the starter model and the limit of files that a desktop has."""
    port = free_port()
    command = [sys.executable, "-m", "headstart", "--home", str(home), "serve", "--port", str(port)]
    process = subprocess.Popen(
        ["/bin/sh", "-c", 'ulimit -S -n 1024 && exec "$@"', "sh", *command],
        env={**os.environ, "HEADSTART_SERVER_KEY": KEY, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        assert "listening" in said, said
        post(port, _HELLO)
        yield Served(port, process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def post(port: int, body: object, path: str = "/v1/chat/completions") -> tuple[int, float]:
    """The status of a request with the key, and the seconds to the end of its answer."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    began = time.perf_counter()
    try:
        connection.request("POST", path, data, {"authorization": f"Bearer {KEY}"})
        answer = connection.getresponse()
        answer.read()
        return answer.status, time.perf_counter() - began
    finally:
        connection.close()


def idle(report: Report) -> None:
    """Requests with the key while thousands of connections say nothing."""
    listed: list[float] = []
    chats: list[float] = []
    with tempfile.TemporaryDirectory() as place, served(Path(place)) as server, ExitStack() as kept:
        for _ in range(IDLE):
            one = socket.create_connection(("127.0.0.1", server.port), timeout=60)
            kept.enter_context(one)
        for number in range(_ROUNDS):
            chat: Any = [{"role": "user", "content": f"Say hello, for the time number {number}."}]
            status, seconds = post(server.port, {"messages": chat, "max_tokens": 4})
            assert status == 200, status
            chats.append(seconds)
            began = time.perf_counter()
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            connection.request("GET", "/v1/models", headers={"authorization": f"Bearer {KEY}"})
            assert connection.getresponse().status == 200
            connection.close()
            listed.append(time.perf_counter() - began)
        files = len(list(Path(f"/proc/{server.pid}/fd").iterdir())) if Path("/proc").exists() else 0
    report.add("idle_2000_keyed_request_s", max(listed), "at most 1", spread(listed))
    report.add("idle_2000_new_chat_s", max(chats), "at most 1", spread(chats))
    report.add("idle_2000_open_files", files, "well below 1024")
