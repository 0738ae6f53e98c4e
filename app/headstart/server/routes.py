"""Paths of the server: guard, dialect, admission, answer. The server's thread."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headstart import __version__
from headstart.chat.serving.office import Office, Opening
from headstart.core.errors import EnvironmentProblem
from headstart.core.serving.models import named
from headstart.core.serving.programs import program_of, session_of
from headstart.core.serving.request import ServedRequest
from headstart.core.text.whole import whole_json
from headstart.server import guard, models
from headstart.server.answering import Gone, Run, answer, refusal, until_gone
from headstart.server.bodies import Bodies
from headstart.server.dialects import chat, completions, embeddings, messages, responses
from headstart.server.dialects.declined import Declined
from headstart.server.dialects.reply import Answered, AnswerWriter
from headstart.server.dialects.wire import anthropic_error, openai_error

log = logging.getLogger(__name__)

# requests that wait or run; one more is told to come back
MOST_REQUESTS = 33
# what a program that is sent away should wait, in seconds
RETRY_SECONDS = 5
# a program that sends a body in drops is refused after this time
BODY_SECONDS = 60.0
# seconds in which the body of a refused request is still read
REST_SECONDS = 2.0


class Dialect(Struct, frozen=True):
    read: Callable[[Mapping[str, Any], str], ServedRequest]
    writer: Callable[[Answered], AnswerWriter]


DIALECTS: Mapping[str, Dialect] = {
    "/chat/completions": Dialect(chat.read, chat.ChatWriter),
    "/responses": Dialect(responses.read, responses.ResponsesWriter),
    "/completions": Dialect(completions.read, completions.CompletionsWriter),
    "/messages": Dialect(messages.read, messages.MessagesWriter),
}
_LISTS: Mapping[str, Callable[[Any], dict[str, Any]]] = {
    "/models": models.openai,
    "/v1/models": models.openai,
    "/api/v0/models": models.lm_studio,
    "/api/tags": models.ollama,
}
# some programs leave the version out, others say it twice
_VERSIONS = ("", "/v1", "/api/v0", "/v1/v1")


def make_application(opening: Opening, office: Office) -> Starlette:
    """The ASGI application of one opening."""
    desk = _Desk(office)
    routes = [
        Route("/", _alive),
        Route("/api/hello", _alive),
        Route("/api/version", _alive),
        *(Route(path, desk.listed) for path in _LISTS),
        Route("/v1/models/{name:path}", desk.one),
    ]
    for version in _VERSIONS:
        routes += [Route(version + path, desk.answer, methods=["POST"]) for path in DIALECTS]
        routes.append(Route(version + "/messages/count_tokens", desk.count, methods=["POST"]))
        routes.append(Route(version + "/embeddings", desk.embed, methods=["POST"]))
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guarded, opening=opening)],
        exception_handlers={
            Declined: _on_refused,
            EnvironmentProblem: _on_problem,
            HTTPException: _on_no_route,
            RecursionError: _on_depth,
            Exception: _on_bug,
        },
    )


class Guarded:
    """Lets through what the guard permits, with the headers that browsers want."""

    def __init__(self, app: ASGIApp, opening: Opening) -> None:
        self._app = app
        self._opening = opening

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if len(scope["path"]) > 1:
            scope["path"] = scope["path"].rstrip("/")
        request = Request(scope)
        more: dict[str, str] = {}
        try:
            keyed = guard.check(self._opening, request.method, request.url.path, request.headers)
            more = guard.cross_origin(self._opening, request.headers)
        except Declined as declined:
            await _refusal(request, declined)(scope, receive, _last(receive, send))
            return
        if keyed:
            scope["state"]["connection"].admit()
        else:
            send = _last(receive, send)

        async def with_more(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {"request-id": f"req_{uuid.uuid4().hex}", **more}
                message["headers"] += [(name.encode(), one.encode()) for name, one in given.items()]
            await send(message)

        if request.method == "OPTIONS":
            await Response(status_code=204)(scope, receive, with_more)
            return
        # a cancelled request is the end of the server
        with contextlib.suppress(ClientDisconnect, Gone, ConnectionError, asyncio.CancelledError):
            await self._app(scope, receive, with_more)


def _last(receive: Receive, send: Send) -> Send:
    """Send an answer after which the connection is closed: nothing stays open without the key.

    The rest of a body is read for a moment: a connection with unread bytes is reset, and the
    program might not see the answer.
    """

    async def send_last(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] += [(b"connection", b"close")]
        elif not message.get("more_body"):
            await send({**message, "more_body": True})
            await _read_rest(receive)
            message = {"type": "http.response.body", "body": b""}
        await send(message)

    return send_last


async def _read_rest(receive: Receive) -> None:
    size = 0
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(REST_SECONDS):
            while size < guard.LARGEST_BODY:
                message = await receive()
                size += len(message.get("body", b""))
                if not message.get("more_body"):
                    return


class _Desk:
    def __init__(self, office: Office) -> None:
        self._office = office
        self._bodies = Bodies()
        # fields that were passed over, told once each
        self._told: set[str] = set()

    async def listed(self, request: Request) -> Response:
        return _json(_LISTS[request.url.path](await self._office.models()))

    async def one(self, request: Request) -> Response:
        found = named(await self._office.models(), request.path_params["name"])
        if found is None:
            raise Declined(
                "There is no such model.", status=404, code="model_not_found", param="model"
            )
        return _json(models.one(found))

    async def count(self, request: Request) -> Response:
        served = await self._bodies.read(request, messages.read, BODY_SECONDS)
        return _json(messages.count_body(await self._office.count(served)))

    async def embed(self, request: Request) -> Response:
        self._check_room()
        wanted = await self._bodies.read(request, embeddings.read, BODY_SECONDS)
        program = program_of(request.headers)
        found = await self._office.embed(wanted.texts, wanted.model, program)
        return _json(embeddings.answer(wanted, found.vectors, found.tokens, found.model))

    def _check_room(self) -> None:
        if self._office.log.under_way >= MOST_REQUESTS:
            raise Declined("Too many requests wait already.", status=429)

    async def answer(self, request: Request) -> Response:
        self._check_room()
        dialect = DIALECTS[next(one for one in DIALECTS if request.url.path.endswith(one))]
        session, agent = session_of(request.headers)
        served = await self._bodies.read(
            request, lambda body: dialect.read(body, session), BODY_SECONDS
        )
        self._tell_ignored(served)
        program = program_of(request.headers, served.instructions)
        admitted = await self._office.admit(served, program, agent)
        reply_id = admitted.request.reply_key
        # the model that answers, whatever name the program gave
        answered = Answered(served, reply_id, admitted.model, int(time.time()))
        writer = dialect.writer(answered)
        return _Answer(Run(admitted, self._office, program), writer, served.streams)

    def _tell_ignored(self, served: ServedRequest) -> None:
        new = [name for name in served.ignored if name not in self._told]
        if new and len(self._told) < 200:
            self._told.update(new)
            log.info("fields of requests that this server passes over: %d", len(new))


class _Answer(Response):
    """An answer that ends when the program hangs up, even before its first byte."""

    def __init__(self, run: Run, writer: AnswerWriter, streams: bool) -> None:
        super().__init__()
        self._run, self._writer, self._streams = run, writer, streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        doing = asyncio.ensure_future(self._send(Request(scope), scope, receive, send))
        gone = asyncio.ensure_future(until_gone(receive))
        try:
            await asyncio.wait((doing, gone), return_when=asyncio.FIRST_COMPLETED)
            if not doing.done():
                self._run.hang_up()
                doing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await doing
        finally:
            gone.cancel()
            doing.cancel()
            self._run.close()

    async def _send(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            reply = await answer(self._run, self._writer, self._streams)
        except Declined as declined:
            await _refusal(request, declined)(scope, receive, send)
            return
        headers = [(name.encode(), value.encode()) for name, value in reply.headers.items()]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        async for part in reply.parts:
            if part:
                await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


async def _alive(request: Request) -> Response:
    del request
    return _json({"version": __version__, "headstart": __version__, "status": "running"})


def _json(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(whole_json(value), status, headers, "application/json")


def _refusal(request: Request, declined: Declined) -> Response:
    """An error in the dialect of the path."""
    anthropic = "/messages" in request.url.path or "anthropic-version" in request.headers
    body = anthropic_error(declined) if anthropic else openai_error(declined)
    more = {"retry-after": str(RETRY_SECONDS)} if declined.status in (429, 503) else {}
    return _json(body, declined.status, more)


async def _on_refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Declined)
    return _refusal(request, error)


async def _on_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, EnvironmentProblem)
    return _refusal(request, refusal(error.told))


async def _on_no_route(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    said = "The method is a wrong one here." if status == 405 else "There is nothing at this path."
    return _refusal(request, Declined(said, status=status))


async def _on_bug(request: Request, error: Exception) -> Response:
    """Our own error: loud here, with its traceback, and of the right shape for the program."""
    log.error("a request of a program failed", exc_info=error)
    said = f"Internal error: {type(error).__name__}. The log of Headstart has more."
    return _refusal(request, Declined(said, status=500))


async def _on_depth(request: Request, error: Exception) -> Response:
    del error
    return _refusal(request, Declined("The body is nested too deeply."))
