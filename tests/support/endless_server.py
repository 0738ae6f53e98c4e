"""Servers whose answers never end, or unpack to more than a memory holds: one kind for each path.

`serve` runs in a process of its own, so that its memory is not the program's.
"""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import multiprocessing
import socketserver
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_BLOCK = 1 << 16
# the head of packed bytes, and a block of them that has none
GZIP, EMPTY = b"\x1f\x8b\x08\0\0\0\0\0\0\x03", b"\0\0\0\xff\xff"
JSON = "content-type: application/json\r\n"
EVENTS = "content-type: text/event-stream\r\n"
OK = "HTTP/1.1 200 OK\r\nconnection: close\r\n"
BAD = "HTTP/1.1 500 Internal Server Error\r\nconnection: close\r\n"


def _endless(start: bytes, block: bytes) -> Iterator[bytes]:
    yield start
    yield from itertools.repeat(block * max(1, _BLOCK // len(block)))


def _long(start: bytes, block: bytes, megabytes: float, end: bytes = b"") -> Iterator[bytes]:
    yield start
    for _ in range(int(megabytes * (1 << 20) / _BLOCK)):
        yield block * max(1, _BLOCK // len(block))
    yield end


def _head(first: str, *lines: str) -> bytes:
    return (first + "".join(lines) + "\r\n").encode()


def _packed(inside: bytes) -> Iterator[bytes]:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    for _ in range(40_000):
        found = packer.compress(inside)
        if found:
            yield found


def _event(delta: dict[str, object]) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    event = {"id": "x", "object": "chat.completion.chunk", "choices": [choice]}
    return b"data: " + json.dumps(event).encode() + b"\n\n"


def _events(delta: dict[str, object]) -> Iterator[bytes]:
    return _endless(_head(OK, EVENTS), _event(delta))


_DATA = b'data: {"choices":['
_WHOLE = b'{"choices":[{"message":{"content":"'

# what a list of models is answered with
BODIES: dict[str, Callable[[], Iterator[bytes]]] = {
    "a text without an end": lambda: _endless(_head(OK, JSON) + b'{"data":["', b"a"),
    "objects without an end": lambda: _endless(_head(OK, JSON) + b'{"data":[', b'{"":0},'),
    "empty lists without an end": lambda: _endless(_head(OK, JSON) + b'{"data":[', b"[],"),
    "numbers without an end": lambda: _endless(_head(OK, JSON) + b'{"data":[', b"0,"),
    "one number without an end": lambda: _endless(_head(OK, JSON) + b'{"data":[', b"9"),
    "depth without an end": lambda: _endless(_head(OK, JSON) + b'{"data":[', b"["),
    "keys without an end": lambda: _endless(_head(OK, JSON), b'{"data":'),
    "spaces without an end": lambda: _endless(_head(OK, JSON), b" "),
    "zeros without an end": lambda: _endless(_head(OK, JSON), b"\0"),
    "a long list": lambda: _long(
        _head(OK, JSON) + b'{"data":[', b'{"id":"a"},', 8, b'{"id":"b"}]}'
    ),
    "long names": lambda: _long(_head(OK, JSON) + b'{"data":[{"id":"', b"a", 8, b'"}]}'),
    "a page without an end": lambda: _endless(_head(OK, "content-type: text/html\r\n"), b"<p>"),
    "events without an end": lambda: _endless(_head(OK, EVENTS), b"data: {}\n\n"),
    "an error without an end": lambda: _endless(_head(BAD, JSON) + b'{"error":"', b"a"),
    "an error of objects": lambda: _endless(_head(BAD, JSON) + b'{"error":[', b'{"":0},'),
    "an error page": lambda: _endless(_head(BAD, "content-type: text/html\r\n"), b"<p>"),
    "a packed error": lambda: itertools.chain(
        [_head(BAD, JSON, "content-encoding: gzip\r\n")], _packed(b"a" * _BLOCK)
    ),
    "a packed text": lambda: itertools.chain(
        [_head(OK, JSON, "content-encoding: gzip\r\n")], _packed(b'{"data":["' + b"a" * _BLOCK)
    ),
    "packed objects": lambda: itertools.chain(
        [_head(OK, JSON, "content-encoding: gzip\r\n")], _packed(b'{"":0},' * 9000)
    ),
    "packed twice": lambda: itertools.chain(
        [_head(OK, JSON, "content-encoding: gzip, gzip\r\n")],
        [gzip.compress(gzip.compress(b"a" * (1 << 28)))],
    ),
    "packed in another way": lambda: _endless(
        _head(OK, JSON, "content-encoding: br\r\n"), b"\xff" * 16
    ),
    "packed, and more": lambda: itertools.chain(
        [_head(OK, JSON, "content-encoding: gzip\r\n"), gzip.compress(b'{"data":[]}')],
        itertools.repeat(b"x" * _BLOCK),
    ),
    "packed nothing": lambda: itertools.chain(
        [_head(OK, JSON, "content-encoding: gzip\r\n"), GZIP], itertools.repeat(EMPTY * 10_000)
    ),
    "not packed as it says": lambda: _endless(
        _head(OK, JSON, "content-encoding: gzip\r\n"), b"\xff" * 16
    ),
    "one line of the head": lambda: _endless((OK + "x: ").encode(), b"a"),
    "lines of the head": lambda: _endless(OK.encode(), b"x: a\r\n"),
    "a status without an end": lambda: _endless(b"HTTP/1.1 200 ", b"a"),
    "no status": lambda: _endless(b"", b"a"),
    "one size of a piece": lambda: _endless(
        _head(OK, JSON, "transfer-encoding: chunked\r\n"), b"f"
    ),
    "tiny pieces": lambda: _endless(
        _head(OK, JSON, "transfer-encoding: chunked\r\n"), b"1\r\n[\r\n"
    ),
    "the end of the pieces": lambda: _endless(
        _head(OK, JSON, "transfer-encoding: chunked\r\n") + b"0\r\n", b"x: a\r\n"
    ),
}
# what a question is answered with, beside those
STREAMS: dict[str, Callable[[], Iterator[bytes]]] = {
    "one event": lambda: _endless(_head(OK, EVENTS) + b"data: ", b"a"),
    "one event of lines": lambda: _endless(_head(OK, EVENTS), b"data: a\n"),
    "one event of short lines": lambda: _endless(_head(OK, EVENTS), b"a\r"),
    "one event of objects": lambda: _endless(_head(OK, EVENTS) + _DATA, b'{"":0},'),
    "events of many choices": lambda: _endless(
        _head(OK, EVENTS), _DATA + b'{"index":0,"delta":{}},' * 20_000 + b'{"delta":{}}]}\n\n'
    ),
    "events of deep lists": lambda: _endless(_head(OK, EVENTS), _DATA + b"[" * 90_000 + b"\n\n"),
    "text": lambda: _events({"content": "word " * 20}),
    "text of other planes": lambda: _events({"content": "\U0001f30a" * 100}),
    "reasoning": lambda: _events({"reasoning_content": "word " * 20}),
    "text in great pieces": lambda: _events({"content": "a" * 300_000}),
    "calls of tools": lambda: _events(
        {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "a" * 500}}]}
    ),
    "nothing": lambda: _events({}),
    "notes": lambda: _endless(_head(OK, EVENTS), b": wait\n\n"),
    "one note": lambda: _endless(_head(OK, EVENTS), b": wait"),
    "names of events": lambda: _endless(_head(OK, EVENTS), b"event: " + b"a" * 1000 + b"\n"),
    "a packed stream": lambda: itertools.chain(
        [_head(OK, EVENTS, "content-encoding: gzip\r\n")],
        _packed(_event({"content": "word " * 200}) * 60),
    ),
    "a packed event": lambda: itertools.chain(
        [_head(OK, EVENTS, "content-encoding: gzip\r\n")], _packed(b"a" * _BLOCK)
    ),
    "a whole reply": lambda: _endless(_head(OK, JSON) + _WHOLE, b"a"),
    "a long whole reply": lambda: _long(
        _head(OK, JSON) + _WHOLE, b"a", 8, b'"},"finish_reason":"stop"}]}'
    ),
    "a whole reply of objects": lambda: _endless(_head(OK, JSON) + b'{"choices":[', b'{"":0},'),
    "empty lines": lambda: _endless(_head(OK, EVENTS), b"\n"),
    "zeros": lambda: _endless(_head(OK, EVENTS), b"\0"),
}
KINDS = {**BODIES, **STREAMS}


class _Handler(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        head = b""
        while b"\r\n\r\n" not in head and len(head) < _BLOCK:
            more = self.request.recv(_BLOCK)
            if not more:
                return
            head += more
        number = int(head.split(b" ")[1].split(b"/")[1])
        with contextlib.suppress(OSError):
            for data in list(KINDS.values())[number]():
                self.request.sendall(data)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


def _run(ports: multiprocessing.SimpleQueue[int]) -> None:
    with _Server(("127.0.0.1", 0), _Handler) as server:
        ports.put(server.server_address[1])
        server.serve_forever()


@dataclass(frozen=True, slots=True)
class EndlessServer:
    port: int

    def url(self, kind: str) -> str:
        return f"http://127.0.0.1:{self.port}/{list(KINDS).index(kind)}/v1"


@contextlib.contextmanager
def endless_server() -> Iterator[EndlessServer]:
    context = multiprocessing.get_context("spawn")
    ports: multiprocessing.SimpleQueue[int] = context.SimpleQueue()
    process = context.Process(target=_run, args=(ports,), daemon=True)
    process.start()
    try:
        yield EndlessServer(ports.get())
    finally:
        process.kill()
        process.join()
