"""settings.json: read leniently, written atomically.

An unreadable file is set aside under another name and the defaults apply; a single invalid value
falls back alone. Either way the user gets a notice.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import msgspec

from headstart.core import patient
from headstart.core.files import write_whole
from headstart.core.settings.renamed import with_new_names
from headstart.core.settings.schema import Settings, SettingsError, validated
from headstart.core.text.whole import whole_json
from headstart.core.told import Told, told


class SettingsFile:
    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> tuple[Settings, Told | None]:
        """The settings, and a message for the user if part of the file was unusable."""
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return Settings(), None
        except OSError as error:
            return Settings(), told("settings-unreadable", error=error.strerror or error)
        try:
            values = msgspec.json.decode(data)
            if not isinstance(values, dict):
                raise msgspec.DecodeError("not an object")
        except (msgspec.MsgspecError, ValueError, RecursionError):
            aside, facts = self._keep_aside()
            return Settings(), told("settings-damaged", aside=aside, **facts)
        settings, dropped = _salvage(with_new_names(values))
        if not dropped:
            return settings, None
        aside, facts = self._keep_aside()
        names = ", ".join(dropped)
        return settings, told("settings-partly-invalid", names=names, aside=aside, **facts)

    def save(self, settings: Settings) -> None:
        """Write a new file beside the old one, wait for the disk, then rename it over."""
        data = msgspec.json.format(whole_json(validated(Settings, settings)), indent=2)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self._path, data + b"\n")

    def _keep_aside(self) -> tuple[str, dict[str, str]]:
        """The code of the file's fate, and its facts."""
        stamp = time.strftime("%Y%m%d-%H%M%S")
        aside = self._path.with_name(f"{self._path.stem}-damaged-{stamp}{self._path.suffix}")
        try:
            patient.replace(self._path, aside)
        except OSError as error:
            return "not-kept-aside", {"reason": error.strerror or str(error)}
        return "kept-aside", {"kept": aside.name}


def _salvage(values: dict[str, Any]) -> tuple[Settings, list[str]]:
    """All values that are valid by themselves; the names of the others."""
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
