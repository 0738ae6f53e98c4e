"""A local proxy that breaks the streams that go through it: cut, stalled, garbled, dripping.

It counts what it let through whole, so that a test can say which words must not be lost.
"""

from __future__ import annotations

import asyncio
import json
import random
from dataclasses import dataclass, field

FAULTS = ("none", "cut", "end", "stall", "garbage", "drip")
_HEAD_END = b"\r\n\r\n"


@dataclass(slots=True)
class Passed:
    """One answer: which fault it met, and the words of its events that went through before."""

    fault: str
    data: bytes = b""
    done: bool = False

    @property
    def words(self) -> str:
        found: list[str] = []
        for event in self.data.partition(_HEAD_END)[2].split(b"\n\n")[:-1]:
            text = event.removeprefix(b"data: ")
            if text.startswith(b"{"):
                choices = json.loads(text).get("choices", ())
                found.extend(choice["delta"].get("content") or "" for choice in choices)
        return "".join(found)


@dataclass(slots=True)
class FaultyProxy:
    """Runs on the current event loop, in front of the server at `port`."""

    upstream: int
    random: random.Random
    # a place in the answer, in bytes, before which a fault happens
    reach: int = 8000
    answers: list[Passed] = field(default_factory=list)
    port: int = 0
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def __aenter__(self) -> FaultyProxy:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, prefiller: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            head = await prefiller.readuntil(_HEAD_END)
            length = next(
                int(line.partition(b":")[2])
                for line in head.lower().split(b"\r\n")
                if line.startswith(b"content-length")
            )
            body = await prefiller.readexactly(length)
            upstream, down = await asyncio.open_connection("127.0.0.1", self.upstream)
            down.write(head + body)
            passed = Passed(self.random.choice(FAULTS))
            self.answers.append(passed)
            try:
                await self._pass(upstream, writer, passed)
            finally:
                passed.done = True
                down.close()
        except (OSError, EOFError, StopIteration, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _pass(
        self, upstream: asyncio.StreamReader, writer: asyncio.StreamWriter, passed: Passed
    ) -> None:
        at = self.random.randrange(1, self.reach)
        while data := await upstream.read(4096):
            if passed.fault != "none" and len(passed.data) + len(data) >= at:
                data = data[: at - len(passed.data)]
                await self._send(writer, data, passed)
                await self._break(writer, passed.fault, upstream)
                return
            await self._send(writer, data, passed)
        passed.fault = "none"

    async def _send(self, writer: asyncio.StreamWriter, data: bytes, passed: Passed) -> None:
        writer.write(data)
        await writer.drain()
        passed.data += data

    async def _break(
        self, writer: asyncio.StreamWriter, fault: str, upstream: asyncio.StreamReader
    ) -> None:
        if fault == "cut":
            # what is on its way arrives; then the cable is pulled
            await asyncio.sleep(0.05)
            writer.transport.abort()
        elif fault == "stall":
            await asyncio.sleep(60)
        elif fault == "garbage":
            writer.write(self.random.randbytes(self.random.randrange(1, 2000)) + b"\n\n")
            await writer.drain()
        elif fault == "drip":
            rest = await upstream.read(4096)
            for byte in rest or b" " * 200:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0.3)


def kept(passed: Passed, text: str) -> bool:
    """Whether no word that went through is missing from `text`."""
    return text.startswith(passed.words)
