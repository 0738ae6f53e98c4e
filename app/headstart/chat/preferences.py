"""The only place where settings change: checked, announced, then saved on a worker thread."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from msgspec.structs import replace

from headstart.core.settings.schema import Settings, changed
from headstart.core.settings.state import WindowState
from headstart.core.told import Told, told
from headstart.storage.adapters.settings_file import SettingsFile
from headstart.storage.adapters.state_file import StateFile

log = logging.getLogger(__name__)


class Remembered:
    """The window's state for the next start. Has no listeners: the window already knows it."""

    def __init__(self, state: WindowState, save: Callable[[WindowState], object]) -> None:
        self.current = state
        self._save = save

    def update(self, **changes: Any) -> None:
        new = replace(self.current, **changes)
        if new != self.current:
            self.current = new
            self._save(new)


class Preferences:
    """Holds the current settings and the window's state; main thread only."""

    def __init__(
        self, settings: Settings, file: SettingsFile, state_file: StateFile | None = None
    ) -> None:
        """Without a state file, the window's state ends with the program."""
        self.current = settings
        self._state_file = state_file
        state = WindowState() if state_file is None else state_file.load()
        self.state = Remembered(state, self._keep)
        self._file = file
        self._listeners: list[tuple[Callable[[Settings], None], tuple[str, ...]]] = []
        # one thread, so that an earlier save never overwrites a later one
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="settings")
        self._on_error: Callable[[Told], None] = lambda _problem: None
        if state_file is not None and state_file.is_new and state != WindowState():
            # older versions kept the state in the settings file, whose next save drops it
            self._keep(state)

    def update(self, **changes: Any) -> Settings:
        """Change fields, tell the listeners, save; raises SettingsError before any change."""
        new = changed(self.current, **changes)
        if new == self.current:
            return new
        old, self.current = self.current, new
        for listener, sections in list(self._listeners):
            if not sections or any(getattr(new, one) != getattr(old, one) for one in sections):
                listener(new)
        self._writer.submit(self._save, new, asyncio.get_running_loop())
        return new

    def listen(self, listener: Callable[[Settings], None], *sections: str) -> None:
        """Call `listener` after each change of one of these settings fields, or of any field if
        none is named."""
        self._listeners.append((listener, sections))

    def on_error(self, show: Callable[[Told], None]) -> None:
        self._on_error = show

    def close(self) -> None:
        """Wait for the last save."""
        self._writer.shutdown(wait=True)

    def _keep(self, state: WindowState) -> None:
        if self._state_file is not None:
            self._writer.submit(_save_state, self._state_file, state)

    def _save(self, settings: Settings, loop: asyncio.AbstractEventLoop) -> None:
        try:
            self._file.save(settings)
        except OSError as error:
            log.warning("settings could not be saved: %s", error)
            problem = told("settings-not-saved", error=error.strerror or error)
            loop.call_soon_threadsafe(self._on_error, problem)


def _save_state(file: StateFile, state: WindowState) -> None:
    try:
        file.save(state)
    except OSError as error:
        # the user is told of a full disk when text is at stake
        log.warning("the state of the window could not be saved: %s", error)
