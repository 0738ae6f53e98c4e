"""The text of a problem report: versions, settings without personal data, and the log, which holds
no text of chats. Nothing is sent. On the event loop's thread; files on a worker."""

from __future__ import annotations

import asyncio
import platform
import sys
from pathlib import Path
from typing import Annotated, Literal, get_args, get_origin

import msgspec
from msgspec import Struct

from headstart import __version__
from headstart.chat.preferences import Preferences
from headstart.core.errors import EnvironmentProblem
from headstart.core.files import write_whole

# characters from the end of the log
_MOST = 200_000


class Reporting:
    def __init__(self, log: Path | None, preferences: Preferences) -> None:
        self._log = log
        self._preferences = preferences

    async def text(self) -> str:
        """The whole report, for the user to read."""
        return await asyncio.to_thread(self._text)

    async def save(self, folder: str) -> str:
        """Write the report into a new folder inside `folder`; return its path. Raises
        EnvironmentProblem."""
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
        # a path contains the user's name, which they may not want to share
        return text[-_MOST:].replace(str(Path.home()), "~")


def _shown(settings: Struct) -> dict[str, object]:
    """Numbers, switches and choices only: a text may name a person, a file, a server or a chat."""
    found: dict[str, object] = {}
    for field in msgspec.structs.fields(settings):
        value = getattr(settings, field.name)
        if isinstance(value, Struct):
            found[field.name] = _shown(value)
        elif isinstance(value, bool | int | float) or _is_choice(field.type):
            found[field.name] = value
    return found


def _is_choice(kind: object) -> bool:
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    return get_origin(kind) is Literal


def _free(folder: Path) -> Path:
    place, number = folder / "Headstart report", 2
    while place.exists():
        place, number = folder / f"Headstart report {number}", number + 1
    return place
