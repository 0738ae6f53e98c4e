"""The protocols of `core` for stored prefixes, on the storage thread.

For the prefix writer's thread and the engine thread; does not import SQLAlchemy, so that the window
can appear first.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from headstart.core.errors import EnvironmentProblem
from headstart.core.prefixes import IndexState, RecordInfo
from headstart.storage.worker import Storage, Store

log = logging.getLogger(__name__)
T = TypeVar("T")


class StoredPrefixes:
    """`core.prefixes.PrefixIndex`; every call waits for the storage thread."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def load(self) -> IndexState:
        return self._run(lambda store: store.prefixes.load())

    def add(self, record: RecordInfo, chats: Iterable[str], day: str) -> None:
        self._run(lambda store: store.prefixes.add(record, chats, day))

    def use(self, chat_id: str, keys: Iterable[bytes]) -> None:
        self._run(lambda store: store.prefixes.use(chat_id, keys))

    def touch(self, stamps: Mapping[bytes, int]) -> None:
        self._run(lambda store: store.prefixes.touch(stamps))

    def remove(self, keys: Iterable[bytes]) -> None:
        self._run(lambda store: store.prefixes.remove(keys))

    def forget_chat(self, chat_id: str) -> None:
        self._run(lambda store: store.prefixes.forget_chat(chat_id))

    def release(self, chat_id: str, key: bytes) -> None:
        self._run(lambda store: store.prefixes.release(chat_id, key))

    def _run(self, call: Callable[[Store], T]) -> T:
        try:
            return self._storage.submit(call).result()
        except RuntimeError as error:
            raise EnvironmentProblem("database-closed") from error


class StoredTraces:
    """`core.prefixes.Traces`; errors are logged and look like a missing trace."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def load(self, chat_id: str) -> bytes | None:
        return self._read(lambda store: store.prefixes.load_trace(chat_id), None)

    def save(self, chat_id: str, data: bytes) -> None:
        self._write(lambda store: store.prefixes.save_trace(chat_id, data))

    def load_reply_tokens(self, chat_id: str) -> Sequence[tuple[bytes, bytes]]:
        return self._read(lambda store: store.prefixes.load_reply_tokens(chat_id), [])

    def save_reply_tokens(self, chat_id: str, digest: bytes, tokens: bytes) -> None:
        self._write(lambda store: store.prefixes.save_reply_tokens(chat_id, digest, tokens))

    def forget_reply_tokens(self, chat_id: str, digest: bytes) -> None:
        self._write(lambda store: store.prefixes.forget_reply_tokens(chat_id, digest))

    def _read(self, call: Callable[[Store], T], missing: T) -> T:
        try:
            return self._storage.submit(call).result()
        except (EnvironmentProblem, RuntimeError) as problem:
            log.warning("what a prompt was made of could not be read: %s", problem)
            return missing

    def _write(self, call: Callable[[Store], None]) -> None:
        """Does not wait."""
        try:
            saved = self._storage.submit(call)
        except RuntimeError:
            # the storage has been closed
            return
        saved.add_done_callback(
            lambda done: (
                log.warning("what a prompt was made of could not be kept: %s", done.exception())
                if done.exception()
                else None
            )
        )
