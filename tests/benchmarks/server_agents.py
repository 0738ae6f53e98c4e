"""Traffic of a made-up agent, and the two servers that get it: ours, and llama.cpp's own."""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.benchmarks.answering import check_llama_server, check_name, check_served, served_name
from tests.benchmarks.peers import stock
from tests.support.prefix_engine import prose

KEY = "hs-for-benchmarks"
CONTEXT = 24_576
_START_SECONDS = 120
# the short name of the model that replies at a port must bear; "" for a server with one model
meant: dict[int, str] = {}
_PATH = "/v1/chat/completions"


def tools(count: int) -> list[dict[str, Any]]:
    """Tools of the size that coding agents send: some 600 characters each."""
    rng = random.Random(2)
    kinds = ("string", "integer", "boolean")
    found = []
    for number in range(count):
        keys = range(rng.randint(1, 6))
        properties = {
            f"key_{key}": {"type": rng.choice(kinds), "description": prose(8, number + key)}
            for key in keys
        }
        parameters = {"type": "object", "properties": properties, "required": ["key_0"]}
        about = {"name": f"tool_{number}", "description": prose(40, number)}
        found.append({"type": "function", "function": {**about, "parameters": parameters}})
    return found


def system(words: int, session: int = 0) -> dict[str, str]:
    """Instructions of so many words: the project's own documents, from another page on for each
    session. Nonsense would make the model fall silent."""
    pages = sorted((Path(__file__).parents[2] / "docs").rglob("*.md"))
    text = "\n\n".join(
        path.read_text(encoding="utf-8")
        for path in pages
        if path.stem not in ("benchmarks", "modules")
    )
    every = text.split(" ")
    begin = session * 997 % len(every)
    return {"role": "system", "content": " ".join([*every[begin:], *every[:begin]][:words])}


def question(number: int, words: int = 60) -> dict[str, str]:
    """A question with a result before it, as an agent sends them."""
    result = prose(max(1, words - 12), 100 + number)
    return {"role": "user", "content": f"Tell me a story of the number {number} and: {result}"}


class Answer(Struct, frozen=True):
    """`first`: seconds to the first word; `seconds`: to the end; `processed` and `reused` are
    prompt tokens, `written` the reply's."""

    text: str
    first: float
    seconds: float
    processed: int
    reused: int
    written: int
    tool_calls: tuple[dict[str, Any], ...] = ()


def ask(port: int, messages: list[Any], tokens: int, **more: Any) -> Answer:
    """One streamed request, as agents send it."""
    body = {
        "messages": messages, "max_tokens": tokens, "temperature": 0, "stream": True,
        "stream_options": {"include_usage": True}, "cache_prompt": True, **more,
    }  # fmt: skip
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=3600)
    began = time.perf_counter()
    connection.request("POST", _PATH, json.dumps(body), {"authorization": f"Bearer {KEY}"})
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    name, text, first = meant[port], "", 0.0
    usage: Mapping[str, Any] = {}
    timings: Mapping[str, Any] = {}
    while line := answer.readline():
        if not line.startswith(b"data: {"):
            continue
        found = json.loads(line[6:])
        if name:
            check_name(name, found["model"])
        usage = found.get("usage") or usage
        timings = found.get("timings") or timings
        for choice in found.get("choices", ()):
            said = choice["delta"].get("content") or ""
            if (said or choice["delta"].get("tool_calls")) and not first:
                first = time.perf_counter() - began
            text += said
    connection.close()
    seconds = time.perf_counter() - began
    reused = int(timings.get("cache_n", 0))
    written = int(usage.get("completion_tokens", 0))
    return Answer(text, first or seconds, seconds, int(timings["prompt_n"]), reused, written)


def hang_up(port: int, messages: list[Any], seconds: float, tokens: int = 4) -> None:
    """Send a request, and close the connection after so many seconds."""
    body = {"messages": messages, "max_tokens": tokens, "temperature": 0.8, "stream": True}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=3600)
    connection.request("POST", _PATH, json.dumps(body), {"authorization": f"Bearer {KEY}"})
    time.sleep(seconds)
    connection.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def ours(model: Path, home: Path, draft: str = "automatic") -> Iterator[int]:
    """One start of `headstart serve`; yields its port, with the model loaded by a first word."""
    home.mkdir(parents=True, exist_ok=True)
    settings = {"engine": {"context_length": CONTEXT}, "server": {"draft": draft}}
    (home / "settings.json").write_text(json.dumps(settings))
    port = free_port()
    environment = {**os.environ, "HEADSTART_SERVER_KEY": KEY, "QT_QPA_PLATFORM": "offscreen"}
    process = subprocess.Popen(
        [
            sys.executable, "-m", "headstart", "--home", str(home), "serve",
            "--port", str(port), "--model", str(model),
        ],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        _wait(port, "/", process)
        meant[port] = served_name(model)
        check_served(port, KEY, meant[port])
        ask(port, [{"role": "user", "content": "Hi"}], 1)
        yield port
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


@contextmanager
def theirs(model: Path, folder: Path, *more: str) -> Iterator[int]:
    """One start of llama-server with one slot, its prompt cache, and a folder for slots."""
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    command = [
        str(stock("llama-server")), "-m", str(model), "-c", str(CONTEXT), "-np", "1", "-t", "2",
        "--host", "127.0.0.1", "--port", str(port), "--slots", "--jinja",
        # its own choice, on, writes 10 tokens a second here where off writes 26 (4,096 tokens deep)
        "--slot-save-path", str(folder), "-fa", "off",
        # it takes no more tokens than a model was trained on, unless it is told so
        "--override-kv", f"llama.context_length=int:{CONTEXT}", *more,
    ]  # fmt: skip
    with (folder / "server.log").open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            _wait(port, "/health", process)
            check_llama_server(port, model)
            meant[port] = ""
            yield port
        finally:
            process.terminate()
            process.wait(60)


def slot(port: int, action: str) -> float:
    """Save or restore the slot of llama-server by hand; returns the seconds."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/slots/0?action={action}",
        json.dumps({"filename": "slot.bin"}).encode(),
        {"Content-Type": "application/json"},
    )
    began = time.perf_counter()
    with urllib.request.urlopen(request, timeout=600) as answer:
        answer.read()
    return time.perf_counter() - began


def _wait(port: int, path: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until:
        if process.poll() is not None:
            said = b"" if process.stderr is None else process.stderr.read()
            raise SystemExit(f"a server ended while it started: {said[-500:].decode()}")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5):
                return
        except OSError:
            time.sleep(0.05)
    raise SystemExit("a server did not start")
