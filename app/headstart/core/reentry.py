"""How the program starts itself again, as a child that does one thing."""

from __future__ import annotations

import sys


def command(option: str, *values: str) -> list[str]:
    return [sys.executable, "-m", "headstart", option, *values]
