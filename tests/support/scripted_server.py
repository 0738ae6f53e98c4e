"""A local server that speaks the OpenAI chat API, or fails at it in every way: the edge of the
program in tests of the remote generator. It runs on a thread of its own."""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from tests.support.patience import PATIENCE

WORDS = ["Once", " upon", " a", " time", " there", " was", " a", " harbour", "."]


@dataclass(slots=True)
class Asked:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class Answer:
    """What a handler writes; closing is the server's."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self.closed = False

    async def raw(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def head(self, status: str = "200 OK", **headers: str) -> None:
        lines = [f"HTTP/1.1 {status}", "connection: close"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.raw("\r\n".join([*lines, "", ""]).encode())

    async def json(self, value: Any, status: str = "200 OK", **headers: str) -> None:
        await self.head(status, content_type="application/json", **headers)
        await self.raw(json.dumps(value).encode())

    async def stream(self) -> None:
        await self.head(content_type="text/event-stream")

    async def event(self, value: Any) -> None:
        await self.raw(f"data: {json.dumps(value)}\n\n".encode())

    async def words(self, words: list[str], pause: float = 0.0, **delta: str) -> None:
        for word in words:
            await self.event(chunk({"content": word, **delta}))
            if pause:
                await asyncio.sleep(pause)

    async def end(self, finish: str = "stop", **more: Any) -> None:
        await self.event(chunk({}, finish))
        if more:
            await self.event({**chunk({}), "choices": [], **more})
        await self.raw(b"data: [DONE]\n\n")

    async def cut(self) -> None:
        """As if the cable were pulled."""
        transport = self._writer.transport
        transport.abort()
        self.closed = True


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "choices": [choice]}


Handler = Callable[[Asked, Answer], Awaitable[None]]


async def tell_story(asked: Asked, answer: Answer) -> None:
    """The usual reply, with the usual figures."""
    await answer.stream()
    # slow enough to be seen being written
    await answer.words(WORDS, pause=0.02)
    usage = {
        "prompt_tokens": 30,
        "completion_tokens": len(WORDS),
        "total_tokens": 30 + len(WORDS),
        "prompt_tokens_details": {"cached_tokens": 20},
    }
    await answer.end(usage=usage)


@dataclass(slots=True)
class ScriptedServer:
    """`handler` answers chats, the next of `script` before it. `asked` is everything that came."""

    handler: Handler = tell_story
    script: list[Handler] = field(default_factory=list)
    models: list[dict[str, Any]] = field(
        default_factory=lambda: [{"id": "harbour-7b", "object": "model", "owned_by": "test"}]
    )
    asked: list[Asked] = field(default_factory=list)
    tls: ssl.SSLContext | None = None
    port: int = 0
    _loop: asyncio.AbstractEventLoop | None = None
    _thread: threading.Thread | None = None
    _over: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> ScriptedServer:
        ready = threading.Event()
        loop = self._loop = asyncio.new_event_loop()

        async def live() -> None:
            server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self.tls)
            self.port = server.sockets[0].getsockname()[1]
            ready.set()
            await self._over.wait()
            server.close()
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            # transports close in the next rounds of the loop
            await asyncio.sleep(0.02)

        def run() -> None:
            loop.run_until_complete(live())
            loop.close()

        self._thread = threading.Thread(target=run, name="scripted server", daemon=True)
        self._thread.start()
        assert ready.wait(PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop is not None
        assert self._thread is not None
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(PATIENCE)

    async def _serve(self, prefiller: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answer = Answer(writer)
        try:
            asked = await _request(prefiller)
            if asked is None:
                # what web servers say to a greeting in another protocol
                await answer.head("400 Bad Request")
            else:
                self.asked.append(asked)
                await self._answer(asked, answer)
        except (OSError, asyncio.CancelledError, asyncio.IncompleteReadError):
            pass
        finally:
            if not answer.closed:
                writer.close()

    async def _answer(self, asked: Asked, answer: Answer) -> None:
        if asked.path.endswith("/models"):
            await answer.json({"object": "list", "data": self.models})
        elif asked.path.endswith("/completions"):
            handler = self.script.pop(0) if self.script else self.handler
            await handler(asked, answer)
        else:
            await answer.json({"error": {"message": "not found"}}, "404 Not Found")


async def _request(prefiller: asyncio.StreamReader) -> Asked | None:
    start = await prefiller.readexactly(1)
    if not start.isalpha():
        return None
    head = start + await prefiller.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    data = await prefiller.readexactly(int(headers.get("content-length", "0")))
    return Asked(method, path, headers, json.loads(data) if data else {})
