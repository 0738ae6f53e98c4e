"""The Pythons that the set-up and packaging run on: from Debian 12's to the newest that is tried.

Standard library only, and readable by older ones, which are told what is missing.
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path

# Debian 12 has this one; the README and pyproject.toml say the same
OLDEST = (3, 11, 2)
NEWEST = (3, 13)
WANTED = f"Python {'.'.join(map(str, OLDEST))} or later, up to {'.'.join(map(str, NEWEST))}"


def inside(environment: Path, platform: str = sys.platform) -> Path:
    """The Python of a virtual environment."""
    return environment / ("Scripts/python.exe" if platform == "win32" else "bin/python")


def fits(version: tuple[int, ...]) -> bool:
    """True for a version that has been tried, given as `sys.version_info[:3]`."""
    return version >= OLDEST and version[:2] <= NEWEST


def wanted() -> str:
    return f"{WANTED} (this is {platform.python_version()})"
