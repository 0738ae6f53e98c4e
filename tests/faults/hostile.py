"""Inputs that somebody made on purpose: templates, Markdown, SVG, zip, PDF, JSON, GGUF, servers.

Each is given to the code that takes such things from strangers. It must come to an end in time, be
shown or refused with a reason, write nothing outside of its folder, start nothing, and fetch
nothing. Of every kind there are some attacks that are known, and changes to them at random.
"""

from __future__ import annotations

import contextlib
import os
import random
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSize

from headstart.core.chats.parts import text_part
from headstart.core.chats.values import Message, MessageStatus, Role
from headstart.core.errors import EnvironmentProblem
from headstart.core.requests import PromptMessage
from headstart.engine import template
from headstart.exchange.material import ImportProblem
from headstart.extraction.process import Reading
from headstart.hub.gguf import read_header
from headstart.ui.kit import pictures
from headstart.ui.transcript.view import TranscriptView
from tests.faults import attacks
from tests.faults.outcome import Outcome, Row
from tests.support.asking import Asking
from tests.support.conversations import read_bytes
from tests.support.markdown_texts import mutated as odd_markdown
from tests.support.scripted_server import Answer, Asked, ScriptedServer

# what one input may take
SECONDS = 15.0
_WATCHED = (
    "socket.connect",
    "socket.bind",
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "pickle.find_class",
    "webbrowser.open",
    "os.remove",
    "os.rename",
)


class _Watch:
    """What the code does that it should not, while it is on; Python's audit events."""

    def __init__(self) -> None:
        self.on = False
        self.folder = ""
        self.allowed: tuple[str, ...] = ()
        self.seen: list[str] = []
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on or event in self.allowed:
            return
        if event == "open":
            self._hear_open(*arguments)
        elif event in _WATCHED and not self._harmless(event, arguments):
            self.seen.append(f"{event} {arguments[1:] or arguments}"[:200])

    def _hear_open(self, path: object, _mode: object, flags: object) -> None:
        writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)
        if writes and not isinstance(path, int) and not self._inside(path):
            self.seen.append(f"wrote {path}")

    def _harmless(self, event: str, about: tuple[Any, ...]) -> bool:
        if event == "socket.connect":
            return bool(about[0].family == socket.AF_UNIX)
        if event == "os.remove" and about[-1] != -1:
            # by its name in a folder that is open: what was unpacked goes with its folder
            return True
        return event in ("os.remove", "os.rename") and self._inside(about[0])

    def _inside(self, path: object) -> bool:
        return str(path).startswith((self.folder, "/dev/", "/proc/"))


_watch: _Watch | None = None


@contextlib.contextmanager
def _watched(folder: Path, allowed: tuple[str, ...]) -> Iterator[list[str]]:
    global _watch
    _watch = watch = _watch or _Watch()
    watch.folder, watch.allowed, watch.seen = str(folder), allowed, []
    watch.on = True
    try:
        yield watch.seen
    finally:
        watch.on = False


# --- how each kind is taken --------------------------------------------------------------


@contextlib.contextmanager
def _refusing(kind: type[EnvironmentProblem] | type[ImportProblem]) -> Iterator[None]:
    """It may be refused, in words for the user."""
    refused: EnvironmentProblem | ImportProblem | None = None
    try:
        yield
    except kind as problem:
        refused = problem
    assert refused is None or refused.told.message


def _template(data: bytes, _folder: Path) -> None:
    source = data.decode(errors="replace")
    chosen = template.choose(source, "<s>", "</s>", frozenset())
    shown = chosen.render([PromptMessage(Role.USER, "Hello there.", "q")])
    assert "Hello there." in shown
    assert len(shown) < 1_100_000
    assert "root:" not in shown


def _markdown(data: bytes, _folder: Path) -> None:
    text = data.decode(errors="replace")
    view = TranscriptView()
    try:
        view.resize(700, 500)
        view.show()
        reply = Message("m1", "c", None, Role.ASSISTANT, MessageStatus.COMPLETE, text_part(text), 0)
        view.set_branch([reply], same_chat=False)
        view.grab()
        view.select_all()
        view.selecting.text()
        view.selecting.markdown()
    finally:
        view.host.highlighter.close()
        view.deleteLater()


