"""The child process that speaks with tool servers: messages on standard input and output.

It imports the MCP library (0.6 s, 47 MB), so that neither the window nor the engine shares an
interpreter with it. It is also the warden of the servers: when its input ends, however the program
ended, it ends each of them with all of its children.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable

from headstart.tools.wire import (
    AnswerQuestion,
    CallTool,
    CancelRequest,
    EndServer,
    FromHost,
    GetPrompt,
    ReadResource,
    RequestFailed,
    ServerLogged,
    StartServer,
    ToHost,
    framed,
    read_frame,
    to_host,
)

OPTION = "--tool-host"
# lines of a server's log passed on at once, their length, and seconds between
_LINES, _LINE, _LOG_SECONDS = 200, 2_000, 0.1
# seconds for a server to end
_END_SECONDS = 8.0
# shorter secrets would blank half of a log
_LEAST_SECRET = 6


def main() -> int:
    """Serve the program until its end."""
    # libraries that print must not break the messages
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    logging.basicConfig(level=logging.ERROR)
    # what the library says of a server stands in the server's own log
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    _adopt_orphans()
    lock = threading.Lock()

    def send(message: FromHost) -> None:
        with lock, contextlib.suppress(OSError, ValueError):
            answers.write(framed(message))
            answers.flush()

    try:
        asyncio.run(_Host(send).run())
    finally:
        _end_children()
    return 0


class _Host:
    def __init__(self, send: Callable[[FromHost], None]) -> None:
        from headstart.tools.hosted import HostedServer

        self._make = HostedServer
        self._send = send
        self._servers: dict[str, HostedServer] = {}
        # starts that wait for the end of a server before
        self._begins: dict[str, asyncio.Task[None]] = {}
        # the servers of requests
        self._places: dict[int, str] = {}

    async def run(self) -> None:
        loop, messages = asyncio.get_running_loop(), asyncio.Queue[ToHost | None]()

        def read() -> None:
            data: bytes | None = b""
            while data is not None:
                data = read_frame(sys.stdin.buffer)
                message = None if data is None else to_host.decode(data)
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(messages.put_nowait, message)

        threading.Thread(target=read, daemon=True).start()
        while (message := await messages.get()) is not None:
            await self._do(message)
        await self._end_all()

    async def _do(self, message: ToHost) -> None:
        match message:
            case StartServer():
                self._cancel_begin(message.server)
                begin = asyncio.ensure_future(self._begin(message))
                self._begins[message.server] = begin
            case EndServer():
                self._cancel_begin(message.server)
                server = self._servers.get(message.server)
                if server is not None:
                    server.end()
            case CallTool() | GetPrompt() | ReadResource():
                self._ask(message)
            case CancelRequest():
                server = self._servers.get(self._places.get(message.number, ""))
                if server is not None:
                    server.cancel(message.number)
            case AnswerQuestion():
                for server in self._servers.values():
                    server.questions.answer(message)

    def _ask(self, message: CallTool | GetPrompt | ReadResource) -> None:
        from headstart.core.told import told

        server = self._servers.get(message.server)
        if server is None:
            problem = told("tool-server-not-running", server=message.server)
            self._send(RequestFailed(message.number, problem, True))
            return
        self._places[message.number] = message.server
        server.begin(message)

    async def _begin(self, start: StartServer) -> None:
        before = self._servers.get(start.server)
        if before is not None:
            before.end(replaced=True)
            await asyncio.wait([before.task], timeout=_END_SECONDS)
        secrets = secrets_in(start.variables.values())
        say = _Log(start.server, self._send, secrets).say
        server = self._servers[start.server] = self._make(start, self._send, say)

        def ended(_task: object) -> None:
            if self._servers.get(start.server) is server:
                del self._servers[start.server]

        server.task.add_done_callback(ended)

    def _cancel_begin(self, server: str) -> None:
        begin = self._begins.pop(server, None)
        if begin is not None:
            begin.cancel()

    async def _end_all(self) -> None:
        tasks = [server.task for server in self._servers.values()]
        for server in list(self._servers.values()):
            server.end()
        if tasks:
            await asyncio.wait(tasks, timeout=_END_SECONDS)


class _Log:
    """A server's lines, passed on in bunches; secrets are masked, a flood is counted."""

    def __init__(self, server: str, send: Callable[[FromHost], None], secrets: list[str]) -> None:
        self._server = server
        self._send = send
        self._secrets = secrets
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._lines: deque[str] = deque(maxlen=_LINES)
        self._count = 0
        self._due = False

    def say(self, line: str) -> None:
        """Any thread."""
        for secret in self._secrets:
            line = line.replace(secret, "•••")
        shown = "".join(one for one in line[:_LINE] if one.isprintable() or one == "\t").rstrip()
        if not shown:
            return
        with self._lock:
            self._lines.append(shown)
            self._count += 1
            due, self._due = self._due, True
        if not due:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._loop.call_later, _LOG_SECONDS, self._flush)

    def _flush(self) -> None:
        with self._lock:
            lines, left = list(self._lines), self._count - len(self._lines)
            self._lines.clear()
            self._count, self._due = 0, False
        if left:
            lines.insert(0, f"[{left} lines were left out]")
        self._send(ServerLogged(self._server, tuple(lines)))


def secrets_in(values: Iterable[str]) -> list[str]:
    """The texts to mask: values, their lines, and the last word of each, without “Bearer”."""
    found = dict.fromkeys(
        piece
        for value in values
        for line in (value, *value.splitlines())
        for piece in (line, line.split(" ")[-1])
        if len(piece) >= _LEAST_SECRET
    )
    # the longest first: it may contain another
    return sorted(found, key=len, reverse=True)


def _adopt_orphans() -> None:
    """Linux: children of ended servers become this process's, which can then end them."""
    if sys.platform == "linux":
        from headstart.core.c_library import c_library

        with contextlib.suppress(OSError, AttributeError):
            c_library().prctl(36, 1, 0, 0, 0)


def _end_children() -> None:
    """End all processes that servers left behind."""
    import psutil

    with contextlib.suppress(psutil.Error):
        left = psutil.Process().children(recursive=True)
        for one in left:
            with contextlib.suppress(psutil.Error):
                one.kill()
        psutil.wait_procs(left, 1.0)
