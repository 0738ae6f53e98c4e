"""The thread of the server: uvicorn on an event loop of its own. Nothing of it is imported before
the first opening.

`ServerThread` is the door of `chat.serving`; its calls come from worker threads, one at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import sys
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from headstart.chat.serving.office import Office, Opening
from headstart.core import open_files
from headstart.core.errors import EnvironmentProblem

if TYPE_CHECKING:
    import uvicorn

log = logging.getLogger(__name__)

# connections at once, and the share of the files that this process may open: the rest is for
# models, databases and the window
MOST_CONNECTIONS, _SHARE = 256, 4
# connections that are accepted at once, so that a key is seen before its connection is the longest
# idle one; and those that wait for that in the system
_AT_ONCE, _QUEUE = 16, 1024
# programs keep a connection for their next request; the usual 5 s ends many just then
KEPT_SECONDS = 75
# seconds for the thread to begin and to end
_SECONDS = 10.0
_TRIED: dict[str, tuple[str, dict[str, Any]]] = {
    "chat": ("/v1/chat/completions", {"messages": [{"role": "user", "content": "Say hello."}]}),
    "responses": ("/v1/responses", {"input": "Say hello."}),
    "messages": ("/v1/messages", {"messages": [{"role": "user", "content": "Say hello."}]}),
}


class ServerThread:
    def __init__(self) -> None:
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    def open(self, opening: Opening, office: Office) -> None:
        """Listen; raises EnvironmentProblem where the port is taken."""
        import uvicorn

        from headstart.server.connections import HttpConnection, OpenConnections
        from headstart.server.routes import make_application

        files = open_files.limit()
        most = MOST_CONNECTIONS if files is None else min(MOST_CONNECTIONS, files // _SHARE)
        listening = _listen(opening)
        config = uvicorn.Config(
            make_application(opening, office),
            loop="asyncio",
            http=cast(Any, partial(HttpConnection, OpenConnections(most))),
            backlog=_AT_ONCE,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=KEPT_SECONDS,
            timeout_graceful_shutdown=1,
        )
        server = self._server = uvicorn.Server(config)
        began = threading.Event()

        def run() -> None:
            with listening:
                asyncio.run(_serve(server, listening, began))

        self._thread = threading.Thread(target=run, name="server", daemon=True)
        self._thread.start()
        if not began.wait(_SECONDS):
            raise EnvironmentProblem(
                "server-not-open", port=opening.port, reason="it does not begin"
            )

    def close(self) -> None:
        """End all requests, then the thread."""
        server, thread = self._server, self._thread
        self._server = self._thread = None
        if server is not None:
            server.should_exit = True
            server.force_exit = True
        if thread is not None:
            thread.join(_SECONDS)

    def tried(self, opening: Opening, dialect: str) -> str:
        """Send one short request to this server; returns the first words of the answer."""
        # only a test needs them, and they take longer to import than all of this
        import http.client
        import json

        path, body = _TRIED[dialect]
        connection = http.client.HTTPConnection("127.0.0.1", opening.port, timeout=300)
        longest = "max_output_tokens" if dialect == "responses" else "max_tokens"
        headers = {"authorization": f"Bearer {opening.key}", "content-type": "application/json",
                   "user-agent": "Headstart test"}  # fmt: skip
        with contextlib.closing(connection):
            try:
                data = json.dumps({**body, longest: 16})
                connection.request("POST", path, data, headers)
                found = json.loads(connection.getresponse().read())
            except (OSError, ValueError, http.client.HTTPException) as error:
                raise EnvironmentProblem("server-not-tried", reason=type(error).__name__) from error
        return _words(found)


async def _serve(server: Any, listening: socket.socket, began: threading.Event) -> None:
    serving = asyncio.ensure_future(server.serve(sockets=[listening]))
    until = time.monotonic() + _SECONDS
    while not server.started and not serving.done() and time.monotonic() < until:
        await asyncio.sleep(0.002)
    if server.started:
        with contextlib.suppress(OSError):
            listening.listen(_QUEUE)
        began.set()
    await serving


def _listen(opening: Opening) -> socket.socket:
    host = "0.0.0.0" if opening.network else "127.0.0.1"
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if sys.platform == "win32":
            # there the other option lets any program take the port away
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, opening.port))
        listening.listen(_QUEUE)
    except OSError as error:
        listening.close()
        raise EnvironmentProblem(
            "server-not-open", port=opening.port, reason=error.strerror or str(error)
        ) from error
    listening.setblocking(False)
    return listening


def _words(found: Any) -> str:
    """The text of a whole answer, in any dialect."""
    if not isinstance(found, dict):
        return ""
    error = found.get("error")
    if isinstance(error, dict):
        raise EnvironmentProblem("server-not-tried", reason=str(error.get("message"))[:300])
    texts: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            for key, each in value.items():
                if key in ("text", "content", "thinking", "reasoning_content") and isinstance(
                    each, str
                ):
                    texts.append(each)
                else:
                    walk(each)
        elif isinstance(value, list):
            for each in value:
                walk(each)

    for key in ("choices", "output", "content"):
        walk(found.get(key))
    return " ".join(texts)[:200]
