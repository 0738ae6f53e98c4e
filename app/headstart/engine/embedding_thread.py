"""An embedding model on a thread of its own: the window's searches never wait for a reply.

One text at a time, so that a question comes between two passages. Models for search are small: a
question takes 7 ms on one core, a passage of 256 tokens 130 ms.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import EngineSettings
from headstart.engine.backends.select import open_embedder
from headstart.engine.decoder import Embedder

# seconds without work after which the model is unloaded
_REST = 300.0
# passages are embedded on one core, below the window and replies
_NICE = 10
T = TypeVar("T")


class EmbeddingThread:
    """Methods are called on the event loop."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "embedding")
        self._model: ModelRef | None = None
        self._embedder: Embedder | None = None
        self._unloading: asyncio.TimerHandle | None = None

    async def vectors(self, model: ModelRef, texts: Sequence[str], cut: int) -> list[bytes]:
        """Vectors of length 1, as float32, of texts that are cut after `cut` tokens. Raises
        EnvironmentProblem."""
        return [await self._run(partial(self._embed, model, text, cut)) for text in texts]

    def close(self) -> None:
        if self._unloading is not None:
            self._unloading.cancel()
        self._pool.submit(self._unload)
        self._pool.shutdown()

    async def _run(self, call: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        if self._unloading is not None:
            self._unloading.cancel()
        try:
            return await loop.run_in_executor(self._pool, call)
        finally:
            self._unloading = loop.call_later(_REST, lambda: self._pool.submit(self._unload))

    def _embed(self, model: ModelRef, text: str, cut: int) -> bytes:
        if self._embedder is None or self._model != model:
            self._unload()
            _step_back()
            self._embedder = open_embedder(model, EngineSettings(threads=1))
            self._model = model
        return self._embedder.embed(text, cut)[0].tobytes()

    def _unload(self) -> None:
        if self._embedder is not None:
            self._embedder.close()
        self._embedder = self._model = None


def _step_back() -> None:
    """Give this thread a lower priority, on systems that have one for each thread."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
