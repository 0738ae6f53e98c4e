"""The only place where settings change: checked, announced, then saved on a worker thread."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from msgspec.structs import replace

from headstart.chat.outbox import Key, Write
from headstart.core.errors import EnvironmentProblem, NotWritten
from headstart.core.settings.schema import Settings, changed
from headstart.core.settings.state import WindowState
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
        self._keep_refused: Callable[[Key, Write, EnvironmentProblem], None] = (
            lambda _key, _write, _problem: None
        )
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
        self._submit("settings", lambda: self._file.save(new))
        return new

    def listen(self, listener: Callable[[Settings], None], *sections: str) -> None:
        """Call `listener` after each change of one of these settings fields, or of any field if
        none is named."""
        self._listeners.append((listener, sections))

    def keep_with(self, keep: Callable[[Key, Write, EnvironmentProblem], None]) -> None:
        """Call `keep` with what could not be saved, the write that saves it as it is then, and
        why."""
        self._keep_refused = keep

    async def settle(self) -> None:
        """Wait for the saves so far, and until what they were refused is kept."""
        await asyncio.wrap_future(self._writer.submit(lambda: None))
        await asyncio.sleep(0)

    def close(self) -> None:
        """Wait for the last save."""
        self._writer.shutdown(wait=True)

    def _keep(self, state: WindowState) -> None:
        file = self._state_file
        if file is not None:
            self._submit("state", lambda: file.save(state))

    def _submit(self, what: str, save: Callable[[], object]) -> None:
        loop = _running_loop()

        def run() -> None:
            try:
                save()
            except OSError as error:
                log.warning("%s could not be saved: %s", what, error)
                if loop is not None and not loop.is_closed():
                    loop.call_soon_threadsafe(self._refused, what, _problem(error))

        self._writer.submit(run)

    def _refused(self, what: str, problem: NotWritten) -> None:
        self._keep_refused((what,), lambda: self._save_again(what), problem)

    async def _save_again(self, what: str) -> None:
        """Save the settings or the window's state as they are now. Raises NotWritten."""
        settings, state, file = self.current, self.state.current, self._state_file

        def save() -> None:
            if what == "settings":
                self._file.save(settings)
            elif file is not None:
                file.save(state)

        try:
            await asyncio.wrap_future(self._writer.submit(save))
        except OSError as error:
            raise _problem(error) from error


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _problem(error: OSError) -> NotWritten:
    return NotWritten("settings-not-saved", error=error.strerror or error)
