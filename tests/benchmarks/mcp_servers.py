"""Tool servers that nobody here wrote: two from PyPI, two from npm, in the user's cache folder."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

from headstart.core.tool_servers.entry import ToolServer
from tests.benchmarks.peers import bench_cache

_NPM = ("@modelcontextprotocol/server-filesystem", "@modelcontextprotocol/server-everything")
_PYPI = ("mcp-server-time", "mcp-server-fetch")


def folder() -> Path:
    return bench_cache() / "tool-servers"


def install() -> None:
    """Install what is missing, without running the packages' scripts."""
    place = folder()
    place.mkdir(parents=True, exist_ok=True)
    if not (place / "node_modules").exists():
        (place / "package.json").write_text('{"private": true}\n')
        command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", *_NPM]
        subprocess.run(command, cwd=place, check=True, stdout=subprocess.DEVNULL)
    if not (place / "py" / "bin" / "mcp-server-fetch").exists():
        venv.create(place / "py", with_pip=True)
        pip = [str(place / "py" / "bin" / "pip"), "install", "-q", *_PYPI]
        subprocess.run(pip, check=True)


def real_servers(data: Path) -> dict[str, ToolServer]:
    """Entries by the name of the package; `data`: the folder that the filesystem server may see."""
    npm, py = folder() / "node_modules" / ".bin", folder() / "py" / "bin"

    def one(name: str, command: Path, *arguments: str) -> ToolServer:
        return ToolServer("", name, command=str(command), arguments=arguments)

    return {
        "time": one("time", py / "mcp-server-time", "--local-timezone", "Europe/Berlin"),
        "fetch": one("fetch", py / "mcp-server-fetch"),
        "filesystem": one("filesystem", npm / "mcp-server-filesystem", str(data)),
        "everything": one("everything", npm / "mcp-server-everything", "stdio"),
    }


if __name__ == "__main__":
    install()
    sys.exit(0)