def _svg(data: bytes, folder: Path) -> None:
    image = pictures.decode(data, QSize(800, 800))
    assert image is None or image.sizeInBytes() <= 300 << 20
    _read("picture.svg", data)


def _import(name: str) -> Callable[[bytes, Path], None]:
    def take(data: bytes, folder: Path) -> None:
        with _refusing(ImportProblem):
            chats, _ = read_bytes(data, folder, name)
            assert len(chats) < 100_000
        outside = [path for path in folder.parent.iterdir() if path != folder]
        assert not outside, outside

    return take


def _pdf(data: bytes, _folder: Path) -> None:
    _read("paper.pdf", data)


def _read(name: str, data: bytes) -> None:
    with _refusing(EnvironmentProblem):
        assert Reading().read(data, name, lambda _share: None).pages


def _gguf(data: bytes, folder: Path) -> None:
    path = folder / "model.gguf"
    path.write_bytes(data)
    with _refusing(EnvironmentProblem):
        assert read_header(path, ("tokenizer.ggml.tokens",)).architecture is not None


class _Servers:
    """One server, which says whatever it is told to."""

    def __init__(self) -> None:
        self.server, self.asking = ScriptedServer(), Asking()
        self.server.__enter__()

    def take(self, data: bytes, _folder: Path) -> None:
        async def answer(_asked: Asked, answer: Answer) -> None:
            await answer.raw(data)

        self.server.handler = answer
        with _refusing(EnvironmentProblem):
            self.asking.ask(self.server.url, timeout=2)
        said = self.asking.said()
        assert len(said) < 2_000_000

    def close(self) -> None:
        self.asking.session.close()
        self.server.__exit__()


# --- running them ------------------------------------------------------------------------

KINDS = ("template", "markdown", "svg", "zip", "pdf", "json", "gguf", "server")
# a document is read by a child, a server is asked over a socket
_ALLOWED = {
    "svg": ("subprocess.Popen",),
    "pdf": ("subprocess.Popen",),
    # its client asks the system what it is called
    "server": ("socket.connect", "subprocess.Popen"),
}


def inputs(kind: str, count: int, random_: random.Random) -> Iterator[bytes]:
    """The known attacks first, then changes to them."""
    known = attacks.KNOWN[kind]()
    for number in range(count):
        if number < len(known):
            yield known[number]
        elif kind == "markdown":
            yield odd_markdown(random_, random_.randrange(1, 300)).encode()
        else:
            yield attacks.changed(random_.choice(known)[: 1 << 20], random_)


@contextlib.contextmanager
def _taker(kind: str) -> Iterator[Callable[[bytes, Path], None]]:
    if kind == "server":
        servers = _Servers()
        try:
            yield servers.take
        finally:
            servers.close()
        return
    yield {
        "template": _template,
        "markdown": _markdown,
        "svg": _svg,
        "zip": _import("chats.zip"),
        "json": _import("conversations.json"),
        "pdf": _pdf,
        "gguf": _gguf,
    }[kind]


def run(kind: str, count: int, seed: int, tell: Callable[[str], None]) -> Row:
    """Needs an application; not from within its event loop."""
    row, random_ = Row(), random.Random(f"{kind} {seed}")
    with tempfile.TemporaryDirectory() as place, _taker(kind) as take:
        for number, data in enumerate(inputs(kind, count, random_)):
            folder = Path(place, str(number), "inner")
            folder.mkdir(parents=True)
            why = _try(take, data, folder, _ALLOWED.get(kind, ()))
            row.add(
                Outcome(not why, 0, 0, why and f"{data[:80]!r}: {why}"),
                lambda why, number=number: tell(f"{kind} {number}: {why}"),  # type: ignore[misc]
            )
    return row


def _try(
    take: Callable[[bytes, Path], None], data: bytes, folder: Path, allowed: tuple[str, ...]
) -> str:
    began = time.monotonic()
    with _watched(folder, allowed) as seen:
        try:
            take(data, folder)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    seconds = time.monotonic() - began
    if seconds > SECONDS:
        return f"it took {seconds:.0f} s"
    return "; ".join(seen)
