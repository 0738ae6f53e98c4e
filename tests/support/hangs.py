"""Starts of the whole program on a home where one thing that begins by itself never ends.

`prepare` makes the home: a folder that hangs and one that does not, a mirror, the server, a tool
server and a download. `Started` is the program as a process of its own, `hanging_child`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import msgspec
from msgspec import Struct

from headstart.core.hub.downloads import DownloadState
from headstart.core.settings.knowledge import KnowledgeSettings
from headstart.core.settings.schema import Settings
from headstart.core.settings.server import ServerSettings
from headstart.core.tool_servers.entry import ToolServer
from headstart.home import Home
from headstart.hub.downloads.book import Book, BookEntry
from headstart.hub.online.client import HubClient
from headstart.storage.adapters.settings_file import SettingsFile
from tests.support.gguf_files import make_gguf
from tests.support.hub_server import HubServer, Repo
from tests.support.program import free_port

# what the window names each by
KINDS = {
    "folder": "stuck",
    "mirror": "mirror",
    "server": "server for other programs",
    "tool-server": "Scripted",
    "download": "model",
}
TOOL_SERVER = "scripted"
_REPO = "maker/model-GGUF"
_FILE = "model-Q4_K_M.gguf"
_TOOLS = Path(__file__).with_name("scripted_tool_server.py")
# seconds without a line from a program that is expected to say something
_PATIENCE = 120.0


class Prepared(Struct, frozen=True):
    home: Home
    hub: HubServer

    @property
    def mirror(self) -> Path:
        return self.home.path.parent / "mirror"


@contextmanager
def prepared(folder: Path) -> Iterator[Prepared]:
    """A home on which everything begins at the next start, with a chat in it."""
    home = Home(folder / "home")
    home.path.mkdir(parents=True, mode=0o700)
    for name in ("stuck", "fine"):
        (folder / name).mkdir()
        (folder / name / "notes.md").write_text(f"# Notes\n\nThe {name} boat sails at nine.\n")
    chat = folder / "chat.md"
    chat.write_text("# A chat\n\n## User\n\nHello.\n\n## Assistant\n\nHello to you.\n")
    command = [sys.executable, "-m", "headstart", "--home", str(home.path), "import", str(chat)]
    subprocess.run(command, check=True, capture_output=True, timeout=_PATIENCE)
    hub = HubServer({_REPO: Repo({_FILE: make_gguf(weights=1 << 20)})})
    try:
        details = HubClient(endpoint=hub.endpoint).details(_REPO)
        wanted = details.wanted(details.variants[0])
        Book(home.downloads).save([BookEntry(wanted, DownloadState.RUNNING)])
        settings = Settings(
            knowledge=KnowledgeSettings(
                sources=(str(folder / "stuck"), str(folder / "fine")), meaning=False
            ),
            mirror_folder=str(folder / "mirror"),
            server=ServerSettings(on=True, port=free_port()),
            tool_servers=(
                ToolServer(
                    id=TOOL_SERVER,
                    name="Scripted",
                    command=sys.executable,
                    arguments=(str(_TOOLS),),
                    prefix="scripted",
                ),
            ),
        )
        SettingsFile(home.settings).save(settings)
        yield Prepared(home, hub)
    finally:
        hub.close()


class Seen(Struct, frozen=True):
    """What a started program tells of itself: the rows of what was not begun again, whether they
    are on show, and the kinds whose beginning has ended."""

    held: tuple[str, ...] = ()
    shown: bool = False
    begun: frozenset[str] = frozenset()


class Started:
    """The program on a home; `plant`: the kind that hangs, "" for none."""

    def __init__(self, place: Prepared, plant: str = "") -> None:
        environment = {
            **os.environ,
            "QT_QPA_PLATFORM": "offscreen",
            "HF_HUB_CACHE": str(place.home.path.parent / "hub"),
            "HF_ENDPOINT": place.hub.endpoint,
            "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
        }
        command = [sys.executable, "-m", "tests.support.hanging_child"]
        command += [str(place.home.path), str(place.mirror), plant]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self._lines: Queue[str] = Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def hangs(self) -> None:
        """Wait until the planted thing hangs."""
        while self._next() != {"hangs": True}:
            pass

    def seen(self, *, held: int, begun: frozenset[str]) -> Seen:
        """Wait until it has begun all of these, and holds so many things."""
        one, until = Seen(), time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            found = self._next()
            if "begun" in found:
                one = msgspec.convert(found, Seen)
                if one.begun >= begun and len(one.held) == held:
                    return one
        raise AssertionError(f"it came to {one}")

    def begin_again(self) -> None:
        """Press the button of the first row."""
        self._say("begin")

    def close(self) -> int:
        """Close the window; returns the exit code."""
        self._say("close")
        return self._process.wait(_PATIENCE)

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(_PATIENCE)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def _say(self, word: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()

    def _next(self) -> Any:
        try:
            line = self._lines.get(timeout=_PATIENCE)
        except Empty:
            raise AssertionError("the program says nothing any more") from None
        assert line, f"the program ended: {self._process.poll()}"
        return json.loads(line)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")


@contextmanager
def started(place: Prepared, plant: str = "") -> Iterator[Started]:
    """Ended by a kill, whatever it does."""
    one = Started(place, plant)
    try:
        yield one
    finally:
        one.kill()


def starts_after_a_hang(kind: str, folder: Path, asked: bool = True) -> str:
    """Plant a hang and start again: "" if this start shows the window, says what it did not begin
    again, and begins everything else; else why not. `asked`: and if a third start begins that too
    once it is asked."""
    all_kinds = frozenset(KINDS)
    with prepared(folder) as place:
        with started(place, kind) as first:
            first.hangs()
        with started(place, kind) as second:
            seen = second.seen(held=1, begun=all_kinds - {kind})
            if not seen.shown or KINDS[kind] not in seen.held[0]:
                return f"the window says {seen.held}"
        if not asked:
            return ""
        # what was not asked for is still held
        with started(place) as third:
            third.seen(held=1, begun=all_kinds - {kind})
            third.begin_again()
            third.seen(held=0, begun=all_kinds)
            if third.close() != 0:
                return "it did not end in order"
        if place.home.beginnings.exists():
            return "a note is left"
    return ""
