"""The input method of this desktop, chosen before Qt starts: the bundled Qt has a plugin for ibus
but none for fcitx, which also supports the one for ibus."""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping
from pathlib import Path

_NAMES = ("QT_IM_MODULES", "QT_IM_MODULE")
_FOLDER = "platforminputcontexts"


def choose_plugin(
    environment: MutableMapping[str, str], plugins: Path, platform: str = sys.platform
) -> None:
    """Have Qt load an installed plugin: without one the user cannot write Chinese or Japanese.

    `plugins`: the folder of Qt's plugins.
    """
    if not platform.startswith("linux"):
        return
    folders = [plugins, *map(Path, environment.get("QT_PLUGIN_PATH", "").split(os.pathsep))]
    for name in _NAMES:
        wanted = [one for one in environment.get(name, "").replace(",", ";").split(";") if one]
        if any(one.startswith("fcitx") for one in wanted) and not _is_there("fcitx", folders):
            environment[name] = "ibus"


def _is_there(name: str, folders: list[Path]) -> bool:
    return any(name in file.name for folder in folders for file in (folder / _FOLDER).glob("*.so"))
