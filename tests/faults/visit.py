"""Opens a home as a user would, in a process of its own: `python -m tests.faults.visit PLAN`.

PLAN is JSON, a `Plan`. The visitor asks its questions one after the other and prints a line of
JSON, a `Visit`, last. Whoever started it damages the home before, or fills its disk meanwhile.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psutil

from headstart.assembly import App
from headstart.core.chats.parts import FilePart, ImagePart, TextPart
from headstart.core.chats.values import Message, MessageStatus
from headstart.core.settings.schema import SamplingChoice
from headstart.home import Home
from headstart.launch import Start, run
from tests.conftest import until
from tests.support.clock import shift_clock

SECONDS = 120.0
# how the visitor's parent learns that it may do its worst
ASKING = "asking"


@dataclass(frozen=True, slots=True)
class Plan:
    home: str
    questions: tuple[str, ...] = ()
    tokens: int = 16
    # bytes that the process may have as its address space once the window is there; 0: no limit
    memory: int = 0
    # by which the clock jumps before each question, seconds
    jumps: tuple[float, ...] = ()


@dataclass(slots=True)
class Visit:
    """`ended`: the program's exit code, negative for a signal. `texts`: of every message that the
    home's chats show. `kept`: questions that are in a chat or still in the composer."""

    ended: int = 0
    banner: str = ""
    problems: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    statuses: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    # attachments that could be read, of so many
    read: int = 0
    attached: int = 0
    # internet addresses that were bound, reached or asked for
    network: list[str] = field(default_factory=list)
    stderr: str = ""

    @property
    def told(self) -> str:
        return " ".join([self.banner, *self.problems, *self.errors, self.stderr])


def visit(
    plan: Plan, while_asking: Callable[[], None] | None = None, users: Path | None = None
) -> Visit:
    """Run the visitor; `while_asking` is called each time that a question was sent. `users`: the
    home folder of a user who has nothing yet."""
    command = [sys.executable, "-m", "tests.faults.visit", json.dumps(asdict(plan))]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONFAULTHANDLER": "1"}
    if users is not None:
        environment |= {"HOME": str(users), "TMPDIR": str(users)}
        environment = {name: value for name, value in environment.items() if name[:4] != "XDG_"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        found = Visit()
        for line in child.stdout:
            if line.strip() == ASKING and while_asking is not None:
                while_asking()
            elif line.startswith("{"):
                found = Visit(**json.loads(line))
        found.stderr = child.stderr.read()
    found.ended = child.returncode
    return found


async def _look(app: App, plan: Plan, found: Visit) -> None:
    app.controllers.problems.told.connect(
        lambda message, remedy: found.problems.append(f"{message} {remedy}")
    )
    app.services.preferences.update(
        sampling=SamplingChoice(temperature=0.0, max_tokens=plan.tokens)
    )
    found.banner = app.window.banner.text() if app.window.banner.isVisible() else ""
    for number, question in enumerate(plan.questions):
        if plan.jumps:
            shift_clock(plan.jumps[number % len(plan.jumps)])
        await _ask(app, question, found, plan.memory if number == 0 else 0)
    if plan.memory:
        _limit_memory(resource.RLIM_INFINITY)
    for message in await messages(app):
        found.texts.append(
            "".join(part.text for part in message.parts if isinstance(part, TextPart))
        )
        await _read_attached(app, message, found)
    # with Qt's own, which no hook sees
    found.network += map(str, psutil.Process().net_connections("inet"))
    stored = [one for one in plan.questions if one in found.texts and one not in found.kept]
    found.kept += stored


def _limit_memory(size: int) -> None:
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (size, hard))


async def _ask(app: App, question: str, found: Visit, memory: int = 0) -> None:
    """`memory`: no more of it from the moment on in which the question is sent."""
    told, deadline = len(found.problems), time.monotonic() + SECONDS
    app.window.new_chat()
    await app.controllers.settle()
    app.window.composer.set_text(question)
    await app.controllers.settle()
    # what is on the screen is drawn: Qt itself ends where it gets no memory for that
    await asyncio.sleep(0.1)
    if memory:
        _limit_memory(memory)
    app.window.composer.button.click()
    print(ASKING, flush=True)
    await until(lambda: app.controllers.reply.writing or len(found.problems) > told, SECONDS)
    while app.controllers.reply.writing and time.monotonic() < deadline:
        await asyncio.sleep(0.01)
    await app.controllers.settle()
    items = app.window.transcript.column.items
    last = items[-1].message if items else None
    if question in app.window.composer.text():
        found.kept.append(question)
    found.statuses.append(last.status.value if last is not None else "")
    if last is not None and last.error is not None:
        found.errors.append(last.error)


async def _read_attached(app: App, message: Message, found: Visit) -> None:
    for part in message.parts:
        if not isinstance(part, ImagePart | FilePart):
            continue
        found.attached += 1
        try:
            await app.storage.run(lambda store, blob=part.blob: store.blobs.get(blob))  # type: ignore[misc]
        except Exception as error:
            found.errors.append(str(error))
        else:
            found.read += 1


async def messages(app: App) -> list[Message]:
    """Of the branch that each chat shows."""
    chats = await app.storage.run(lambda store: [chat.id for chat in store.chats.summaries()])
    found: list[Message] = []
    for chat_id in chats:
        found += await app.services.branches.whole(chat_id)
    return [one for one in found if one.status is not MessageStatus.OPEN]


def _watch_network(found: Visit) -> None:
    def hook(event: str, arguments: tuple[object, ...]) -> None:
        # the address of a local socket is a path
        if event in ("socket.bind", "socket.connect") and isinstance(arguments[1], tuple):
            found.network.append(f"{event} {arguments[1]}")
        elif event == "socket.getaddrinfo":
            found.network.append(f"{event} {arguments[0]!r}")

    sys.addaudithook(hook)


def main() -> int:
    plan = Plan(**json.loads(sys.argv[1]))
    found = Visit()
    _watch_network(found)

    async def script(app: App) -> int:
        await _look(app, plan, found)
        return 0

    ended = run(Home(Path(plan.home)), Start(script=script))
    print(json.dumps(asdict(found)), flush=True)
    return ended


if __name__ == "__main__":
    sys.exit(main())
