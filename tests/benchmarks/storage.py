"""5,000 chats and a chat of 10,000 messages: the list, opening, starting, the end of a reply.

A fresh process each time, offscreen, the disk cache warm, no model loaded. What is timed ends with
a painted widget.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.answering import stats_of
from tests.benchmarks.starting import run_watched

# isort: split
from sqlalchemy import insert

from headstart.assembly import App
from headstart.chat.changes import ReplyEnded
from headstart.core.chats.values import new_id, now_ms
from headstart.core.servers import Connection
from headstart.home import Home
from headstart.storage.tables import definitions as tables
from headstart.storage.tables import rows
from headstart.storage.worker import Storage, Store
from tests.benchmarks.painting import Painted
from tests.benchmarks.report import Report, json_path, spread
from tests.support.scripted_server import ScriptedServer

CHATS, MESSAGES = 5_000, 10_000
RUNS, ENDS = 5, 9
LONG = "long"
WORDS = "It is about rivers, hills and the weather in the mountains. " * 4
MINUTE = 60_000


def fill(home: Home) -> None:
    """A database as years of use leave it."""
    storage = Storage(home.database, home.backups)
    storage.submit(lambda _store: None).result()
    now = now_ms()
    chats, messages, parts = [], [], []

    def chat(chat_id: str, count: int, at: int) -> None:
        ids = [new_id() for _ in range(count)]
        chats.append(
            {
                "id": chat_id, "title": f"About {chat_id[:6]}", "titled_by_user": False,
                "pinned": False, "created_at": at, "updated_at": at, "options": "{}",
                "active_root_id": ids[0],
            }
        )  # fmt: skip
        for number, one in enumerate(ids):
            messages.append(
                {
                    "id": one, "chat_id": chat_id, "parent_id": ids[number - 1] if number else None,
                    "position": number + 1, "role": "assistant" if number % 2 else "user",
                    "status": "complete", "created_at": at,
                    "active_child_id": ids[number + 1] if number + 1 < count else None,
                }
            )  # fmt: skip
            text = f"Message {number}. {WORDS}"
            parts.append(
                {
                    "message_id": one, "position": 0, "kind": "text", "text": text, "origins": "[]",
                    "digest": rows.digest_of(text),
                }
            )  # fmt: skip

    for number in range(CHATS - 1):
        chat(new_id(), 6, now - number * 30 * MINUTE)
    chat(LONG, MESSAGES, now - 500 * MINUTE)

    def write(_store: Store) -> None:
        engine: Any = storage.engine
        with engine.begin() as connection:
            connection.execute(insert(tables.chats), chats)
            connection.execute(insert(tables.messages), messages)
            connection.execute(insert(tables.parts), parts)

    storage.submit(write).result()
    storage.close()


_Ended = asyncio.Future[tuple[float, Painted]]


async def _connect(app: App, url: str) -> str:
    """Have a server's model answer in the long chat; returns its key."""
    servers = app.services.servers
    connection, _ = await servers.save(Connection("", "bench", url), None)
    servers.allow(connection.id)
    await servers.offers()
    offered = await servers.offer(connection.id)
    await app.services.choices.set_model(LONG, offered.models[0])
    await app.controllers.settle()
    return offered.models[0].key


def _listed(app: App) -> Painted:
    """When all chats were painted."""
    sidebar = app.window.sidebar
    return Painted(sidebar.view.viewport(), lambda: sidebar.model.rowCount() >= CHATS)


async def _measure(app: App) -> dict[str, float]:
    window, services, loop = app.window, app.services, asyncio.get_running_loop()
    transcript = window.transcript
    painted = Painted(transcript.viewport(), lambda: any(transcript.column.shown_blocks()))
    began = time.perf_counter()
    window.sidebar.chat_chosen.emit(LONG)
    opened = (await painted.done - began) * 1000
    await app.controllers.settle()
    counted = 0

    def count(_cursor: object, row: tuple[object, ...]) -> tuple[object, ...]:
        nonlocal counted
        counted += 1
        return row

    def count_rows(_store: Store) -> None:
        engine: Any = app.storage.engine
        engine.raw_connection().driver_connection.row_factory = count

    await app.storage.run(count_rows)
    updates, read = [], []
    with ScriptedServer() as server:
        key = await _connect(app, server.url)
        for number in range(ENDS):
            ended: asyncio.Future[tuple[float, Painted]] = loop.create_future()

            def on_ended(_change: ReplyEnded, ended: _Ended = ended) -> None:
                nonlocal counted
                counted = 0
                painted = Painted(window.sidebar.view.viewport(), lambda: True)
                ended.set_result((time.perf_counter(), painted))

            forget = services.broadcast.on(ReplyEnded, on_ended)
            await services.conversation.send(LONG, f"Question {number}.")
            began, painted = await ended
            updates.append((await painted.done - began) * 1000)
            await app.controllers.settle()
            read.append(counted)
            forget()
            stats_of((await services.branches.whole(LONG))[-1], key)
            await asyncio.sleep(0.2)
    return {
        "opened": opened,
        "update": statistics.median(updates),
        "rows": max(read),
    }


def child(home: str) -> int:
    listed: list[Painted] = []

    async def measure(app: App) -> int:
        # both clocks are the same one on Linux
        ready = time.monotonic() - (time.perf_counter() - await listed[0].done)
        print(json.dumps({"ready": ready, **await _measure(app)}), flush=True)
        return 0

    return run_watched(Path(home), lambda app: listed.append(_listed(app)), measure)


def measure_once(home: Path) -> dict[str, float]:
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.storage", "--child", str(home)],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return {**result, "start": result["ready"] - started}


def main() -> None:
    path = json_path(__doc__ or "")
    report = Report("storage (5,000 chats, one of 10,000 messages; offscreen)")
    with tempfile.TemporaryDirectory() as place:
        fill(Home(Path(place)))
        measure_once(Path(place))
        runs = [measure_once(Path(place)) for _ in range(RUNS)]
    for name, key, wanted in (
        ("list_update_ms", "update", "at most 5"),
        ("chat_open_ms", "opened", "at most 150"),
        ("startup_with_5000_chats_s", "start", "at most 1.0"),
        ("reply_end_rows_read", "rows", "at most 50"),
    ):
        values = [run[key] for run in runs]
        report.add(name, statistics.median(values), wanted, spread(values))
    report.write(path)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        sys.exit(child(sys.argv[2]))
    main()
