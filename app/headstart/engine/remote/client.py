"""The official openai client, configured to send only a chat's data, to one server only.

Clients are made on the thread that uses them. The first one imports the library.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from headstart.core.answers import BODY
from headstart.core.errors import EnvironmentProblem
from headstart.core.servers import Connection, ServerKind
from headstart.core.strange_json import decoded
from headstart.engine.remote.bounds import allowed, bound
from headstart.engine.remote.problems import explain

if TYPE_CHECKING:
    from openai import AsyncOpenAI

CONNECT_SECONDS = 10.0
LIST_SECONDS = 15.0
# some servers require a key but accept any
NO_KEY = "none"

_OWNERS: dict[str, ServerKind] = {
    "llamacpp": "llama.cpp",
    "me": "llama-cpp-python",
    "vllm": "vllm",
    "sglang": "sglang",
    "organization_owner": "lmstudio",
    "library": "ollama",
}


# called once a request of this task has been sent to its server
on_sent: ContextVar[Callable[[], None]] = ContextVar("on_sent")


class ServerOffer(Struct, frozen=True):
    """A server's list of models: their names, with context lengths (0: unknown)."""

    kind: ServerKind
    models: tuple[tuple[str, int], ...]


def open_client(connection: Connection, key: str | None) -> AsyncOpenAI:
    """A client for one connection; raises EnvironmentProblem for an unusable certificate file or
    proxy."""
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

    try:
        http = DefaultAsyncHttpxClient(
            verify=_trust(connection),
            timeout=Timeout(None, connect=CONNECT_SECONDS, write=60.0, pool=CONNECT_SECONDS),
            # a redirect would send the chat to another server than the user chose
            follow_redirects=False,
            # as would a proxy, which could read an unencrypted chat
            trust_env=connection.url.startswith("https://"),
            event_hooks={"request": [_watch], "response": [bound]},
            headers={"Accept-Encoding": "identity"},
        )
    except (ImportError, ValueError) as error:
        raise EnvironmentProblem("proxy-unusable", error=error) from error
    client = AsyncOpenAI(
        base_url=connection.url,
        api_key=key or NO_KEY,
        # the turn decides on retries and reports them
        max_retries=0,
        http_client=http,
    )
    # values from the environment belong to another service
    client.organization = client.project = None
    client._custom_headers = {}
    return client


async def _watch(request: Any) -> None:
    """Have the transport report when the request has been sent."""
    sent = on_sent.get(None)
    if sent is None:
        return

    async def trace(name: str, _info: dict[str, Any]) -> None:
        if name.endswith("send_request_body.complete"):
            sent()

    request.extensions = {**request.extensions, "trace": trace}


async def list_models(connection: Connection, key: str | None) -> ServerOffer:
    """Models that the server offers; raises EnvironmentProblem in plain words."""
    try:
        async with asyncio.timeout(LIST_SECONDS), open_client(connection, key) as client:
            with allowed(BODY):
                answer = await client.models.with_raw_response.list()
            server = answer.headers.get("server", "")
            return _offer(decoded(answer.http_response.content), server)
    except EnvironmentProblem:
        raise
    except Exception as error:
        raise explain(error, connection, secret=key or "") from error


def _offer(answer: Any, server: str) -> ServerOffer:
    """Raises ValueError for an answer that is not a list of models."""
    found = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(found, list):
        raise ValueError("no list of models")
    models, kind = [], _OWNERS.get("llamacpp" if "llama.cpp" in server.lower() else "", "")
    for item in found[:10_000]:
        name = item.get("id") if isinstance(item, dict) else None
        if isinstance(name, str) and name:
            models.append((name[:500], _context(item)))
            kind = kind or _OWNERS.get(str(item.get("owned_by")), "")
    return ServerOffer(kind, tuple(models))


def _context(item: dict[str, Any]) -> int:
    """Tokens of context, under any of the servers' names for it."""
    meta = item.get("meta")
    places = (item, meta if isinstance(meta, dict) else {})
    for name in ("max_model_len", "n_ctx", "max_context_length", "context_length"):
        for source in places:
            value = source.get(name)
            if isinstance(value, int) and 0 < value < 1 << 31:
                return value
    return 0


def _trust(connection: Connection) -> ssl.SSLContext | bool:
    if not connection.certificate:
        return True
    try:
        context = ssl.create_default_context()
        context.load_verify_locations(connection.certificate)
    except (OSError, ValueError) as error:
        raise EnvironmentProblem(
            "certificate-unusable", certificate=connection.certificate, name=connection.name
        ) from error
    return context
