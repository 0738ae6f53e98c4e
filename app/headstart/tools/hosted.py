"""One tool server, as the child process keeps it: connected, listed, called. In the child.

One task enters and leaves the library's client; each request is a task beside it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx2
import mcp_types as types
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from headstart.core.told import Told, told
from headstart.core.tool_servers.lists import ServerLists
from headstart.core.tool_servers.results import TextContent
from headstart.tools import converted
from headstart.tools.asking import Questions
from headstart.tools.lines import MESSAGE
from headstart.tools.listing import Listing
from headstart.tools.problems import of_status, problem_of
from headstart.tools.sifted import Sifter, reason, sifted
from headstart.tools.transport import ServerProcess
from headstart.tools.web import web_client
from headstart.tools.wire import (
    CallProgressed,
    CallTool,
    FromHost,
    GetPrompt,
    ListsChanged,
    ReadResource,
    RequestFailed,
    Returned,
    ServerEnded,
    ServerStarted,
    StartServer,
)

log = logging.getLogger(__name__)

# seconds to connect; a first start may download the server
_START_SECONDS = 180.0
_PROGRESS_SECONDS = 0.1
# Windows' statuses from here on are exceptions of native code that nothing handled
_WINDOWS_CRASH = 0xC0000000
# least seconds between two lists
_LIST_SECONDS = 1.0
_PROGRAM = "Headstart"
Request = CallTool | GetPrompt | ReadResource
Send = Callable[[FromHost], None]


class HostedServer:
    def __init__(self, start: StartServer, send: Send, say: Callable[[str], None]) -> None:
        """`send` passes messages to the program, `say` lines to the server's log."""
        self._start = start
        self._send = send
        self._say = say
        self._client: Client | None = None
        self._listing = Listing(say)
        self._sifter = Sifter(lambda reason: self._listing.tell(reason))
        self._process = None if start.url else ServerProcess(start, say, self._sifter)
        self._questions = Questions(start.server, send, lambda: bool(self._requests))
        self._requests: dict[int, asyncio.Task[None]] = {}
        self._relist = asyncio.Event()
        # of the last HTTP answer; set once it forgot the session
        self._status = 200
        self._lost = asyncio.Event()
        self._asked_to_end = self._replaced = self._ending = False
        self.task = asyncio.ensure_future(self._run())

    def end(self, replaced: bool = False) -> None:
        """`replaced`: another start follows, so nothing is said of this end."""
        self._replaced = self._replaced or replaced
        if not self._asked_to_end:
            # a second cancel would break the end of its processes off
            self._asked_to_end = True
            if not self._ending:
                self.task.cancel()

    # --- requests ------------------------------------------------------------------------

    def begin(self, request: Request) -> None:
        task = self._requests[request.number] = asyncio.ensure_future(self._answer(request))
        task.add_done_callback(lambda _task: self._requests.pop(request.number, None))

    def cancel(self, number: int) -> None:
        task = self._requests.get(number)
        if task is not None:
            task.cancel()

    @property
    def questions(self) -> Questions:
        return self._questions

    async def _answer(self, request: Request) -> None:
        client, number = self._client, request.number
        if client is None:
            self._send(
                RequestFailed(
                    number, told("tool-server-not-running", server=self._start.name), True
                )
            )
            return
        try:
            self._send(await self._ask(client, request))
        except asyncio.CancelledError:
            self._send(RequestFailed(number, told("tool-call-cancelled")))
            if not self._asked_to_end and not self.task.done():
                return
            raise
        except MCPError as error:
            # the server's own words: the model may do better next time
            ended = self._process is not None and self._process.ended.is_set()
            lost = self._process is None and self._status == 404
            if lost:
                # an address that was started again knows no session of before
                self._lost.set()
            unread = reason(error, self._start.name)
            if unread is not None and not ended:
                # only this request is lost
                self._send(RequestFailed(number, unread))
            elif ended or lost or error.error.code == types.CONNECTION_CLOSED:
                self._send(RequestFailed(number, self._end_of_process(error), True))
            else:
                self._send(Returned(number, (TextContent(error.error.message),), True))
        except Exception as error:
            log.info("a request to a tool server failed: %s", type(error).__name__)
            self._send(RequestFailed(number, problem_of(error, self._start.name)))

    async def _ask(self, client: Client, request: Request) -> Returned:
        match request:
            case CallTool():
                arguments = (
                    json.loads(request.arguments, strict=False) if request.arguments.strip() else {}
                )
                found = await client.call_tool(
                    request.tool, arguments, progress_callback=_Progress(request.number, self._send)
                )
                content = converted.content_of(found.content, found.structured_content)
                return Returned(request.number, content, found.is_error)
            case GetPrompt():
                prompt = await client.get_prompt(request.name, request.arguments)
                return Returned(request.number, converted.messages_of(prompt.messages))
            case ReadResource():
                read = await client.read_resource(request.uri)
                files = tuple(converted.file_of(one) for one in read.contents)
                return Returned(request.number, files)

    # --- the connection ------------------------------------------------------------------

    async def _run(self) -> None:
        problem: Told | None = None
        try:
            async with self._connected() as client:
                self._sifter.agree(client.protocol_version)
                lists = await self._list(client)
                self._client = client
                old_age = client.protocol_version not in MODERN_PROTOCOL_VERSIONS
                self._send(ServerStarted(self._start.server, lists, old_age, self._start.start))
                await self._stay(client)
                self._ending = True
                problem = self._end_of_process()
        except asyncio.CancelledError:
            if not self._asked_to_end:
                raise
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            log.info("a tool server ended: %s", type(error).__name__)
            problem = self._end_of_process(error)
        finally:
            self._client = None
            for task in list(self._requests.values()):
                task.cancel()
            if not self._replaced:
                ended = None if self._asked_to_end else problem
                self._send(ServerEnded(self._start.server, ended, self._start.start))

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Client]:
        start = self._start
        async with contextlib.AsyncExitStack() as stack:
            if self._process is not None:
                transport: AbstractAsyncContextManager[Any] = self._process.streams()
            else:
                http = await stack.enter_async_context(
                    web_client(start.url, start.variables, self._on_response)
                )
                transport = streamable_http_client(
                    start.url,
                    http_client=http,
                    # a server that does not answer must not hold up its own end
                    terminate_on_close=False,
                    max_sse_event_size=MESSAGE.size,
                )
            client = Client(
                sifted(transport, self._sifter),
                mode="legacy" if start.handshake else "auto",
                client_info=types.Implementation(name=_PROGRAM, version="1"),
                elicitation_callback=self._questions.ask,
                logging_callback=self._log_message,
                message_handler=self._on_message,
                # nothing old is shown after a change
                cache=None,
            )
            async with asyncio.timeout(_START_SECONDS):
                await stack.enter_async_context(client)
            yield client

    async def _stay(self, client: Client) -> None:
        """Keep the lists current until the server ends."""
        listening = asyncio.ensure_future(self._listen(client))
        ended = asyncio.ensure_future(
            self._process.ended.wait() if self._process is not None else self._lost.wait()
        )
        try:
            while not ended.done():
                changed = asyncio.ensure_future(self._relist.wait())
                await asyncio.wait({changed, ended}, return_when=asyncio.FIRST_COMPLETED)
                changed.cancel()
                if self._relist.is_set() and not ended.done():
                    self._relist.clear()
                    with contextlib.suppress(MCPError):
                        lists = await self._list(client)
                        self._send(ListsChanged(self._start.server, lists))
                    # a server may tell of a change at each turn
                    await asyncio.wait({ended}, timeout=_LIST_SECONDS)
        finally:
            for task in (listening, ended):
                task.cancel()
            await asyncio.gather(listening, ended, return_exceptions=True)

    async def _listen(self, client: Client) -> None:
        """Newer servers tell of changes only where they are asked to."""
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        with contextlib.suppress(
            ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError, OSError
        ):
            async with client.listen(
                tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
            ) as events:
                async for _event in events:
                    self._relist.set()

    async def _list(self, client: Client) -> ServerLists:
        self._listing = Listing(self._say)
        return await self._listing.lists(client)

    def _end_of_process(self, error: BaseException | None = None) -> Told:
        """The reason why the server ended, with its exit status where it is known."""
        process, name = self._process, self._start.name
        if process is None and self._status >= 400:
            return of_status(self._status, name)
        if process is not None and process.flooded:
            return told("tool-server-flooded", server=name)
        if process is not None and process.ended.is_set():
            status = process.status
            if status is None or status < 0 or status >= _WINDOWS_CRASH:
                return told("tool-server-ended", server=name)
            return told("tool-server-exited", server=name, status=status)
        return (
            problem_of(error, self._start.name)
            if error is not None
            else told("tool-server-ended", server=name)
        )

    async def _on_response(self, response: httpx2.Response) -> None:
        """Note a refusal: the library words it without its status."""
        self._status = response.status_code

    async def _on_message(self, message: object) -> None:
        if isinstance(
            message,
            types.ToolListChangedNotification
            | types.PromptListChangedNotification
            | types.ResourceListChangedNotification,
        ):
            self._relist.set()

    async def _log_message(self, params: types.LoggingMessageNotificationParams) -> None:
        data = params.data if isinstance(params.data, str) else json.dumps(params.data)
        self._say(f"{params.level}: {data}")


class _Progress:
    """Progress of a call, a few times a second."""

    def __init__(self, number: int, send: Send) -> None:
        self._number = number
        self._send = send
        self._told = 0.0

    async def __call__(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._told >= _PROGRESS_SECONDS:
            self._told = now
            words = " ".join((message or "").split())[:200]
            self._send(CallProgressed(self._number, float(progress), float(total or 0), words))
