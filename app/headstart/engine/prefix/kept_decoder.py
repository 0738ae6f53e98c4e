"""The prefix cache's view of a decoder, or of a stand-in. Engine thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from headstart.engine.decoder import Blob, ModelFacts


class KeptDecoder(Protocol):
    """A part of `Decoder`, which documents the methods."""

    @property
    def facts(self) -> ModelFacts: ...

    def truncate(self, n: int, seq: int = 0) -> int: ...

    def reach(self, n: int) -> int: ...

    def lay_out(self, tokens: Sequence[int]) -> None: ...

    def export(self, start: int, end: int) -> Blob: ...

    def restore(self, blob: Blob, start: int, end: int) -> bool: ...

    def snapshot(self) -> Blob: ...

    def back(self, snapshot: Blob, n: int) -> bool: ...
