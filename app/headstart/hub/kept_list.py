"""The small file that stores the shelf's knowledge. Worker threads."""

from __future__ import annotations

import contextlib
import logging
import threading
from pathlib import Path

import msgspec
from msgspec import Struct, field

from headstart.core import patient
from headstart.core.files import write_whole
from headstart.core.models.installed import About

log = logging.getLogger(__name__)


class SeenFile(Struct):
    """Facts read at a location, and the state of the files then."""

    state: tuple[int, int]
    name: str
    content: str
    about: About
    size: int
    # the fault of the file, as `Told.stored` writes it
    trouble: str = ""


class KeptFacts(Struct):
    """Facts that stay with a model's bytes at any location."""

    # its key in measurements: made from the file's name when first seen
    signature: str
    name: str = ""
    notes: str = ""
    last_used: float = 0.0
    paths: list[str] = field(default_factory=list)
    # gains of drafts for it, by the drafts' contents
    drafts: dict[str, tuple[float, int]] = field(default_factory=dict)


class Kept(Struct):
    seen: dict[str, SeenFile] = field(default_factory=dict)
    known: dict[str, KeptFacts] = field(default_factory=dict)


class KeptList:
    """`lock` is held while it is loaded, changed and saved. Without a `path` nothing is saved."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.lock = threading.RLock()
        self._kept: Kept | None = None

    def load(self) -> Kept:
        if self._kept is None:
            self._kept = Kept()
            if self._path is None:
                return self._kept
            try:
                self._kept = msgspec.json.decode(self._path.read_bytes(), type=Kept)
            except FileNotFoundError:
                pass
            except OSError as error:
                # it may be readable at the next start: do not overwrite it
                log.warning("the list of models cannot be read: %s", type(error).__name__)
                self._path = None
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                # names and notes are lost to this version; everything else is found again
                log.warning("the list of models cannot be read: %s", type(error).__name__)
                with contextlib.suppress(OSError):
                    patient.replace(self._path, self._path.with_name(self._path.name + ".damaged"))
        return self._kept

    def save(self) -> None:
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._path, msgspec.json.encode(self.load()))
        except OSError as error:
            log.warning("the list of models cannot be written: %s", error)
