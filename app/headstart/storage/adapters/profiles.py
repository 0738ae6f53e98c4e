"""Measured speeds for the engine, over the storage thread."""

from __future__ import annotations

import logging

from headstart.core.errors import EnvironmentProblem
from headstart.core.models.profiles import ProfileKey
from headstart.storage.worker import Storage

log = logging.getLogger(__name__)


class StoredProfiles:
    """`core.models.profiles.Profiles` on the storage thread; called on the engine thread."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def load(self, key: ProfileKey) -> bytes | None:
        try:
            return self._storage.submit(lambda store: store.profiles.load(key)).result()
        except EnvironmentProblem as problem:
            log.warning("a speed profile could not be read: %s", problem)
            return None

    def save(self, key: ProfileKey, data: bytes) -> None:
        """Does not wait: a lost measurement is repeated."""
        try:
            saved = self._storage.submit(lambda store: store.profiles.save(key, data))
        except RuntimeError:
            # the storage has been closed
            return
        saved.add_done_callback(
            lambda done: (
                log.warning("a speed profile could not be kept: %s", done.exception())
                if done.exception()
                else None
            )
        )
