"""Stored KV state without its bytes, and the protocols of its index.

A record is a run of tokens under a parent: a whole one has as many tokens as the model's chunk and
may be a parent itself, a tail has fewer. A snapshot is the state at a position instead of a range,
for models that cannot be cut. `namespace` identifies everything that makes KV bytes differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Protocol

from msgspec import Struct, field

from headstart.core.told import Told

TOKEN_BYTES = 4


class RecordKind(StrEnum):
    RANGE = "range"
    SNAPSHOT = "snapshot"


class RecordInfo(Struct, frozen=True):
    """One record. `key` derives from the other fields; `tokens` are little-endian int32."""

    key: bytes
    parent: bytes
    namespace: bytes
    kind: RecordKind
    start: int
    tokens: bytes
    # of the file, header included
    size: int
    # a counter, not a clock: larger is later, and clocks can go back
    used: int = 0

    @property
    def length(self) -> int:
        return len(self.tokens) // TOKEN_BYTES

    @property
    def end(self) -> int:
        return self.start + self.length


class IndexState(Struct, frozen=True):
    """All content of an index."""

    records: Sequence[RecordInfo] = ()
    # pairs of a chat and a record that it needs
    uses: Sequence[tuple[str, bytes]] = ()
    # bytes written by day, YYYY-MM-DD
    written: Mapping[str, int] = field(default_factory=dict)


class PrefixIndex(Protocol):
    """Called on the prefix writer's thread; raises EnvironmentProblem."""

    def load(self) -> IndexState: ...

    def add(self, record: RecordInfo, chats: Iterable[str], day: str) -> None: ...

    def use(self, chat_id: str, keys: Iterable[bytes]) -> None: ...

    def touch(self, stamps: Mapping[bytes, int]) -> None: ...

    def remove(self, keys: Iterable[bytes]) -> None: ...

    def forget_chat(self, chat_id: str) -> None:
        """Drop all the chat's claims to records."""
        ...

    def release(self, chat_id: str, key: bytes) -> None:
        """Drop the chat's claim to this record."""
        ...


class Traces(Protocol):
    """Pieces of each chat's last prompt. Called on the engine thread; never raises."""

    def load(self, chat_id: str) -> bytes | None: ...

    def save(self, chat_id: str, data: bytes) -> None: ...

    def load_reply_tokens(self, chat_id: str) -> Sequence[tuple[bytes, bytes]]:
        """Digests of replies, with the packed tokens that were generated for each."""
        ...

    def save_reply_tokens(self, chat_id: str, digest: bytes, tokens: bytes) -> None: ...

    def forget_reply_tokens(self, chat_id: str, digest: bytes) -> None: ...


class PrefixUse(Struct, frozen=True):
    """Stored prefixes as the user sees them. Sizes are bytes on disk."""

    total: int
    budget: int
    by_chat: Mapping[str, int]
    written_today: int
    location: str
    in_memory: int
    # why nothing is written now; None if all is well
    trouble: Told | None = None
    memory_budget: int = 0
    # of documents and programs, by their owners
    names: Mapping[str, str] = field(default_factory=dict)
