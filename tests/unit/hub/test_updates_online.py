"""The one request that looks for a newer version, against a real server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from headstart.core.errors import EnvironmentProblem
from headstart.hub.online.updates import newest


class _Handler(BaseHTTPRequestHandler):
    seen: list[dict[str, str]]

    def do_GET(self) -> None:
        self.seen.append(dict(self.headers.items()))
        if self.path == "/elsewhere":
            self.send_response(302)
            self.send_header("Location", "/newest")
            self.end_headers()
            return
        bodies = {
            "/newest": b'{"version": "2.0", "page": "http://127.0.0.1/get"}',
            "/words": b"hello",
            "/endless": b'{"version": "' + b"1" * (1 << 20),
        }
        body = bodies.get(self.path)
        self.send_response(200 if body is not None else 404)
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[tuple[str, list[dict[str, str]]]]:
    seen: list[dict[str, str]] = []
    handler = type("Handler", (_Handler,), {"seen": seen})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as found:
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{found.server_port}", seen
        found.shutdown()
        thread.join()


def test_a_release_is_read_and_nothing_is_said(server: tuple[str, list[dict[str, str]]]) -> None:
    address, seen = server
    assert newest(f"{address}/newest").version == "2.0"
    (headers,) = seen
    assert headers["User-Agent"] == "headstart"
    assert set(headers) <= {"Host", "Accept", "Accept-Encoding", "Connection", "User-Agent"}


@pytest.mark.parametrize("path", ["/words", "/endless", "/missing", "/elsewhere"])
def test_other_answers_are_told(server: tuple[str, list[dict[str, str]]], path: str) -> None:
    address, _ = server
    with pytest.raises(EnvironmentProblem):
        newest(address + path)


def test_nobody_there(server: tuple[str, list[dict[str, str]]]) -> None:
    for address in ("http://127.0.0.1:9/x", "http://updates.test/x", "https://"):
        with pytest.raises(EnvironmentProblem):
            newest(address)
