"""ibus with its engines on a screen in memory, as a desktop starts it."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from tests.support.patience import wait_for
from tests.support.screen import Screen, missing_tools, screen
from tests.support.session_bus import session_bus

TOOLS = ("ibus-daemon", "ibus", "dbus-daemon", "gsettings")
# engines that begin with letters of their own only when they are told to
_MODES = {
    "anthy": ("org.freedesktop.ibus.engine.anthy.common", "input-mode", "0"),
    "hangul": ("org.freedesktop.ibus.engine.hangul", "initial-input-mode", "hangul"),
}


def missing() -> list[str]:
    return [*missing_tools(), *(tool for tool in TOOLS if shutil.which(tool) is None)]


class Composing:
    def __init__(self, shown: Screen) -> None:
        self.screen = shown

    def has(self, engine: str) -> bool:
        return f"  {engine} - " in self.screen.do("ibus", "list-engine")

    def choose(self, engine: str) -> None:
        if engine in _MODES:
            self.screen.do("gsettings", "set", *_MODES[engine])
        self.screen.do("ibus", "engine", engine)
        wait_for(lambda: self.screen.do("ibus", "engine") == engine)
        # the engine is started by the field that has the keyboard
        time.sleep(3)

    def click(self, place: tuple[int, int]) -> None:
        self.screen.do("xdotool", "mousemove", *map(str, place))
        time.sleep(0.3)
        self.screen.do("xdotool", "click", "1")
        time.sleep(0.7)

    def write(self, keys: str) -> None:
        self.screen.do("xdotool", "type", "--delay", "150", keys)
        time.sleep(1)


@contextlib.contextmanager
def ibus(home: Path) -> Iterator[Composing]:
    """The screen's programs have `home` as their user's."""
    runtime = home / "runtime"
    runtime.mkdir(mode=0o700)
    own = {
        "HOME": str(home), "XDG_RUNTIME_DIR": str(runtime), "QT_IM_MODULE": "ibus",
        "XMODIFIERS": "@im=ibus", "LANG": "C.UTF-8", "PYTHON_KEYRING_BACKEND": "",
        # the engines are the system's Python's
        "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
    }  # fmt: skip
    hidden = ("PYTHONPATH", "VIRTUAL_ENV", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")
    environment = {key: value for key, value in os.environ.items() if key not in hidden} | own
    with session_bus(environment) as (_address, found), screen(found) as shown:
        shown.begin("ibus-daemon", "-d", "-r", "--emoji-extension", "disable")
        wait_for(lambda: shown.do("ibus", "list-engine"))
        try:
            yield Composing(shown)
        finally:
            shown.do("ibus", "exit")
