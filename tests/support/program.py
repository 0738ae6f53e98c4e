"""Other programs in front of this one's server: plain HTTP, and the SDKs with their own types."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from headstart.assembly import App
from tests.conftest import until
from tests.support.patience import PATIENCE

T = TypeVar("T")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def opened(app: App, **settings: Any) -> tuple[int, str]:
    """Switch the server on; returns its port and key."""
    serving = app.services.serving
    port = free_port()
    serving.change(on=True, port=port, **settings)
    await until(lambda: f":{port}/" in serving.state.address or serving.state.problem)
    assert serving.state.problem is None, serving.state.problem
    return port, await serving.key()


async def beside(call: Callable[[], T]) -> T:
    """Run a program's blocking call, with the window alive."""
    return await asyncio.to_thread(call)


class Plain:
    """Plain requests."""

    def __init__(self, port: int, key: str) -> None:
        self.port, self.key = port, key

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        raw: bytes | None = None,
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        given = {"authorization": f"Bearer {self.key}", **(headers or {})}
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        try:
            connection.request(method, path, data, given)
            answer = connection.getresponse()
            found = {name.casefold(): value for name, value in answer.getheaders()}
            return answer.status, found, answer.read()
        finally:
            connection.close()

    def post(self, path: str, body: object, **headers: str) -> tuple[int, Any]:
        status, _, data = self.ask("POST", path, body, headers)
        return status, json.loads(data)

    def hang_up(self, path: str, body: object, after: int) -> bytes:
        """Send a request, read so many bytes of its answer, and close the connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        given = {"authorization": f"Bearer {self.key}"}
        try:
            connection.request("POST", path, json.dumps(body).encode(), given)
            return connection.getresponse().read(after) if after else b""
        finally:
            connection.close()


def events(data: bytes) -> list[tuple[str, Any]]:
    """The events of a stream, name and value; comments are left out."""
    found = []
    for block in data.decode().split("\n\n"):
        name, value = "", ""
        for line in block.splitlines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                value = line.removeprefix("data: ")
        if value:
            found.append((name, value if value == "[DONE]" else json.loads(value)))
    return found
