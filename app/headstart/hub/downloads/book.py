"""The stored list of downloads: one small file in the home, written when a state changes."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec
from msgspec import Struct

from headstart.core import patient
from headstart.core.files import write_whole
from headstart.core.hub.downloads import DownloadRequest, DownloadState
from headstart.core.told import from_stored

log = logging.getLogger(__name__)

# finished downloads stay in the list until they are cleared, up to this many
_MOST_DONE = 50


class BookEntry(Struct, frozen=True):
    """One stored download; `reason` in the form of `Told.stored`. `made`: paths of the files that
    it finished itself."""

    wanted: DownloadRequest
    state: DownloadState
    reason: str = ""
    path: str = ""
    made: tuple[str, ...] = ()


class Book:
    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> list[BookEntry]:
        """Downloads of the last session; a damaged file is set aside, and only the list is lost:
        downloaded bytes stay in the cache."""
        try:
            data = self._path.read_bytes()
        except OSError:
            return []
        try:
            found = msgspec.json.decode(data, type=list[BookEntry])
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            log.warning("the list of downloads is damaged: %s", type(error).__name__)
            try:
                patient.replace(self._path, self._path.with_name(self._path.name + ".damaged"))
            except OSError:
                log.warning("the damaged list of downloads could not be set aside")
            return []
        return [entry for entry in found if entry.wanted.files and _sound(entry.reason)]

    def save(self, entries: list[BookEntry]) -> None:
        done = [entry for entry in entries if entry.state is DownloadState.DONE]
        dropped = {entry.wanted.id for entry in done[:-_MOST_DONE]}
        kept = [entry for entry in entries if entry.wanted.id not in dropped]
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._path, msgspec.json.format(msgspec.json.encode(kept), indent=1))
        except OSError as error:
            log.warning("the list of downloads could not be written: %s", error)


def _sound(reason: str) -> bool:
    return not reason or from_stored(reason) is not None
