"""Backups of all the user's chats and settings: made while the program runs, and restored without
losing newer data.

A backup is a zip with the database (copied through SQLite's backup API), files and images, settings
and the list of models. Restoring is a merge: missing chats and messages come back, existing ones
stay. The automatic copies, made daily and before each schema change, are restored in the same way.
On the event loop's thread; the work runs on worker threads.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from headstart import __version__
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ChatsChanged
from headstart.chat.preferences import Preferences
from headstart.chat.transfer import intake
from headstart.chat.transfer.importing import scratch_folder
from headstart.chat.transfer.intake import ImportJobRun, ImportPlan, Result
from headstart.core import patient
from headstart.core.errors import EnvironmentProblem
from headstart.core.files import new_partial
from headstart.core.servers import Connection
from headstart.core.settings.schema import Settings
from headstart.exchange.report import Report
from headstart.storage.adapters.settings_file import SettingsFile
from headstart.storage.worker import Storage

_FORMAT, _FACTS = "headstart-backup", "headstart-backup.json"
_MODELS = "models.json"
_COMPRESSION = 3
_STAMP = re.compile(r"-(\d{8}-\d{6})-([a-z]+)")
SUFFIX = ".headstart-backup.zip"


class Places(Struct, frozen=True):
    """Paths of the files in a home folder."""

    database: Path
    backups: Path
    blobs: Path
    settings: Path
    models: Path
    scratch: Path


class Copy(Struct, frozen=True):
    """An automatic copy of the database; seconds since 1970, bytes. `kind`: "daily" or "schema"."""

    path: Path
    made_at: float
    kind: str
    size: int


class Making(Struct):
    """A backup being made: `stop` ends it soon; `count` of `total` files are in it."""

    stop: threading.Event = field(default_factory=threading.Event)
    count: int = 0
    total: int = 0


class Backups:
    def __init__(
        self,
        storage: Storage,
        places: Places | None,
        preferences: Preferences,
        broadcast: Broadcast,
    ) -> None:
        """Without `places` (in unrelated tests) there is nothing to copy."""
        self._storage = storage
        self._places = places
        self._preferences = preferences
        self._broadcast = broadcast

    async def copies(self) -> list[Copy]:
        """The automatic copies, the newest first."""
        return await asyncio.to_thread(self._copies)

    async def make(self, path: Path, making: Making) -> bool:
        """Write a backup; False if it was stopped. The file is complete or does not exist. Raises
        EnvironmentProblem."""
        return await asyncio.to_thread(self._make, path, making)

    async def plan(self, path: Path, run: ImportJobRun) -> ImportPlan:
        """Plan the restore of a backup, or of an automatic copy. Raises EnvironmentProblem."""

        def look() -> ImportPlan:
            from headstart.chat.transfer.backup_source import opened

            with opened(path, self._storage, self._scratch) as source:
                found = intake.plan(self._storage, source.incoming(), Report(), run)
                found.has_settings = source.settings is not None
                return found

        return await asyncio.to_thread(look)

    async def restore(self, path: Path, run: ImportJobRun, with_settings: bool = False) -> Result:
        """Restore missing chats and messages; `with_settings`: the backup's settings too. Raises
        EnvironmentProblem."""
        settings: list[Settings] = []

        def work() -> Result:
            from headstart.chat.transfer.backup_source import opened

            with opened(path, self._storage, self._scratch) as source:
                if with_settings and source.settings is not None:
                    settings.append(SettingsFile(source.settings).load()[0])
                return intake.take(self._storage, source.incoming(), Report(), run)

        try:
            result = await asyncio.to_thread(work)
        finally:
            self._broadcast.tell(ChatsChanged())
        if settings and not result.stopped:
            now = self._preferences.current
            values = {name: getattr(settings[0], name) for name in settings[0].__struct_fields__}
            kept = {name: getattr(now, name) for name in _OF_THIS_COMPUTER}
            asked = {"connections": _asked_again(settings[0].connections, now.connections)}
            self._preferences.update(**{**values, **kept, **asked})
        return result

    @property
    def _scratch(self) -> Path | None:
        return self._places.scratch if self._places is not None else None

    # --- on a worker thread --------------------------------------------------------------

    def _copies(self) -> list[Copy]:
        if self._places is None:
            return []
        from headstart.storage.rescue.copies import newest_first

        found = []
        for path in newest_first(self._places.database, self._places.backups):
            stamp = _STAMP.search(path.name)
            if stamp is not None:
                with contextlib.suppress(OSError, ValueError):
                    moment = time.mktime(time.strptime(stamp[1], "%Y%m%d-%H%M%S"))
                    found.append(Copy(path, moment, stamp[2], path.stat().st_size))
        return found

    def _make(self, path: Path, making: Making) -> bool:
        import sqlite3

        from headstart.storage.rescue.copies import CopyStopped, copy_database

        places = self._places
        assert places is not None
        partial = None
        try:
            partial = new_partial(path.parent)
            with scratch_folder(places.scratch) as folder:
                copy = copy_database(places.database, folder, "backup", 1, making.stop.is_set)
                self._write(partial, copy, making)
            if making.stop.is_set():
                return False
            patient.replace(partial, path)
            return True
        except CopyStopped:
            return False
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or error
            raise EnvironmentProblem("file-not-written", path=path, reason=reason) from error
        finally:
            if partial is not None:
                patient.remove(partial)

    def _write(self, path: Path, copy: Path, making: Making) -> None:
        import sqlite3
        import zipfile

        from headstart.storage.tables import search as search_tables

        places = self._places
        assert places is not None
        blobs = sorted(places.blobs.glob("*/*")) if places.blobs.is_dir() else []
        making.total = len(blobs) + 1
        with contextlib.closing(sqlite3.connect(copy)) as connection:
            # the search index is rebuilt where the backup is restored
            search_tables.empty(connection)
            # drops the zeroed pages of deleted text
            connection.execute("VACUUM")
            counts = [
                connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                for table in ("chats", "messages")
            ]
        facts = {
            "format": _FORMAT,
            "version": 1,
            "program": __version__,
            "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "chats": counts[0],
            "messages": counts[1],
        }
        from headstart.chat.transfer.backup_source import DATABASE, SETTINGS

        kind = zipfile.ZIP_DEFLATED
        with zipfile.ZipFile(
            path, "w", kind, compresslevel=_COMPRESSION, strict_timestamps=False
        ) as archive:
            archive.writestr(_FACTS, json.dumps(facts, indent=1))
            archive.write(copy, DATABASE)
            for name, file in ((SETTINGS, places.settings), (_MODELS, places.models)):
                if file.is_file():
                    archive.write(file, name)
            for blob in blobs:
                if making.stop.is_set():
                    return
                # images are already compressed
                with contextlib.suppress(FileNotFoundError):
                    archive.write(blob, f"blobs/{blob.name}", zipfile.ZIP_STORED)
                making.count += 1


# settings that a restore leaves alone: paths belong to this computer, and the user decides on it
# what may use the network
_OF_THIS_COMPUTER = (
    "mirror_folder",
    "updates",
)


def _asked_again(found: Sequence[Connection], now: Sequence[Connection]) -> tuple[Connection, ...]:
    """Servers of a backup, each with the consent and the certificate file it has on this computer
    now: a restore brings neither."""
    known = {(one.id, one.url): one for one in now}
    return tuple(
        replace(
            one,
            allowed=(here := known.get((one.id, one.url))) is not None and here.allowed,
            certificate=here.certificate if here is not None else "",
        )
        for one in found
    )
