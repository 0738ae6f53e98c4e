"""The whole program, in which one thing that begins by itself hangs with the interpreter's lock:
`python -m tests.support.hanging_child HOME MIRROR KIND`; see `hangs`.

Prints what it holds and what has begun, line by line, and does what it is told on its input.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import threading
from pathlib import Path
from typing import Any

from headstart.assembly import App
from headstart.chat import beginnings
from headstart.chat.knowledge import indexing
from headstart.chat.tool_servers import running
from headstart.core.hub.downloads import DownloadState
from headstart.core.tool_servers.state import ToolServerState
from headstart.exchange.writers import markdown
from headstart.home import Home
from headstart.hub.downloads.transfer import Transfer
from headstart.knowledge.scan import Scan, scan
from headstart.launch import Start, run
from headstart.server.thread import ServerThread
from headstart.tools.session import ToolSession
from tests.support.hangs import TOOL_SERVER
from tests.support.patience import PATIENCE

_LOOK_SECONDS = 0.2


def _hang(*_given: Any, **_more: Any) -> Any:
    """Never return, and let no other thread run, as a pattern that goes back does."""
    print(json.dumps({"hangs": True}), flush=True)
    return re.fullmatch("(a|aa)+", "a" * 500 + "!")


def _plant(kind: str) -> None:
    def stuck(root: Path, *more: Any) -> Scan:
        return _hang() if root.name == "stuck" else scan(root, *more)

    if kind == "folder":
        setattr(indexing, "scan", stuck)  # noqa: B010
    elif kind == "mirror":
        markdown.to_markdown = _hang
    elif kind == "server":
        ServerThread.open = _hang  # type: ignore[method-assign]
    elif kind == "tool-server":
        ToolSession.start = _hang  # type: ignore[method-assign]
    elif kind == "download":
        Transfer.run = _hang  # type: ignore[method-assign]


def _begun(app: App, mirror: Path) -> list[str]:
    services = app.services
    states = services.knowledge.knowledge.indexing.states
    downloads = services.downloads.all
    tools = services.tools.servers.running.view(TOOL_SERVER)
    # the folder that may hang; the other one is looked at before the others count as begun
    fine = [one for name, one in states.items() if Path(name).name == "fine"]
    if not fine or not fine[0].looked_at:
        return []
    found = {
        "folder": any(one.looked_at for name, one in states.items() if name.endswith("stuck")),
        "mirror": mirror.is_dir() and any(mirror.glob("*.md")),
        "server": bool(services.serving.state.address),
        "tool-server": tools.state is ToolServerState.READY,
        "download": any(one.state is DownloadState.DONE for one in downloads),
    }
    return [kind for kind, ended in found.items() if ended]


async def _watch(app: App, mirror: Path) -> int:
    loop, words = asyncio.get_running_loop(), asyncio.Queue[str]()

    def listen() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(words.put_nowait, line.strip())

    threading.Thread(target=listen, daemon=True).start()
    # as a chat with its tools does when it sends
    app.services.tools.servers.running.start(TOOL_SERVER)
    while True:
        rows = app.window.held.rows
        said = {
            "held": [row.text.text() for row in rows],
            "shown": app.window.held.isVisible(),
            "begun": _begun(app, mirror),
        }
        print(json.dumps(said), flush=True)
        try:
            word = await asyncio.wait_for(words.get(), _LOOK_SECONDS)
        except TimeoutError:
            continue
        if word == "close":
            return 0
        rows[0].button.click()


def main() -> int:
    home, mirror, kind = Home(Path(sys.argv[1])), Path(sys.argv[2]), sys.argv[3]
    _plant(kind)
    # on a busy computer, too, one thing begins after the other
    for module, name in ((beginnings, "TURN_SECONDS"), (running, "ASKED_SECONDS")):
        setattr(module, name, PATIENCE)
    return run(home, Start(script=lambda app: _watch(app, mirror)))


if __name__ == "__main__":
    sys.exit(main())
