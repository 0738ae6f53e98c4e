"""Errors of the MCP library as messages to the user. In the child; pure."""

from __future__ import annotations

import errno

import httpx2
import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from headstart.core.told import Told, told
from headstart.tools.sifted import reason


def problem_of(error: BaseException, server: str) -> Told:
    """The message for an error, or for the first one of a group that says something."""
    for one in _single(error):
        found = _known(one, server)
        if found is not None:
            return found
    return told("tool-server-failed", server=server, reason=type(error).__name__)


def _single(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [inner for one in error.exceptions for inner in _single(one)]
    return [error]


def _known(error: BaseException, server: str) -> Told | None:
    match error:
        case FileNotFoundError():
            return told("tool-server-not-found", server=server, command=str(error.filename or ""))
        case PermissionError():
            return told("tool-server-not-allowed", server=server, command=str(error.filename or ""))
        case TimeoutError() | httpx2.TimeoutException():
            return told("tool-server-silent", server=server)
        case httpx2.HTTPStatusError():
            return of_status(error.response.status_code, server)
        case httpx2.TransportError():
            return told("tool-server-unreachable", server=server)
        case MCPError():
            return reason(error, server) or _of_answer(error, server)
        case ValidationError():
            return told("tool-server-unreadable", server=server)
        case OSError() if error.errno == errno.ENOEXEC:
            return told("tool-server-not-allowed", server=server, command=str(error.filename or ""))
    return None


def of_status(status: int, server: str) -> Told:
    """The message for an HTTP status that is an error."""
    if status in (401, 403):
        return told("tool-server-refused", server=server, status=status)
    return told("tool-server-status", server=server, status=status)


def _of_answer(error: MCPError, server: str) -> Told:
    """The library words HTTP errors and lost connections as answers of the server."""
    if error.error.code == types.CONNECTION_CLOSED:
        return told("tool-server-unreachable", server=server)
    said = " ".join(error.error.message.split())[:300]
    for status in (401, 403):
        if str(status) in said:
            return of_status(status, server)
    return told("tool-server-says", server=server, said=said)
