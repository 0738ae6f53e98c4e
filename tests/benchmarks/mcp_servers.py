"""Tool servers that nobody here wrote: two from PyPI, two from npm, in the user's cache folder."""

from __future__ import annotations

import json
import subprocess
import venv
from pathlib import Path

from headstart.core.tool_servers.entry import ToolServer
from headstart.core.tool_servers.results import ImageContent
from tests.benchmarks.mcp_faults import Desk, text
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


# --- checks ----------------------------------------------------------------------------------

Ids = dict[str, str]
Names = dict[str, list[str]]


async def time_lists(desk: Desk, ids: Ids, tools: Names, data: Path) -> bool:
    return set(tools["time"]) == {"get_current_time", "convert_time"}


async def time_calls(desk: Desk, ids: Ids, tools: Names, data: Path) -> bool:
    found = await desk.call(ids["time"], "get_current_time", timezone="Asia/Tokyo")
    return "+09:00" in text(found)


async def time_errs(desk: Desk, ids: Ids, tools: Names, data: Path) -> bool:
    found = await desk.call(ids["time"], "get_current_time", timezone="Moon/Base")
    return found.failed or "Moon/Base" in text(found)


async def fetch_refuses_loopback(desk: Desk, ids: Ids, tools: Names, data: Path) -> bool:
    found = await desk.call(ids["fetch"], "fetch", url="http://127.0.0.1:9/")
    return found.failed and bool(text(found))


async def fetch_has_a_prompt(desk: Desk, ids: Ids, tools: Names, data: Path) -> bool:
    return [one.name for one in desk.servers.lists.known()[ids["fetch"]].prompts] == ["fetch"]


async def files_read(desk: Desk, ids: Ids, tools: Names, data: Path) -> bool:
    found = await desk.call(ids["filesystem"], "read_text_file", path=str(data / "day.txt"))
    # its structured value repeats the text
    return text(found) == "Rain."


async def files_write(desk: Desk, ids: Ids, tools: Names, data: Path) -> bool:
    path = data / "new.txt"
    await desk.call(ids["filesystem"], "write_file", path=str(path), content="Sun.")
    return path.read_text() == "Sun."


async def files_stay_in_their_folder(desk: Desk, ids: Ids, tools: Names, data: Path) -> bool:
    return (await desk.call(ids["filesystem"], "read_text_file", path="/etc/hostname")).failed


async def everything_echoes(desk: Desk, ids: Ids, tools: Names, data: Path) -> bool:
    return "hello" in text(await desk.call(ids["everything"], "echo", message="hello"))


async def everything_has_images(desk: Desk, ids: Ids, tools: Names, data: Path) -> bool:
    name = next(one for one in tools["everything"] if "image" in one)
    found = await desk.call(ids["everything"], name)
    return any(isinstance(one, ImageContent) and len(one.data) > 100 for one in found.content)


async def everything_tells_progress(desk: Desk, ids: Ids, tools: Names, data: Path) -> bool:
    name = next(one for one in tools["everything"] if "long" in one)
    told: list[float] = []
    given = json.dumps({"duration": 1, "steps": 4})
    await desk.servers.running.call(
        ids["everything"], name, given, lambda one: told.append(one.done)
    )
    return len(told) >= 3 and told == sorted(told)


async def everything_is_structured_once(desk: Desk, ids: Ids, tools: Names, data: Path) -> bool:
    name = next(one for one in tools["everything"] if "structured" in one.casefold())
    found = await desk.call(ids["everything"], name, location="New York")
    return len(found.content) == 1 and "temperature" in json.loads(text(found))


REAL = (
    time_lists,
    time_calls,
    time_errs,
    fetch_refuses_loopback,
    fetch_has_a_prompt,
    files_read,
    files_write,
    files_stay_in_their_folder,
    everything_echoes,
    everything_has_images,
    everything_tells_progress,
    everything_is_structured_once,
)
