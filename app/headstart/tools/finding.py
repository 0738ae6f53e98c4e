"""Folders with programs that a desktop's own path leaves out: a program started from a menu does
not find `npx` or `uvx` otherwise. Any thread."""

from __future__ import annotations

import sys
from pathlib import Path

# relative to the user's home
_OF_USER = (
    ".local/bin",
    ".cargo/bin",
    ".volta/bin",
    ".bun/bin",
    ".deno/bin",
    ".asdf/shims",
    ".local/share/mise/shims",
    ".pyenv/shims",
    "go/bin",
)
_OF_SYSTEM = ("/usr/local/bin", "/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin", "/snap/bin")


def more_folders() -> list[str]:
    """Existing folders, the user's first; of nvm the newest version of Node.js."""
    if sys.platform == "win32":
        return []
    home = Path.home()
    folders = [home / one for one in _OF_USER]
    versions = sorted((home / ".nvm/versions/node").glob("v*/bin"), key=_version)
    folders += versions[-1:]
    folders += [Path(one) for one in _OF_SYSTEM]
    return [str(one) for one in folders if one.is_dir()]


def _version(folder: Path) -> list[int]:
    numbers = folder.parent.name.removeprefix("v").split(".")
    return [int(one) if one.isascii() and one.isdecimal() else 0 for one in numbers]
