"""Memory that records are read into, used again and again; thread-safe.

A gigabyte of fresh memory costs the system a quarter of a million page faults, more time than
copying the bytes from its cache does.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headstart.engine.decoder import Blob

# more are not kept: what is in flight at once is few
_MOST = 4


class Scratch:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: list[Blob] = []

    def prepare(self, size: int, count: int) -> None:
        """Have `count` buffers of at least `size` bytes, their pages touched."""
        import numpy as np

        for _ in range(count):
            with self._lock:
                if sum(len(buffer) >= size for buffer in self._free) >= count:
                    return
            fresh = np.empty(size, np.uint8)
            fresh.fill(0)
            self.put_back(fresh)

    def take(self, size: int) -> Blob:
        import numpy as np

        with self._lock:
            for buffer in self._free:
                if len(buffer) >= size:
                    self._free = [other for other in self._free if other is not buffer]
                    return buffer
        return np.empty(size, np.uint8)

    def put_back(self, buffer: Blob) -> None:
        with self._lock:
            self._free.append(buffer)
            self._free.sort(key=len)
            # the largest serve for everything
            del self._free[:-_MOST]
