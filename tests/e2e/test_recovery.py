"""kill -9 at random moments: the app opens, the words are there up to the journal's last write.

The journal is written more than once a second; how long a write takes is the computer's affair."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headstart.chat.reply import JOURNAL_SECONDS
from headstart.core.chats.parts import OriginRun, TextPart
from headstart.core.chats.values import MessageStatus
from headstart.core.settings.schema import SamplingChoice
from headstart.home import Home
from tests.conftest import OpenApp, until
from tests.e2e.stream_and_print import QUESTION
from tests.support.driver import ask, branch, reply_done, stored_chat, use_sampling

pytestmark = pytest.mark.usefixtures("shallow_starter")

Printed = list[dict[str, str]]  # what the writer told, line by line

# in each run of the test; in proof
FEW_MOMENTS, MOMENTS = 2, 20


def _kill_after(home: Home, seconds: float, event: str = "begun") -> Printed:
    """Run the writer, kill it `seconds` after its first `event` (begun, text, stored); returns what
    it printed."""
    printed: Printed = []
    with subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.stream_and_print", str(home.path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    ) as child:
        assert child.stdout is not None
        # a text that is not only spaces
        while not any(event in one and (one[event].strip() or event == "begun") for one in printed):
            printed.append(json.loads(child.stdout.readline()))
        time.sleep(seconds)
        child.send_signal(signal.SIGKILL)
        for line in child.stdout.read().splitlines():
            try:
                printed.append(json.loads(line))
            except json.JSONDecodeError:
                break  # the last line was cut by the kill
    return printed


def _last(printed: Printed, event: str) -> str:
    return next((one[event] for one in reversed(printed) if event in one), "")


async def _is_whole(running: OpenApp, home: Home, printed: Printed) -> str:
    """Open the home again and check it; returns the interrupted text ("" when none was)."""
    async with running(home) as app:
        chats = app.window.sidebar.model.chat_ids()
        if not chats:
            assert not _last(printed, "text")
            return ""
        app.controllers.branch.open_chat(chats[0])
        await until(lambda: stored_chat(app) == chats[0])
        await app.controllers.settle()
        question, reply = await branch(app)
        assert question.text == QUESTION
        assert reply.status is MessageStatus.INTERRUPTED
        full = _last(printed, "text")
        assert reply.text.startswith(_last(printed, "stored"))
        # the journal may be ahead of what reached the pipe, never different
        assert reply.text.startswith(full) or full.startswith(reply.text)
        return reply.text


def _sound(home: Home) -> None:
    connection = sqlite3.connect(home.database)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.execute("SELECT count(*) FROM journal").fetchone() == (0,)
    finally:
        connection.close()


async def _kill_many(running: OpenApp, tmp_path: Path, moments: int, seed: int) -> None:
    randomness = random.Random(seed)
    with_text = 0
    for number in range(moments):
        home = Home(tmp_path / f"home-{number}")
        # early moments hit the transaction of the words and the loading of the model
        if number % 4 == 0:
            printed = _kill_after(home, randomness.uniform(0.0, 0.8))
        else:
            printed = _kill_after(home, randomness.uniform(0.0, 2.5), "stored")
            with_text += 1
        text = await _is_whole(running, home, printed)
        _sound(home)
        assert text or number % 4 == 0
    assert with_text


def test_the_journal_is_written_more_than_once_a_second() -> None:
    assert JOURNAL_SECONDS < 0.8


async def test_a_kill_at_random_moments_loses_nothing_that_is_stored(
    running: OpenApp, tmp_path: Path
) -> None:
    await _kill_many(running, tmp_path, FEW_MOMENTS, seed=11)


@pytest.mark.proof
async def test_kill_at_many_more_random_moments(running: OpenApp, tmp_path: Path) -> None:
    for seed in range(5):
        (tmp_path / str(seed)).mkdir()
        await _kill_many(running, tmp_path / str(seed), MOMENTS, seed)


async def test_an_interrupted_reply_is_marked_and_can_be_continued(
    running: OpenApp, tmp_path: Path
) -> None:
    home = Home(tmp_path / "home")
    _kill_after(home, 1.0, "stored")
    async with running(home) as app:
        app.controllers.branch.open_chat(app.window.sidebar.model.chat_ids()[0])
        await until(lambda: stored_chat(app) is not None)
        await app.controllers.settle()
        reply = (await branch(app))[-1]
        assert reply.text
        widget = app.window.transcript.widget_of(reply.id)
        assert widget is not None
        assert "Interrupted" in widget.status_label.text()
        use_sampling(app, SamplingChoice(temperature=0.0, max_tokens=12))
        widget.foot.buttons["message.continue"].click()
        await until(lambda: app.controllers.reply.writing)
        longer = await reply_done(app)
        assert longer.text.startswith(reply.text)
        assert len(longer.text) > len(reply.text)
        assert longer.status is not MessageStatus.INTERRUPTED


async def test_a_kill_while_continuing_keeps_both_halves(running: OpenApp, home: Home) -> None:
    async with running() as app:
        use_sampling(app, SamplingChoice(temperature=0.0, max_tokens=10))
        reply = await ask(app, "Tell me of the sea.")
        more = TextPart(" and more", (OriginRun(9, reply.parts[0].origins[0].origin),))
        # what a continue does before a kill: open again, journal
        await app.storage.run(lambda store: store.messages.reopen(reply.id))
        await app.storage.run(lambda store: store.messages.journal(reply.id, [more]))
        chat_id = stored_chat(app)
    async with running() as app:
        messages = await app.services.branches.whole(chat_id or "")
        assert messages[-1].text == reply.text + " and more"
        assert messages[-1].status is MessageStatus.INTERRUPTED
