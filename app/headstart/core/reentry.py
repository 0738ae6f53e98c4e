"""How the program starts itself again, as a child that does one thing."""

from __future__ import annotations

import sys


def command(*arguments: str) -> list[str]:
    if getattr(sys, "frozen", False):
        # a package has no Python of its own: the program is what runs
        return [sys.executable, *arguments]
    return [sys.executable, "-m", "headstart", *arguments]
