"""Questions of a tool server to the user: passed on to the program, answered from there. In the
child."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import mcp_types as types

from headstart.core.tool_servers.questions import QuestionEnd, fields_of
from headstart.tools.wire import AnswerQuestion, FromHost, QuestionAsked, QuestionGone

# questions of all servers, and of all runs of this child, have different numbers
_numbers = itertools.count(time.time_ns())
_LONGEST = 10_000


class Questions:
    def __init__(
        self, server: str, send: Callable[[FromHost], None], active: Callable[[], bool]
    ) -> None:
        """`active`: True while the server works on a request of the program."""
        self._server = server
        self._send = send
        self._active = active
        # one question at a time
        self._turn = asyncio.Lock()
        self._waiting: dict[int, asyncio.Future[AnswerQuestion]] = {}

    async def ask(self, context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        del context
        url = params.url if isinstance(params, types.ElicitRequestURLParams) else ""
        if not self._active() or (url and not opens(url)):
            return types.ElicitResult(action="decline")
        async with self._turn:
            return await self._ask(params)

    async def _ask(self, params: types.ElicitRequestParams) -> types.ElicitResult:
        number = next(_numbers)
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        message = params.message[:_LONGEST]
        if isinstance(params, types.ElicitRequestURLParams):
            self._send(QuestionAsked(number, self._server, message, url=params.url[:_LONGEST]))
        else:
            schema: Any = params.requested_schema
            if hasattr(schema, "model_dump"):
                schema = schema.model_dump(by_alias=True)
            self._send(QuestionAsked(number, self._server, message, fields_of(dict(schema))))
        answered = False
        try:
            answer = await future
            answered = True
        finally:
            self._waiting.pop(number, None)
            if not answered:
                self._send(QuestionGone(number))
        accepted = answer.end is QuestionEnd.ACCEPTED
        values: Any = dict(answer.values) if accepted and answer.values else None
        return types.ElicitResult(action=answer.end.value, content=values)

    def answer(self, answer: AnswerQuestion) -> None:
        """The user's answer; without effect where nobody waits for it."""
        future = self._waiting.get(answer.number)
        if future is not None and not future.done():
            future.set_result(answer)


def opens(url: str) -> bool:
    """True for an address of the web whose host can be shown: no file, no other program, no name
    before the host that looks like one."""
    try:
        parts = urlsplit(url)
        _port = parts.port
    except ValueError:
        return False
    web = parts.scheme in ("http", "https") and bool(parts.hostname)
    return web and "@" not in parts.netloc and len(url) <= _LONGEST
