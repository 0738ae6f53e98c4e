"""Tool servers that run: started by a chat or a button, never at the program's start. On the event
loop's thread; the child process of `headstart.tools` speaks with them."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from headstart.chat.beginnings import ASKED_SECONDS
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ToolQuestion, ToolQuestionGone, ToolServersChanged
from headstart.chat.tool_servers.entries import ToolEntries
from headstart.chat.tool_servers.lists import ToolLists
from headstart.core.beginnings import Beginning, BegunKind
from headstart.core.errors import EnvironmentProblem
from headstart.core.told import Told, told
from headstart.core.tool_servers.questions import QuestionEnd, ServerQuestion, Value
from headstart.core.tool_servers.results import ToolReturn
from headstart.core.tool_servers.state import ToolServerState, ToolServerView
from headstart.tools.session import Progress, ServerGone, ServerNews, ToolSession
from headstart.tools.wire import (
    ListsChanged,
    QuestionAsked,
    QuestionGone,
    ServerEnded,
    ServerLogged,
    ServerStarted,
    StartServer,
)

log = logging.getLogger(__name__)

# lines of a server's log that are kept
LOG_LINES = 500
# seconds that a call waits for its server to start
START_SECONDS = 60.0


class _Running(Struct):
    """State of a server; `waiting`: those who wait for its start."""

    state: ToolServerState = ToolServerState.OFF
    problem: Told | None = None
    log: deque[str] = deque()
    waiting: list[asyncio.Future[None]] = []
    # of the entry that was started, and the number of the start
    surroundings: str = ""
    number: int = 0


class RunningTools:
    def __init__(
        self,
        session: ToolSession,
        lists: ToolLists,
        entries: ToolEntries,
        broadcast: Broadcast,
    ) -> None:
        self._session = session
        self._lists = lists
        self._entries = entries
        self._broadcast = broadcast
        self._beginnings = entries.beginnings
        self._servers: dict[str, _Running] = {}
        self._starts: set[asyncio.Future[None]] = set()
        session.listen(self._on_news)
        # "" starts none: they start when a chat uses them
        self._beginnings.begins(BegunKind.TOOL_SERVER, lambda one: one and self.start(one))

    # --- what is known -------------------------------------------------------------------

    def view(self, server_id: str) -> ToolServerView:
        """A server's state, with the list that it gave last."""
        found = self._servers.get(server_id)
        if found is None:
            held = self._beginnings.why_held(BegunKind.TOOL_SERVER, server_id)
            return ToolServerView(problem=held)
        lists = self._lists.known().get(server_id)
        return ToolServerView(found.state, found.problem, lists, tuple(found.log))

    @property
    def child(self) -> int | None:
        """The process that speaks with servers; None before the first one was started."""
        return self._session.pid

    # --- starting and ending -------------------------------------------------------------

    def start(self, server_id: str, asked: bool = False) -> asyncio.Future[None]:
        """Start a server unless it runs; the result ends when it has started, or raises
        EnvironmentProblem: also for one whose start did not end last time, unless the user `asked`.
        The caller need not wait."""
        if asked:
            self._beginnings.ask_for(BegunKind.TOOL_SERVER, server_id)
        running = self._of(server_id)
        future = asyncio.get_running_loop().create_future()
        # an error that nobody waits for stands in the server's state
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        entry = self._entries.get(server_id)
        same = entry is not None and entry.surroundings == running.surroundings
        if running.state is ToolServerState.READY and same:
            future.set_result(None)
            return future
        running.waiting.append(future)
        held = self._beginnings.why_held(BegunKind.TOOL_SERVER, server_id)
        if held is not None and running.state is not ToolServerState.STARTING:
            self._settle(server_id, ToolServerState.ENDED, held)
            return future
        if running.state is not ToolServerState.STARTING or not same:
            self._again(server_id)
        return future

    def restart(self, server_id: str) -> None:
        """Start a server again, also one that runs, as the user asked."""
        self._beginnings.ask_for(BegunKind.TOOL_SERVER, server_id)
        self._again(server_id)

    def _again(self, server_id: str) -> None:
        running, entry = self._of(server_id), self._entries.get(server_id)
        running.number += 1
        running.surroundings = "" if entry is None else entry.surroundings
        self._set(server_id, ToolServerState.STARTING)
        self._hold(asyncio.ensure_future(self._begin(server_id, running.number)))

    def end(self, server_id: str) -> None:
        running = self._of(server_id)
        # a start under way ends, too
        running.number += 1
        if running.state is not ToolServerState.OFF:
            self._session.end(server_id)
            self._settle(server_id, ToolServerState.OFF, None)

    async def forget(self, server_id: str) -> None:
        """End a removed server, and remove its lists."""
        self.end(server_id)
        await self._lists.forget(server_id)
        self._servers.pop(server_id, None)

    async def _begin(self, server_id: str, number: int) -> None:
        """Start a server, unless another start or its end comes meanwhile."""
        server = self._entries.get(server_id)
        try:
            if server is None:
                raise EnvironmentProblem("tool-server-not-running", server=server_id)
            kept = await self._lists.of(server)
            values = await self._entries.values(server)
            if self._of(server_id).number != number:
                return
            one = Beginning(BegunKind.TOOL_SERVER, server_id, server.name)
            await self._beginnings.begin(one, ASKED_SECONDS)
            if self._of(server_id).number != number:
                # what ended it came before the note
                self._beginnings.end_soon(BegunKind.TOOL_SERVER, server_id)
                return
            self._session.start(
                StartServer(
                    server.id,
                    server.name,
                    server.command,
                    server.arguments,
                    server.folder,
                    server.url,
                    values,
                    kept.handshake,
                    number,
                )
            )
        except EnvironmentProblem as problem:
            if self._of(server_id).number == number:
                self._settle(server_id, ToolServerState.ENDED, problem.told)
        except Exception as error:
            # ours: the next start may do better
            log.exception("a tool server could not be started")
            reason = told("tool-server-failed", server=server_id, reason=type(error).__name__)
            self._settle(server_id, ToolServerState.ENDED, reason)

    # --- requests ------------------------------------------------------------------------

    async def ready(self, server_id: str, seconds: float = START_SECONDS) -> None:
        """Wait until a server has started, and start it if it does not run. Raises
        EnvironmentProblem."""
        try:
            async with asyncio.timeout(seconds):
                await self.start(server_id)
        except TimeoutError:
            slow = told("tool-server-slow", server=server_id)
            raise self._named(server_id, slow) from None

    async def call(
        self, server_id: str, tool: str, arguments: str, progress: Progress | None = None
    ) -> ToolReturn:
        """Call a tool; raises EnvironmentProblem, worded with the server's name."""
        return await self._asked(
            server_id, lambda: self._session.call(server_id, tool, arguments, progress)
        )

    async def prompt(self, server_id: str, name: str, arguments: Mapping[str, str]) -> ToolReturn:
        """A prompt of a server, filled in. Raises EnvironmentProblem."""
        return await self._asked(
            server_id, lambda: self._session.prompt(server_id, name, arguments)
        )

    async def read(self, server_id: str, uri: str) -> ToolReturn:
        """The content of a resource. Raises EnvironmentProblem."""
        return await self._asked(server_id, lambda: self._session.read(server_id, uri))

    async def _asked(self, server_id: str, ask: Callable[[], Awaitable[ToolReturn]]) -> ToolReturn:
        await self.ready(server_id)
        running = self._of(server_id)
        number = running.number
        try:
            return await ask()
        except EnvironmentProblem as problem:
            named = self._named(server_id, problem.told)
            gone = isinstance(problem, ServerGone) and running.state is ToolServerState.READY
            if gone and running.number == number:
                # the news of its end comes later; the next request starts it again
                self._settle(server_id, ToolServerState.ENDED, named.told)
            raise named from None

    def answer(self, number: int, end: QuestionEnd, values: Mapping[str, Value]) -> None:
        """The user's answer to a server's question."""
        self._session.answer(number, end, values)

    async def close(self) -> None:
        """End every server."""
        await self._lists.saved()
        await self._session.close()

    # --- news ----------------------------------------------------------------------------

    def _on_news(self, news: ServerNews) -> None:
        match news:
            case ServerStarted() | ServerEnded() if self._is_past(news):
                pass
            case ServerStarted(server=server_id, lists=lists, handshake=handshake):
                self._lists.take(server_id, lists, handshake)
                self._settle(server_id, ToolServerState.READY, None)
            case ListsChanged(server=server_id, lists=lists):
                self._lists.take(server_id, lists)
                self._broadcast.tell(ToolServersChanged(server_id))
            case ServerEnded(server=server_id, problem=problem):
                state = ToolServerState.OFF if problem is None else ToolServerState.ENDED
                self._settle(server_id, state, problem)
            case ServerLogged(server=server_id, lines=lines):
                self._write_log(server_id, lines)
            case QuestionAsked():
                server = self._entries.get(news.server)
                name = news.server if server is None else server.name
                question = ServerQuestion(news.number, name, news.message, news.fields, news.url)
                self._broadcast.tell(ToolQuestion(question))
            case QuestionGone(number=number):
                self._broadcast.tell(ToolQuestionGone(number))

    def _is_past(self, news: ServerStarted | ServerEnded) -> bool:
        """True for news of a start before the last one, or before the server's end."""
        return news.start not in {0, self._of(news.server).number}

    def _write_log(self, server_id: str, lines: Sequence[str]) -> None:
        written = self._of(server_id).log
        written.extend(lines)
        while len(written) > LOG_LINES:
            written.popleft()
        self._broadcast.tell(ToolServersChanged(server_id))

    # --- inside --------------------------------------------------------------------------

    def _of(self, server_id: str) -> _Running:
        return self._servers.setdefault(server_id, _Running(log=deque(), waiting=[]))

    def _hold(self, work: asyncio.Future[None]) -> None:
        self._starts.add(work)
        work.add_done_callback(self._starts.discard)

    def _set(self, server_id: str, state: ToolServerState, problem: Told | None = None) -> None:
        running = self._of(server_id)
        running.state, running.problem = state, problem
        self._broadcast.tell(ToolServersChanged(server_id))

    def _settle(self, server_id: str, state: ToolServerState, problem: Told | None) -> None:
        """A start, or a server, has ended."""
        self._beginnings.end_soon(BegunKind.TOOL_SERVER, server_id)
        running = self._of(server_id)
        waiting, running.waiting = running.waiting, []
        self._set(server_id, state, problem)
        for one in waiting:
            if one.done():
                continue
            if state is ToolServerState.READY:
                one.set_result(None)
            else:
                found = problem or told("tool-server-not-running", server=server_id)
                one.set_exception(self._named(server_id, found))

    def _named(self, server_id: str, problem: Told) -> EnvironmentProblem:
        """A problem with the name of its server."""
        server = self._entries.get(server_id)
        name = server_id if server is None else server.name
        return EnvironmentProblem.of(replace(problem, facts={**problem.facts, "server": name}))
