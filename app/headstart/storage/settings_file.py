"""settings.json: read with tolerance, written atomically.

A file that cannot be read is kept aside under another name and the defaults apply; single
values out of bounds fall back alone. Either way the user gets a notice.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import msgspec

from headstart.core.files import write_whole
from headstart.core.renamed import with_new_names
from headstart.core.settings import Settings, SettingsError, validated


class SettingsFile:
    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> tuple[Settings, str | None]:
        """The settings, and what to tell the user if not all of the file could be used."""
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return Settings(), None
        except OSError as error:
            return Settings(), f"The settings could not be read ({error}); defaults apply."
        try:
            values = msgspec.json.decode(data)
            if not isinstance(values, dict):
                raise msgspec.DecodeError("not an object")
        except (msgspec.MsgspecError, ValueError, RecursionError):
            aside = self._keep_aside()
            return Settings(), f"The settings file was damaged; defaults apply. {aside}"
        settings, dropped = _salvage(with_new_names(values))
        if not dropped:
            return settings, None
        aside = self._keep_aside()
        return settings, (
            f"Some settings were not valid and are back to their defaults: {', '.join(dropped)}. "
            f"{aside}"
        )

    def save(self, settings: Settings) -> None:
        """Write a new file beside the old one, wait for the disk, then rename it over."""
        data = msgspec.json.format(msgspec.json.encode(validated(Settings, settings)), indent=2)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self._path, data + b"\n")

    def _keep_aside(self) -> str:
        stamp = time.strftime("%Y%m%d-%H%M%S")
        aside = self._path.with_name(f"{self._path.stem}-damaged-{stamp}{self._path.suffix}")
        try:
            self._path.replace(aside)
        except OSError as error:
            return f"It could not be kept aside ({error.strerror})."
        return f"It was kept as {aside.name}."


def _salvage(values: dict[str, Any]) -> tuple[Settings, list[str]]:
    """Every value that is valid on its own; the names of those that are not."""
    try:
        return validated(Settings, values), []
    except SettingsError:
        pass
    kept: dict[str, Any] = {}
    dropped = []
    for name, value in values.items():
        try:
            validated(Settings, {name: value})
        except SettingsError:
            if isinstance(value, dict):
                inner = {}
                for key, item in value.items():
                    try:
                        validated(Settings, {name: {key: item}})
                        inner[key] = item
                    except SettingsError:
                        dropped.append(f"{name}.{key}")
                try:
                    validated(Settings, {name: inner})
                    kept[name] = inner
                except SettingsError:
                    dropped.append(name)
            else:
                dropped.append(name)
        else:
            kept[name] = value
    return validated(Settings, kept), dropped
