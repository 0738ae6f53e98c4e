"""The one place where settings change: checked, announced, then written on a worker thread."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from headstart.core.settings.schema import Settings, changed
from headstart.core.told import Told, told
from headstart.storage.adapters.settings_file import SettingsFile

log = logging.getLogger(__name__)


class Preferences:
    """Holds the current settings; main thread only."""

    def __init__(self, settings: Settings, file: SettingsFile) -> None:
        self.current = settings
        self._file = file
        self._listeners: list[Callable[[Settings], None]] = []
        # one thread, so that a later save never loses against an earlier one
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="settings")
        self._on_error: Callable[[Told], None] = lambda _problem: None

    def update(self, **changes: Any) -> Settings:
        """Change fields, tell everybody, save; raises SettingsError before anything changed."""
        new = changed(self.current, **changes)
        if new == self.current:
            return new
        self.current = new
        for listener in list(self._listeners):
            listener(new)
        self._writer.submit(self._save, new, asyncio.get_running_loop())
        return new

    def listen(self, listener: Callable[[Settings], None]) -> None:
        self._listeners.append(listener)

    def on_error(self, show: Callable[[Told], None]) -> None:
        self._on_error = show

    def close(self) -> None:
        """Wait for the last save."""
        self._writer.shutdown(wait=True)

    def _save(self, settings: Settings, loop: asyncio.AbstractEventLoop) -> None:
        try:
            self._file.save(settings)
        except OSError as error:
            log.warning("settings could not be saved: %s", error)
            problem = told("settings-not-saved", error=error.strerror or error)
            loop.call_soon_threadsafe(self._on_error, problem)
