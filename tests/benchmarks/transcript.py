"""The transcript and the search: a chat of 10,000 messages is opened and scrolled, a long reply is
streamed into the window, words are found in 100,000 messages, 5,000 chats stand in folders.

Offscreen, no model loaded but for the speed of the engine beside the window.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.benchmarks.starting import run_watched

# isort: split
import psutil
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from sqlalchemy import insert

from headstart.assembly import App
from headstart.chat.changes import ReplyEvent
from headstart.core.chats.parts import Origin, PartKind, text_part
from headstart.core.chats.values import Chat, Message, MessageStatus, Role, new_id, now_ms
from headstart.core.events import TextAdded, TextPiece
from headstart.core.servers import Connection
from headstart.home import Home
from headstart.storage.tables import definitions as tables
from headstart.storage.tables import rows
from headstart.storage.worker import Storage, Store
from headstart.ui.transcript.markdown import parse
from tests.benchmarks.attached import first_question, second_question
from tests.benchmarks.beside import with_window, without_window
from tests.benchmarks.blank import CHATS as SCROLLED_CHATS
from tests.benchmarks.blank import SCROLLS, blank
from tests.benchmarks.hub_window import Frames
from tests.benchmarks.painting import Painted
from tests.benchmarks.report import Report, json_path, spread
from tests.benchmarks.searching import search, words
from tests.support.scripted_server import ScriptedServer
from tests.ui.looks import REPLY

MESSAGES, SEARCHED, CHATS, FOLDERS = 10_000, 100_000, 5_000, 40
RUNS = 5
# a reply of 4,000 tokens, 300 a second, as 30 events a second bring it
TOKENS, RATE, EVENTS = 4_000, 300, 30
CHARACTERS = 4
LONG = "long"
FORMULA = "$$\n\\sum_{k=0}^{n} \\binom{n}{k} x^k = (1 + x)^n\n$$\n"
END = f"\n\n{REPLY}\n\n{FORMULA}\nwhere $x_1 \\neq x_2$.\n"


def fill(home: Home) -> None:
    """A long chat of two million words, and 100,000 messages in 5,000 chats, in folders."""
    storage = Storage(home.database, home.backups)
    storage.submit(lambda _store: None).result()
    rng = random.Random(5)
    now = now_ms()
    chats, messages, parts = [], [], []

    def chat(chat_id: str, count: int, at: int, folder: str, text: Callable[[int], str]) -> None:
        ids = [new_id() for _ in range(count)]
        chats.append(
            {
                "id": chat_id, "title": words(rng, 4), "titled_by_user": False, "pinned": False,
                "created_at": at, "updated_at": at, "options": "{}", "active_root_id": ids[0],
                "folder": folder or None, "shown": count,
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
            written = text(number)
            parts.append(
                {
                    "message_id": one, "position": 0, "kind": "text", "text": written,
                    "origins": "[]", "digest": rows.digest_of(written),
                }
            )  # fmt: skip

    def long(number: int) -> str:
        if number % 2 == 0:
            return words(rng, 60)
        return f"{words(rng, 170)}\n\n{REPLY}\n\n{words(rng, 80)}"

    for number in range(CHATS):
        folder = f"Folder {number % FOLDERS}" if number % 2 else ""
        chat(
            new_id(), SEARCHED // CHATS, now - number * 1_800_000, folder, lambda _: words(rng, 60)
        )
    chat(LONG, MESSAGES, now - 10**9, "", long)

    def write(_store: Store) -> None:
        engine: Any = storage.engine
        with engine.begin() as connection:
            connection.execute(insert(tables.chats), chats)
            connection.execute(insert(tables.messages), messages)
            connection.execute(insert(tables.parts), parts)

    storage.submit(write).result()
    storage.close()


def memory() -> float:
    gc.collect()
    return float(psutil.Process().memory_info().rss) / 1e6


async def _open_and_scroll(app: App) -> dict[str, Any]:
    with ScriptedServer() as server:
        # a server answers: what a local model takes is not the transcript's
        servers = app.services.servers
        connection, _ = await servers.save(Connection("", "bench", server.url), None)
        servers.allow(connection.id)
        await servers.offers()
        offered = await servers.offer(connection.id)
        chats = app.window.sidebar.model.chat_ids()
        for chat_id in (LONG, chats[0]):
            await app.services.choices.set_model(chat_id, offered.models[0])
        await app.controllers.settle()
        return await _open_long(app)


async def _open_long(app: App) -> dict[str, Any]:
    transcript = app.window.transcript
    bar = transcript.verticalScrollBar()
    first = next(iter(app.window.sidebar.model.chat_ids()))
    app.window.open_chat(first)
    await app.controllers.settle()
    await asyncio.sleep(0.5)
    before = memory()
    painted = Painted(transcript.viewport(), lambda: len(transcript.column.items) > 20)
    began = time.perf_counter()
    app.window.sidebar.chat_chosen.emit(LONG)
    opened = (await painted.done - began) * 1000
    await app.controllers.settle()
    await asyncio.sleep(0.5)
    after = memory() - before
    frames = Frames(transcript.viewport(), lambda: bar.setValue(bar.value() - 90))
    frames.start()
    await asyncio.sleep(20)
    frames.stop()
    return {
        "open": opened,
        "memory": after,
        "scrolled_memory": memory() - before,
        "messages": len(transcript.column.items),
        "frames": [1000 * value for value in frames.times],
    }


def _reply_text() -> str:
    rng = random.Random(3)
    text = ""
    while len(text) < TOKENS * CHARACTERS - len(END):
        text += f"{words(rng, 60)}\n\n"
        if rng.random() < 0.3:
            text += f"{REPLY}\n\n"
    return text[: TOKENS * CHARACTERS - len(END)] + END


async def _stream(app: App) -> dict[str, Any]:
    """Twice: with frames that are asked for all the time, and then what the reply alone takes."""
    seen = await _stream_once(app, watched=True)
    alone = await _stream_once(app, watched=False)
    return {
        "frames": seen["frames"], "keys": seen["keys"], "busy": alone["busy"],
        "growth": alone["growth"],
    }  # fmt: skip


async def _stream_once(app: App, watched: bool) -> dict[str, Any]:
    """A reply without an engine: events as they come from one."""
    chat = Chat(new_id(), "Streamed", now_ms(), now_ms())
    done = MessageStatus.COMPLETE
    asked = Message(new_id(), chat.id, None, Role.USER, done, text_part("Tell me."), now_ms())
    reply = Message(new_id(), chat.id, asked.id, Role.ASSISTANT, MessageStatus.OPEN, (), now_ms())
    await app.storage.run(lambda store: store.messages.add([asked, reply], chat))
    app.window.open_chat(chat.id)
    await app.controllers.settle()
    text, step = _reply_text(), RATE * CHARACTERS // EVENTS
    composer = app.window.composer.edit
    keys: list[float] = []
    frames = Frames(app.window.transcript.viewport(), lambda: None)
    before, busy, began = memory(), time.thread_time(), time.perf_counter()
    if watched:
        frames.start()
    for number, at in enumerate(range(0, len(text), step)):
        piece = TextPiece(PartKind.TEXT, text[at : at + step], Origin.TARGET)
        event = TextAdded((piece,), at // CHARACTERS, time.perf_counter() - began)
        app.services.broadcast.tell(ReplyEvent(chat.id, reply.id, event))
        if watched and number % 5 == 0:
            painted = Painted(composer.viewport(), lambda: True)
            pressed = time.perf_counter()
            QTest.keyClick(composer, Qt.Key.Key_A)
            keys.append((await painted.done - pressed) * 1000)
        await asyncio.sleep(max(0.0, began + (number + 1) / EVENTS - time.perf_counter()))
    wall, spent = time.perf_counter() - began, time.thread_time() - busy
    frames.stop()
    await asyncio.sleep(0.5)
    composer.clear()
    return {
        "frames": [1000 * value for value in frames.times],
        "busy": spent / wall,
        "keys": keys,
        "growth": memory() - before,
    }


async def _list(app: App) -> float:
    """From the wish to the painted list of 5,000 chats in folders."""
    sidebar = app.window.sidebar
    sidebar.set_chats([], {})
    await asyncio.sleep(0.2)
    painted = Painted(sidebar.view.viewport(), lambda: sidebar.model.rowCount() > 100)
    began = time.perf_counter()
    app.controllers.chat_list.list()
    return (await painted.done - began) * 1000


STEPS = {
    "open": _open_and_scroll,
    "stream": _stream,
    "blank": blank,
    "search": search,
    "first": first_question,
    "second": second_question,
    "beside": with_window,
}


def markdown_times() -> list[float]:
    """Milliseconds for 10 kB of a mixed reply."""
    text = _reply_text()
    parse(text)
    times = []
    for _ in range(20):
        began = time.perf_counter()
        parse(text)
        times.append((time.perf_counter() - began) * 1000 / (len(text) / 10_000))
    return times


def child(step: str, home: str) -> int:
    if step == "alone":
        print(json.dumps(without_window()), flush=True)
        return 0

    async def measure(app: App) -> int:
        await app.controllers.settle()
        await asyncio.sleep(1.0)
        found: object = await (_list(app) if step == "list" else STEPS[step](app))
        print(json.dumps(found), flush=True)
        return 0

    return run_watched(Path(home), lambda _app: None, measure)


def measure_once(step: str, home: Path) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.transcript", "--child", step, str(home)],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def _p99(values: list[float]) -> float:
    return statistics.quantiles(values, n=100)[98]


def _notes(values: list[float]) -> str:
    return f"median {statistics.median(values):.1f}, worst {max(values):.1f}, n = {len(values)}"


def main() -> None:
    path = json_path(__doc__ or "")
    report = Report(
        f"transcript ({MESSAGES:,} messages in a chat, {SEARCHED:,} searched; offscreen)"
    )
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        fill(Home(home))
        runs = [measure_once("open", home) for _ in range(RUNS)]
        opened = [run["open"] for run in runs]
        report.add("open_ms", statistics.median(opened), "at most 150", spread(opened))
        taken = [run["memory"] for run in runs]
        report.add("open_memory_mb", statistics.median(taken), "at most 60", spread(taken))
        scrolled = [value for run in runs for value in run["frames"]]
        report.add("scroll_frame_p99_ms", _p99(scrolled), "at most 16", _notes(scrolled))
        report.add("scroll_frame_worst_ms", max(scrolled), "at most 50")
        report.add(
            "scrolled_memory_mb", statistics.median([run["scrolled_memory"] for run in runs]), "",
            f"after {runs[0]['messages']:,} messages",
        )  # fmt: skip
        streams = [measure_once("stream", home) for _ in range(3)]
        report.add(
            "stream_busy", statistics.median([one["busy"] for one in streams]), "at most 0.30"
        )
        frames = [value for one in streams for value in one["frames"]]
        report.add("stream_frame_p99_ms", _p99(frames), "at most 16", _notes(frames))
        keys = [value for one in streams for value in one["keys"]]
        report.add("stream_key_p99_ms", _p99(keys), "at most 16", _notes(keys))
        growths = [one["growth"] for one in streams]
        report.add("stream_growth_mb", statistics.median(growths), "at most 5", spread(growths))
        found = measure_once("search", home)
        times = found["times"]
        p95 = statistics.quantiles(times, n=20)[18]
        report.add("search_p95_ms", p95, "at most 50", _notes(times))
        share = f"{found['text'] / 1e6:.0f} MB of text"
        report.add("index_share", found["share"], "at most 0.6", share)
        with_, without = found["write"]
        report.add(
            "index_write_ms", with_ - without, "at most 5", f"{with_:.1f} against {without:.1f}"
        )
        lists = [measure_once("list", home) for _ in range(RUNS)]
        report.add("list_5000_ms", statistics.median(lists), "at most 100", spread(lists))
    with tempfile.TemporaryDirectory() as place:
        holes = measure_once("blank", Path(place))
    note = f"{SCROLLS} random scrolls of each of {SCROLLED_CHATS} chats; {holes['first']}"
    report.add("blank_blocks", holes["blank"], "0", note)
    times = markdown_times()
    report.add("markdown_ms_per_10kb", statistics.median(times), "at most 50", _notes(times))
    beside = []
    for number in range(6):
        # in turns, A B B A, so that a drift of the machine cancels out
        order = ("beside", "alone") if number % 2 else ("alone", "beside")
        with tempfile.TemporaryDirectory() as place:
            found = {step: measure_once(step, Path(place))["speeds"] for step in order}
        beside.append(statistics.median(found["beside"]) / statistics.median(found["alone"]))
    report.add("engine_beside_window", statistics.median(beside), "at least 0.97", spread(beside))
    firsts, seconds = [], []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as place:
            firsts.append(measure_once("first", Path(place)))
            seconds.append(measure_once("second", Path(place)))
    ratios = [one["first"] / two["first"] for one, two in zip(firsts, seconds, strict=True)]
    reused = f"{seconds[0]['reused']:,} of {seconds[0]['tokens']:,} tokens reused; "
    waits = (statistics.median([one["first"] for one in each]) for each in (firsts, seconds))
    waited = " against ".join(f"{value:.2f} s" for value in waits)
    report.add(
        "pdf_second_question_speedup", statistics.median(ratios), "at least 50", reused + waited
    )
    report.write(path)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        sys.exit(child(*sys.argv[2:4]))
    main()
