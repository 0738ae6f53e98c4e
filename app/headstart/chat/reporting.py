"""What a report of a problem has: versions, settings without anything of the user's own, and the
log, which has no words of chats. Nothing is sent. On the event loop's thread; files on a worker."""

from __future__ import annotations

import asyncio
import platform
import sys
from pathlib import Path

import msgspec

from headstart import __version__
from headstart.chat.preferences import Preferences
from headstart.core.errors import EnvironmentProblem
from headstart.core.files import write_whole
from headstart.core.settings import Settings

# characters of the log, the last ones
_MOST = 200_000
# what may name a person, a file, a server or a chat
_OWN = frozenset(
    (
        "system_prompt", "presets", "prompts", "connections", "models", "model", "model_files",
        "open_chat", "open_place", "mirror_folder", "last_folder", "told_gains", "folders", "kept",
        "address", "bias", "stop", "schema", "values", "draft",
    )
)  # fmt: skip


class Reporting:
    def __init__(self, log: Path | None, preferences: Preferences) -> None:
        self._log = log
        self._preferences = preferences

    async def text(self) -> str:
        """All of it, for the user to read."""
        return await asyncio.to_thread(self._text)

    async def save(self, folder: str) -> str:
        """Write it into a folder of its own there; returns that. Raises EnvironmentProblem."""
        text = await self.text()

        def write() -> str:
            place = _free(Path(folder))
            try:
                place.mkdir(parents=True)
                write_whole(place / "report.txt", text.encode(), shared=True)
            except OSError as error:
                reason = error.strerror or type(error).__name__
                raise EnvironmentProblem("file-not-written", path=place, reason=reason) from error
            return str(place)

        return await asyncio.to_thread(write)

    def _text(self) -> str:
        settings = msgspec.json.format(msgspec.json.encode(_shown(self._preferences.current)))
        way = "packaged" if getattr(sys, "frozen", False) else "from source"
        parts = [
            f"Headstart {__version__}, Python {platform.python_version()}",
            f"{platform.system()} {platform.release()} ({platform.machine()}), {way}",
            f"Settings:\n{settings.decode()}",
            f"Log:\n{self._log_text()}",
        ]
        return "\n\n".join(parts) + "\n"

    def _log_text(self) -> str:
        if self._log is None:
            return "none is kept"
        try:
            text = self._log.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            return f"it cannot be read: {error.strerror or type(error).__name__}"
        # a path names the user, who may not want that
        return text[-_MOST:].replace(str(Path.home()), "~")


def _shown(settings: Settings) -> dict[str, object]:
    def without(values: object) -> object:
        if isinstance(values, dict):
            return {name: without(value) for name, value in values.items() if name not in _OWN}
        return values

    found = without(msgspec.to_builtins(settings))
    assert isinstance(found, dict)
    return found


def _free(folder: Path) -> Path:
    place, number = folder / "Headstart report", 2
    while place.exists():
        place, number = folder / f"Headstart report {number}", number + 1
    return place
