"""The server among senders of nothing and of too much: how long a program with the key waits beside
them, and the memory that they take."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil
from msgspec import Struct

from tests.benchmarks.answering import check_served, served_name, starter_key
from tests.benchmarks.report import Report, spread
from tests.benchmarks.server_agents import KEY, free_port

IDLE = 2_000
_ROUNDS = 7
_HELLO = {"messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 4}


def _body(more: str) -> bytes:
    return json.dumps(_HELLO).encode()[:-1] + b', "x": ' + more.encode() + b"}"


def _messages(count: int, content: str = "a") -> bytes:
    found = [{"role": "user", "content": content}] * count
    return json.dumps({"messages": found, "max_tokens": 4}, ensure_ascii=False).encode()


# bodies that are refused, and the largest of those that are read
BODIES: dict[str, Callable[[], bytes]] = {
    "lists": lambda: _body("[" + "[]," * 19_000_000 + "[]]"),
    "objects": lambda: _body("[" + '{"a":{}},' * 6_000_000 + "{}]"),
    "texts": lambda: _body("[" + '"",' * 19_000_000 + '""]'),
    "emoji": lambda: _body('"' + "a" * 57_000_000 + '😀"'),
    "levels": lambda: _body("[" * 57_000_000),
    "digits": lambda: _body("9" * 57_000_000),
    "text": lambda: _messages(1, "a" * 57_000_000),
    "emoji to the bound": lambda: _messages(1, "a" * 30_000_000 + "😀"),
    "messages": lambda: _messages(60_000),
    "values": lambda: _body("[" + '{"a":{}},' * 66_000 + "{}]"),
    "images": lambda: _body('["' + "A" * 57_000_000 + '"]'),
}


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
        check_served(port, KEY, served_name(Path(starter_key())))
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
        # the server breaks a whole answer off that it has to refuse late
        with contextlib.suppress(http.client.IncompleteRead):
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


class _Watch:
    """The longest wait of another program, and the memory of a process, while something runs."""

    def __init__(self, server: Served) -> None:
        self._server = server
        self._process = psutil.Process(server.pid)
        self._ended = threading.Event()
        self.waits: list[float] = []
        self.began = self.most = self._process.memory_info().rss

    def __enter__(self) -> _Watch:
        self._threads = [threading.Thread(target=one) for one in (self._ask, self._measure)]
        for one in self._threads:
            one.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._ended.set()
        for one in self._threads:
            one.join()

    def _ask(self) -> None:
        while not self._ended.is_set():
            began = time.perf_counter()
            connection = http.client.HTTPConnection("127.0.0.1", self._server.port, timeout=600)
            connection.request("GET", "/v1/models", headers={"authorization": f"Bearer {KEY}"})
            connection.getresponse().read()
            connection.close()
            self.waits.append(time.perf_counter() - began)
            self._ended.wait(0.05)

    def _measure(self) -> None:
        while not self._ended.wait(0.005):
            self.most = max(self.most, self._process.memory_info().rss)


def bodies(report: Report) -> None:
    """Other programs' waits, and the growth of memory, while a hostile body is sent."""
    waits, growth = [], []
    for name, make in BODIES.items():
        data = make()
        with (
            tempfile.TemporaryDirectory() as place,
            served(Path(place)) as server,
            _Watch(server) as watch,
        ):
            status, seconds = post(server.port, data)
        waits.append(max(watch.waits))
        growth.append((watch.most - watch.began) / 1e6)
        print(
            f"{name}: {status} after {seconds:.2f} s, others waited {waits[-1]:.2f} s, "
            f"{growth[-1]:.0f} MB more",
            flush=True,
        )
    report.add("fat_body_others_wait_s", max(waits), "at most 1", spread(waits))
    report.add("fat_body_peak_growth_mb", max(growth), "at most 300", spread(growth))
