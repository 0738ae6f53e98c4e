"""Vectors of texts by an embedding model, which stays loaded beside the chat models. Engine
thread."""

from __future__ import annotations

from collections import OrderedDict

from headstart.core.events import Embedded, Emit
from headstart.core.models.ref import ModelRef
from headstart.core.requests import EmbedRequest
from headstart.engine.backends.select import open_embedder
from headstart.engine.decoder import Embedder
from headstart.engine.generator import GaveWay
from headstart.engine.stop import StopSignal

# requests that paused and may go on; more were cancelled
_MOST_PAUSED = 16


class Embedding:
    def __init__(self) -> None:
        self._model: ModelRef | None = None
        self._embedder: Embedder | None = None
        # vectors and tokens so far of requests that gave way, by key
        self._paused: OrderedDict[str, list[tuple[bytes, int]]] = OrderedDict()

    def embed(self, request: EmbedRequest, emit: Emit, stop: StopSignal) -> None:
        """Emit the vectors; a stop or a more urgent job comes between two texts. Raises
        EnvironmentProblem and GaveWay."""
        embedder = self._open(request)
        found = self._paused.pop(request.key, [])
        for text in request.texts[len(found) :]:
            if stop.stopped:
                return
            if stop.gives_way:
                self._paused[request.key] = found
                while len(self._paused) > _MOST_PAUSED:
                    self._paused.popitem(last=False)
                raise GaveWay
            vector, tokens = embedder.embed(text)
            found.append((vector.tobytes(), tokens))
        vectors = tuple(vector for vector, _ in found)
        emit(Embedded(vectors, sum(tokens for _, tokens in found)))

    def close(self) -> None:
        if self._embedder is not None:
            self._embedder.close()
        self._embedder = self._model = None

    def _open(self, request: EmbedRequest) -> Embedder:
        if self._embedder is None or self._model != request.model:
            self.close()
            self._embedder, self._model = (
                open_embedder(request.model, request.engine),
                request.model,
            )
        return self._embedder
