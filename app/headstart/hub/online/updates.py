"""Asks a single address for the newest version. On a worker thread, only if the user wants it.

Sends no cookie and no name of the user or the computer, and follows no redirections.
"""

from __future__ import annotations

import httpx2

from headstart.core.errors import EnvironmentProblem
from headstart.core.updates import Release, decode, may_ask

_SECONDS = 10.0
_LARGEST = 64 << 10
_HEADERS = {"User-Agent": "headstart", "Accept-Encoding": "identity"}


def newest(address: str) -> Release:
    """Raises EnvironmentProblem unless the address answers with a release."""
    if not may_ask(address):
        raise EnvironmentProblem("updates-address", address=address)
    try:
        with (
            httpx2.Client(timeout=_SECONDS, follow_redirects=False) as client,
            client.stream("GET", address, headers=_HEADERS) as answer,
        ):
            answer.raise_for_status()
            found = bytearray()
            for chunk in answer.iter_raw():
                found += chunk
                if len(found) > _LARGEST:
                    break
        return decode(bytes(found[: _LARGEST + 1]))
    except httpx2.HTTPError as error:
        raise EnvironmentProblem(
            "updates-unreachable", address=address, reason=type(error).__name__
        ) from error
    except ValueError as error:
        raise EnvironmentProblem("updates-unreadable", address=address) from error
