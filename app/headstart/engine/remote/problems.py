"""Problems with servers and connections, in plain words with a remedy. Pure."""

from __future__ import annotations

import math
import socket
import ssl
from collections.abc import Iterator
from typing import Any

from headstart.core.answers import AnswerTooLong
from headstart.core.errors import EnvironmentProblem
from headstart.core.servers import Connection
from headstart.core.text.shown import shortened

# OpenSSL's errors for a server that does not use TLS
_NO_TLS = ("WRONG_VERSION_NUMBER", "UNKNOWN_PROTOCOL", "HTTP_REQUEST", "RECORD_LAYER_FAILURE")


class ServerProblem(EnvironmentProblem):
    """A problem of the server or the connection. `again`: seconds after which to try again, None
    for never."""

    def __init__(self, code: str, *, again: float | None = None, **facts: object) -> None:
        super().__init__(code, quotes=False, **facts)
        self.again = again

    @property
    def for_log(self) -> str:
        """The text for the log, without the server's words, which may quote the chat."""
        return f"a server's problem: {type(self.__cause__).__name__}"


def cut(connection: Connection) -> ServerProblem:
    """The stream ended before the reply did."""
    return ServerProblem("connection-ended", host=connection.host)


def silent(connection: Connection, seconds: float) -> ServerProblem:
    return ServerProblem("server-silent", host=connection.host, seconds=math.ceil(seconds))


def unreadable(connection: Connection) -> ServerProblem:
    return ServerProblem("answer-unreadable", host=connection.host)


def too_long(connection: Connection) -> ServerProblem:
    """More data came, in one piece or in total, than any chat reply has."""
    return ServerProblem("answer-too-long", host=connection.host)


def foreign(connection: Connection, what: str = "") -> ServerProblem:
    """The address does not belong to a chat server."""
    return ServerProblem(
        "not-a-chat-server", host=connection.host, detail=f" ({what})" if what else ""
    )


def explain(
    error: Exception, connection: Connection, model: str = "", secret: str = ""
) -> EnvironmentProblem:
    """The problem behind an exception of the client or of the layers below; removes `secret`."""
    problem = _explained(error, connection, model)
    if len(secret) > 3:
        problem.told = problem.told.without(secret)
    return problem


def _explained(error: Exception, connection: Connection, model: str) -> EnvironmentProblem:
    import openai

    host = connection.host
    if isinstance(error, EnvironmentProblem):
        return error
    if isinstance(error, openai.APIStatusError):
        return _status(error, connection, model)
    causes = list(_causes(error))
    if any(isinstance(cause, AnswerTooLong) for cause in causes):
        return too_long(connection)
    texts = " ".join(str(cause) for cause in causes)
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes) or (
        "CERTIFICATE_VERIFY_FAILED" in texts
    ):
        return ServerProblem("certificate-not-verified", host=host)
    if any(mark in texts for mark in _NO_TLS):
        return foreign(connection, "it does not speak https; perhaps http")
    if any(isinstance(cause, ssl.SSLError) for cause in causes) or "[SSL" in texts:
        return ServerProblem("no-encrypted-connection", host=host, reason=_short(str(causes[-1])))
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return ServerProblem("host-unknown", host=host)
    if any("ProxyError" in _kind(cause) for cause in causes):
        return ServerProblem("proxy-refuses", host=host, reason=_short(texts))
    if isinstance(error, TimeoutError) or any("Timeout" in _kind(c) for c in causes):
        return ServerProblem("no-answer", host=host)
    if any("ProtocolError" in _kind(cause) for cause in causes):
        if "without sending a response" in texts:
            # servers close idle connections: try once more, at once
            return ServerProblem("server-hangs-up", host=host, again=0.0)
        if "incomplete" in texts or "peer closed" in texts:
            return cut(connection)
        return foreign(connection)
    if isinstance(error, openai.APIConnectionError):
        if any("ConnectError" in _kind(cause) for cause in causes):
            return ServerProblem("cannot-be-reached", host=host)
        return cut(connection)
    if isinstance(error, openai.APIError):
        return ServerProblem("reply-ended-with-error", host=host, reason=_short(error.message))
    if isinstance(error, ValueError | TypeError | AttributeError | KeyError | RecursionError):
        return foreign(connection)
    if any("ReadError" in _kind(cause) for cause in causes):
        return cut(connection)
    return ServerProblem("connection-failed", host=host, reason=_short(str(error) or _kind(error)))


def _status(error: Any, connection: Connection, model: str) -> ServerProblem:
    """`error` is an `openai.APIStatusError`."""
    host, status, said = connection.host, error.status_code, _said(error)
    if status == 401:
        return ServerProblem("key-refused", host=host, said=_colon(said))
    if status == 403:
        return ServerProblem("not-allowed", host=host, said=_colon(said))
    if status == 404 and model and ("model" in said.lower() or error.code == "model_not_found"):
        return ServerProblem("server-has-no-such-model", host=host, model=model, said=_colon(said))
    if status in (404, 405) or 300 <= status < 400:
        return foreign(connection, f"status {status}{_colon(said)}")
    if status == 429:
        return ServerProblem("server-busy", host=host, said=_colon(said), again=_wait(error))
    if status == 503:
        return ServerProblem("server-not-ready", host=host, said=_colon(said), again=_wait(error))
    if status >= 500:
        return ServerProblem("server-failed", host=host, status=status, said=_colon(said))
    return ServerProblem("request-refused", host=host, status=status, said=_colon(said))


def _wait(error: Any) -> float:
    """Seconds to wait, from the server's `retry-after`."""
    try:
        return min(60.0, max(0.5, float(error.response.headers.get("retry-after", "2"))))
    except ValueError:
        return 2.0


def _said(error: Any) -> str:
    """The server's own reason; empty if it sent a web page."""
    found = error.body
    for _ in range(3):
        if isinstance(found, dict):
            found = found.get("error", found.get("message", found.get("detail")))
    json = "json" in error.response.headers.get("content-type", "")
    return _short(found) if isinstance(found, str) and json else ""


def _short(text: str) -> str:
    line = " ".join(text.split()).rstrip(".")
    return shortened(line, 300)


def _colon(said: str) -> str:
    return f": {said}" if said else ""


def _kind(error: BaseException) -> str:
    return type(error).__name__


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
