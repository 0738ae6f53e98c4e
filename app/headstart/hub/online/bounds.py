"""Limits every answer of the hub, beneath its library, except files fetched in pieces."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
from huggingface_hub.utils._http import default_client_factory

from headstart.core.answers import HUB, Answer, is_packed

# marks a request for a file; redirections keep it
PIECES = "headstart_pieces"


class _Counted(httpx2.SyncByteStream):
    def __init__(self, stream: httpx2.SyncByteStream, answer: Answer) -> None:
        self._stream = stream
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        for data in self._stream:
            yield from self._answer.parts(data)
            if self._answer.full:
                return

    def close(self) -> None:
        self._stream.close()


def bounded_client() -> httpx2.Client:
    """The library's own client, with limits on answers that are read as a whole."""
    client = default_client_factory()
    client.headers["Accept-Encoding"] = "gzip"
    hooks = client.event_hooks
    client.event_hooks = {**hooks, "response": [*hooks.get("response", []), _bound]}
    return client


def _bound(response: httpx2.Response) -> None:
    failed = response.status_code >= 400
    if not failed and PIECES in response.request.extensions:
        return
    packed = is_packed(response.headers.get("content-encoding", ""))
    if packed:
        del response.headers["content-encoding"]
    assert isinstance(response.stream, httpx2.SyncByteStream)
    response.stream = _Counted(response.stream, Answer(HUB, packed=packed, failed=failed))
