"""The paths of the program's home."""

from __future__ import annotations

from pathlib import Path

import platformdirs
from msgspec import Struct


class Home(Struct, frozen=True):
    """The single folder with all of the user's data."""

    path: Path

    @classmethod
    def default(cls) -> Home:
        return cls(platformdirs.user_data_path("Headstart", appauthor=False))

    @property
    def names(self) -> frozenset[str]:
        """File names that identify a home."""
        own = (self.database, self.settings, self.backups, self.lock, self.logs, self.starts)
        return frozenset(path.name for path in own)

    @property
    def database(self) -> Path:
        return self.path / "headstart.db"

    @property
    def settings(self) -> Path:
        return self.path / "settings.json"

    @property
    def state(self) -> Path:
        return self.path / "state.json"

    @property
    def backups(self) -> Path:
        return self.path / "backups"

    @property
    def blobs(self) -> Path:
        return self.path / "blobs"

    @property
    def checked_models(self) -> Path:
        return self.path / "checked-models.json"

    @property
    def known_models(self) -> Path:
        return self.path / "models.json"

    @property
    def downloads(self) -> Path:
        return self.path / "downloads.json"

    @property
    def running(self) -> Path:
        return self.path / "engine-running.json"

    @property
    def starts(self) -> Path:
        return self.path / "starts.json"

    @property
    def beginnings(self) -> Path:
        return self.path / "beginnings.json"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def log(self) -> Path:
        return self.logs / "headstart.log"

    @property
    def prefixes(self) -> Path:
        return self.path / "prefixes"

    @property
    def knowledge(self) -> Path:
        return self.path / "knowledge.db"

    @property
    def tools(self) -> Path:
        return self.path / "tools"

    @property
    def temporary(self) -> Path:
        return self.path / "temporary"

    @property
    def lock(self) -> Path:
        return self.path / "headstart.lock"
