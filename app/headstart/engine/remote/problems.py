"""What goes wrong between here and a server, in plain words with what to do. Pure."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from typing import Any

from headstart.core.errors import EnvironmentProblem
from headstart.core.servers import Connection
from headstart.core.text import shortened

_SETTINGS = "under Settings, Servers"
# how TLS says that the other side speaks no TLS at all
_NO_TLS = ("WRONG_VERSION_NUMBER", "UNKNOWN_PROTOCOL", "HTTP_REQUEST", "RECORD_LAYER_FAILURE")


class ServerProblem(EnvironmentProblem):
    """The server, or the way to it. `again` in seconds: worth another try then."""

    def __init__(self, message: str, remedy: str, again: float | None = None) -> None:
        super().__init__(message, remedy)
        self.again = again

    @property
    def for_log(self) -> str:
        """Servers quote what they were sent: their words stay out of the log."""
        return f"a server's problem: {type(self.__cause__).__name__}"


def cut(connection: Connection) -> ServerProblem:
    """The stream ended before the reply did."""
    return ServerProblem(
        f"{connection.host} ended the connection in the middle of the reply.",
        "What was written is kept; “Continue” goes on from there.",
    )


def silent(connection: Connection, seconds: float) -> ServerProblem:
    return ServerProblem(
        f"{connection.host} said nothing for {seconds:.0f} seconds.",
        "What was written is kept; “Continue” tries again. A slow server may need more patience "
        f"({_SETTINGS}).",
    )


def unreadable(connection: Connection) -> ServerProblem:
    return ServerProblem(
        f"{connection.host} sent something that is not part of a chat.",
        "What was written is kept; “Continue” tries again. If this happens always, it is not a "
        "server with the OpenAI chat API.",
    )


def foreign(connection: Connection, what: str = "") -> ServerProblem:
    """Whatever answers there is no such server."""
    return ServerProblem(
        f"{connection.host} answers, but not as a server with the OpenAI chat API"
        f"{f' ({what})' if what else ''}.",
        f"Check the address {_SETTINGS}; it usually ends with /v1.",
    )


def explain(
    error: Exception, connection: Connection, model: str = "", secret: str = ""
) -> EnvironmentProblem:
    """An exception of the client, or of what lies below it; `secret` is blotted out."""
    problem = _explained(error, connection, model)
    if len(secret) > 3:
        problem.message = problem.message.replace(secret, "•••")
    return problem


def _explained(error: Exception, connection: Connection, model: str) -> EnvironmentProblem:
    import openai

    host = connection.host
    if isinstance(error, EnvironmentProblem):
        return error
    if isinstance(error, openai.APIStatusError):
        return _status(error, connection, model)
    causes = list(_causes(error))
    texts = " ".join(str(cause) for cause in causes)
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes) or (
        "CERTIFICATE_VERIFY_FAILED" in texts
    ):
        return ServerProblem(
            f"The certificate of {host} cannot be verified: it may be somebody else.",
            f"If it is your own server, choose the certificate that signed its own {_SETTINGS}.",
        )
    if any(mark in texts for mark in _NO_TLS):
        return foreign(connection, "it does not speak https; perhaps http")
    if any(isinstance(cause, ssl.SSLError) for cause in causes) or "[SSL" in texts:
        return ServerProblem(
            f"An encrypted connection to {host} could not be made ({_short(str(causes[-1]))}).",
            "It may speak only http, or want a certificate from you; ask whoever runs it.",
        )
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return ServerProblem(
            f"There is no computer with the name {host}, or no network.",
            f"Check the network and the address {_SETTINGS}.",
        )
    if any("ProxyError" in _kind(cause) for cause in causes):
        return ServerProblem(
            f"The proxy of this computer does not let {host} be reached ({_short(texts)}).",
            "Check the proxy settings of the system.",
        )
    if isinstance(error, TimeoutError) or any("Timeout" in _kind(c) for c in causes):
        return ServerProblem(
            f"{host} does not answer.", "Is it switched on, and in this network? Try again."
        )
    if any("ProtocolError" in _kind(cause) for cause in causes):
        if "without sending a response" in texts:
            # servers close connections that nobody used for a while: once more, at once
            return ServerProblem(
                f"{host} hangs up without an answer.",
                "It may have failed (its log says why), or be no server with the OpenAI chat API.",
                again=0.0,
            )
        if "incomplete" in texts or "peer closed" in texts:
            return cut(connection)
        return foreign(connection)
    if isinstance(error, openai.APIConnectionError):
        if any("ConnectError" in _kind(cause) for cause in causes):
            return ServerProblem(
                f"{host} cannot be reached.", "Is the server running, and the address right?"
            )
        return cut(connection)
    if isinstance(error, openai.APIError):
        return ServerProblem(
            f"{host} ended the reply with an error: {_short(error.message)}.",
            "What was written is kept; “Continue” tries again.",
        )
    if isinstance(error, ValueError | TypeError | AttributeError | KeyError | RecursionError):
        return foreign(connection)
    if any("ReadError" in _kind(cause) for cause in causes):
        return cut(connection)
    return ServerProblem(
        f"The connection to {host} failed: {_short(str(error) or _kind(error))}.", "Try again."
    )


def _status(error: Any, connection: Connection, model: str) -> ServerProblem:
    """`error` is an `openai.APIStatusError`."""
    host, status, said = connection.host, error.status_code, _said(error)
    if status == 401:
        return ServerProblem(
            f"{host} does not accept the key{_colon(said)}.", f"Enter the right one {_SETTINGS}."
        )
    if status == 403:
        return ServerProblem(
            f"{host} does not allow this{_colon(said)}.", "Ask whoever runs the server."
        )
    if status == 404 and model and ("model" in said.lower() or error.code == "model_not_found"):
        return ServerProblem(
            f"{host} has no model {model}: {said}.", "Choose another one in the model menu."
        )
    if status in (404, 405) or 300 <= status < 400:
        return foreign(connection, f"status {status}{_colon(said)}")
    if status == 429:
        return ServerProblem(
            f"{host} is busy, or the limit of this key is reached{_colon(said)}.",
            "Try again later.",
            again=_wait(error),
        )
    if status == 503:
        return ServerProblem(
            f"{host} is not ready{_colon(said)}.", "Try again in a moment.", again=_wait(error)
        )
    if status >= 500:
        return ServerProblem(
            f"{host} failed (status {status}){_colon(said)}.",
            "Try again; if it fails again, its log says why.",
        )
    return ServerProblem(
        f"{host} refuses this request (status {status}){_colon(said)}.",
        "Shorten the chat, or change the chat's settings.",
    )


def _wait(error: Any) -> float:
    """How long the server wants to be left alone."""
    try:
        return min(60.0, max(0.5, float(error.response.headers.get("retry-after", "2"))))
    except ValueError:
        return 2.0


def _said(error: Any) -> str:
    """What the server itself gives as the reason; nothing where it sent a web page."""
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
