"""The program's side of the child process that speaks with tool servers. On the event loop's
thread; two threads of its own read from the child and write to it.

The child starts with the first request, never before. When it dies, every server has ended and
every request has failed; the next request starts another one.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from typing import BinaryIO

import msgspec

from headstart.core import reentry
from headstart.core.errors import EnvironmentProblem
from headstart.core.told import told
from headstart.core.tool_servers.questions import QuestionEnd, Value
from headstart.core.tool_servers.results import ToolReturn
from headstart.tools.host import OPTION
from headstart.tools.wire import (
    AnswerQuestion,
    CallProgressed,
    CallTool,
    CancelRequest,
    EndServer,
    FromHost,
    GetPrompt,
    ListsChanged,
    QuestionAsked,
    QuestionGone,
    ReadResource,
    RequestFailed,
    Returned,
    ServerEnded,
    ServerLogged,
    ServerStarted,
    StartServer,
    ToHost,
    framed,
    from_host,
    read_frame,
)

log = logging.getLogger(__name__)

# news of servers, which belong to no request
ServerNews = (
    ServerStarted | ListsChanged | ServerEnded | ServerLogged | QuestionAsked | QuestionGone
)
Progress = Callable[[CallProgressed], None]
# seconds for the child to end servers before it is killed
CLOSE_SECONDS = 0.3


class ServerGone(EnvironmentProblem):
    """The server ended before it answered: the request may succeed after another start."""


class ToolSession:
    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[ToolReturn]] = {}
        self._progress: dict[int, Progress] = {}
        self._servers: dict[str, int] = {}
        # numbers of questions that wait for an answer
        self._questions: set[int] = set()
        self._listener: Callable[[ServerNews], None] = lambda _news: None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    def listen(self, listener: Callable[[ServerNews], None]) -> None:
        """Call `listener` with news of servers, on the loop's thread."""
        self._listener = listener

    @property
    def running(self) -> bool:
        return self._process is not None

    @property
    def pid(self) -> int | None:
        """The child's process id, for tests and measurements."""
        return None if self._process is None else self._process.pid

    # --- servers -------------------------------------------------------------------------

    def start(self, start: StartServer) -> None:
        """Start a server, or start it again; news tell how it went. Raises EnvironmentProblem."""
        self._servers[start.server] = start.start
        self._post(start)

    def end(self, server: str) -> None:
        self._servers.pop(server, None)
        if self._process is not None:
            self._post(EndServer(server))

    def answer(self, number: int, end: QuestionEnd, values: Mapping[str, Value]) -> None:
        """The user's answer to a server's question; without effect where nobody waits for it."""
        if self._process is not None and number in self._questions:
            self._questions.discard(number)
            self._post(AnswerQuestion(number, end, dict(values)))

    # --- requests ------------------------------------------------------------------------

    async def call(
        self, server: str, tool: str, arguments: str, progress: Progress | None = None
    ) -> ToolReturn:
        """Call a tool; cancelling this cancels the call. Raises EnvironmentProblem, ServerGone."""
        return await self._request(CallTool(self._next(), server, tool, arguments), progress)

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> ToolReturn:
        return await self._request(GetPrompt(self._next(), server, name, dict(arguments)))

    async def read(self, server: str, uri: str) -> ToolReturn:
        return await self._request(ReadResource(self._next(), server, uri))

    def _next(self) -> int:
        return next(self._numbers)

    async def _request(
        self, request: CallTool | GetPrompt | ReadResource, progress: Progress | None = None
    ) -> ToolReturn:
        number = request.number
        future: asyncio.Future[ToolReturn] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        if progress is not None:
            self._progress[number] = progress
        try:
            self._post(request)
            return await future
        except asyncio.CancelledError:
            if self._process is not None:
                self._post(CancelRequest(number))
            raise
        finally:
            self._waiting.pop(number, None)
            self._progress.pop(number, None)

    # --- the child -----------------------------------------------------------------------

    def _post(self, message: ToHost) -> None:
        if self._process is None:
            self._begin()
        self._outbox.put(framed(message))

    def _begin(self) -> None:
        if self._closed:
            raise EnvironmentProblem("tool-host-failed", reason="closed")
        self._loop = asyncio.get_running_loop()
        try:
            process = self._process = subprocess.Popen(
                reentry.command(OPTION),
                cwd=reentry.FOLDER,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                # Ctrl+C in a terminal is for the program, which then ends the child
                start_new_session=sys.platform != "win32",
            )
        except OSError as error:
            raise EnvironmentProblem(
                "tool-host-failed", reason=error.strerror or type(error).__name__
            ) from error
        outbox = self._outbox = queue.SimpleQueue()
        assert process.stdin is not None
        assert process.stdout is not None
        for work in ((self._write, process.stdin, outbox), (self._read, process, process.stdout)):
            threading.Thread(target=work[0], args=work[1:], name="tool-host", daemon=True).start()

    def _write(self, pipe: BinaryIO, outbox: queue.SimpleQueue[bytes | None]) -> None:
        with contextlib.suppress(OSError, ValueError):
            while (data := outbox.get()) is not None:
                pipe.write(data)
                pipe.flush()
        with contextlib.suppress(OSError, ValueError):
            pipe.close()

    def _read(self, process: subprocess.Popen[bytes], pipe: BinaryIO) -> None:
        try:
            while (data := read_frame(pipe)) is not None:
                self._later(self._take, from_host.decode(data))
        except (OSError, ValueError, msgspec.MsgspecError):
            log.exception("the child that speaks with tool servers cannot be understood")
        pipe.close()
        # a child that cannot be understood would go on for ever
        process.kill()
        process.wait()
        self._later(self._ended, process)

    def _later(self, call: Callable[..., None], *values: object) -> None:
        loop = self._loop
        if loop is not None:
            # the loop may have been closed
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(call, *values)

    def _take(self, message: FromHost) -> None:
        match message:
            case Returned():
                self._settle(message.number, ToolReturn(message.content, message.failed))
            case RequestFailed():
                kind = ServerGone if message.server_ended else EnvironmentProblem
                self._fail(message.number, kind.of(message.problem))
            case CallProgressed():
                progress = self._progress.get(message.number)
                if progress is not None:
                    progress(message)
            case _:
                if isinstance(message, ServerEnded):
                    if self._servers.get(message.server) == message.start:
                        del self._servers[message.server]
                elif isinstance(message, QuestionAsked):
                    self._questions.add(message.number)
                elif isinstance(message, QuestionGone):
                    self._questions.discard(message.number)
                self._listener(message)

    def _settle(self, number: int, result: ToolReturn) -> None:
        future = self._waiting.get(number)
        if future is not None and not future.done():
            future.set_result(result)

    def _fail(self, number: int, problem: EnvironmentProblem) -> None:
        future = self._waiting.get(number)
        if future is not None and not future.done():
            future.set_exception(problem)

    def _ended(self, process: subprocess.Popen[bytes]) -> None:
        if self._process is not process:
            return
        self._process = None
        if not self._closed:
            log.warning("the child that speaks with tool servers ended: %s", process.returncode)
        servers, self._servers = self._servers, {}
        for number in list(self._waiting):
            self._fail(number, ServerGone("tool-host-ended"))
        questions, self._questions = self._questions, set()
        for number in questions:
            self._listener(QuestionGone(number))
        for server, start in servers.items():
            self._listener(ServerEnded(server, told("tool-host-ended"), start))

    async def close(self) -> None:
        """End every server; those that are slow are ended by the child, after the program."""
        self._closed = True
        process = self._process
        if process is None:
            return
        self._outbox.put(None)
        with contextlib.suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(process.wait, CLOSE_SECONDS)
