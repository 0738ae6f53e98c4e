"""Blobs: the bytes of files and images, addressed by content. On the storage thread.

A blob is stored in the home under its SHA-256, so equal bytes are stored once. Those of private
chats stay in memory.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Collection
from pathlib import Path

from headstart.core import patient
from headstart.core.chats.parts import BlobRef, is_digest
from headstart.core.errors import EnvironmentProblem
from headstart.core.files import write_whole

log = logging.getLogger(__name__)


class Blobs:
    """`folder` None keeps everything in memory."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._memory: dict[str, bytes] = {}
        # added since the start: the message that refers to them may not be stored yet
        self._fresh: set[str] = set()

    def put(self, data: bytes, media_type: str) -> BlobRef:
        """Store bytes; raises OSError if the disk does not take them."""
        digest = hashlib.sha256(data).hexdigest()
        self._fresh.add(digest)
        if self._folder is None:
            self._memory[digest] = data
        else:
            self._write(self._path(self._folder, digest), data)
        return BlobRef(digest, len(data), media_type)

    def get(self, blob: BlobRef) -> bytes:
        """The bytes; raises EnvironmentProblem if they are gone or damaged."""
        try:
            if self._folder is None:
                data = self._memory[blob.digest]
            else:
                data = self._path(self._folder, blob.digest).read_bytes()
        except (OSError, KeyError) as error:
            raise EnvironmentProblem("blob-gone") from error
        if hashlib.sha256(data).hexdigest() != blob.digest:
            raise EnvironmentProblem("blob-damaged")
        return data

    def settle(self, digests: Collection[str]) -> None:
        """Note that messages with these blobs were stored: a blob goes with its last message."""
        self._fresh.difference_update(digests)

    def free(
        self, used: Collection[str], named_by_copies: Callable[[], Collection[str] | None] = tuple
    ) -> int:
        """Remove blobs that no message refers to, and unfinished files; returns the number.

        `named_by_copies` is called only if there is something to remove, so that the files of a
        restored copy stay. It returns None if a copy is unreadable now: then no file is removed.
        """
        kept, removed = {*used, *self._fresh}, 0
        for digest in set(self._memory) - kept:
            del self._memory[digest]
            removed += 1
        if self._folder is None or not self._folder.is_dir():
            return removed
        left = [path for path in self._folder.glob("*/*") if path.name not in kept]
        spared = named_by_copies() if left else ()
        if spared is None:
            return removed
        for path in left:
            if path.name not in spared:
                try:
                    patient.remove(path, missing_ok=False)
                except OSError as error:
                    log.warning("a file that nobody needs stays: %s", error.strerror)
                else:
                    removed += 1
        return removed

    @staticmethod
    def _path(folder: Path, digest: str) -> Path:
        if not is_digest(digest):
            raise EnvironmentProblem("blob-gone")
        return folder / digest[:2] / digest

    @staticmethod
    def _write(path: Path, data: bytes) -> None:
        there = path.is_file() and path.stat().st_size == len(data)
        # rewrite a damaged one
        if there and hashlib.sha256(path.read_bytes()).hexdigest() == path.name:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
