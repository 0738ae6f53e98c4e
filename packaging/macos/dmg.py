"""Settings of `dmgbuild`: the app beside a link to the folder that it is dragged to.

dmgbuild -s packaging/macos/dmg.py -D app=dist/Headstart.app Headstart Headstart.dmg
"""

from __future__ import annotations

from typing import Any

# given by dmgbuild, which runs this file
defines: dict[str, Any] = globals().get("defines", {})

app = defines.get("app", "build/package/dist/Headstart.app")
files = [app]
symlinks = {"Applications": "/Applications"}
icon_locations = {"Headstart.app": (140, 160), "Applications": (400, 160)}
window_rect = ((200, 200), (540, 340))
icon_size = 96
format = "ULFO"  # noqa: A001
