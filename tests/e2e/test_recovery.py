"""kill -9 at random moments: the app opens, the words are there up to the last second."""

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

from headstart.core.chats.parts import OriginRun, TextPart
from headstart.core.chats.values import MessageStatus
from headstart.core.settings.schema import SamplingChoice
from headstart.home import Home
from tests.conftest import OpenApp, until
from tests.e2e.stream_and_print import QUESTION
from tests.support.driver import ask, branch, reply_done, stored_chat, use_sampling

pytestmark = pytest.mark.usefixtures("shallow_starter")

Printed = list[tuple[float, str]]  # when, and all text so far

# in each run of the test; in proof
FEW_MOMENTS, MOMENTS = 2, 20
# what may be missing: a second, and what was printed while the signal was on its way
LOST_SECONDS = 1.0


def _kill_after(home: Home, seconds: float, words: bool = False) -> tuple[float, Printed]:
    """Run the writer, kill it `seconds` after it sent, or after its first `words`; returns the
    moment and what it printed."""
    printed: Printed = []
    with subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.stream_and_print", str(home.path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    ) as child:
        assert child.stdout is not None
        started = json.loads(child.stdout.readline())
        while words:
            started = json.loads(child.stdout.readline())
            words = not started["text"].strip()
        time.sleep(max(0.0, started["at"] + seconds - time.monotonic()))
        killed_at = time.monotonic()
        child.send_signal(signal.SIGKILL)
        for line in child.stdout.read().splitlines():
            try:
                event = json.loads(line)
            except json.JSONDecodeError:
                break  # the last line was cut by the kill
            printed.append((event["at"], event["text"]))
    return killed_at, printed


async def _is_whole(running: OpenApp, home: Home, killed_at: float, printed: Printed) -> str:
    """Open the home again and check it; returns the interrupted text ("" when none was)."""
    async with running(home) as app:
        chats = app.window.sidebar.model.chat_ids()
        if not chats:
            assert not printed
            return ""
        app.controllers.branch.open_chat(chats[0])
        await until(lambda: stored_chat(app) == chats[0])
        await app.controllers.settle()
        question, reply = await branch(app)
        assert question.text == QUESTION
        assert reply.status is MessageStatus.INTERRUPTED
        full = printed[-1][1] if printed else ""
        safe = [text for at, text in printed if at <= killed_at - LOST_SECONDS]
        if safe:
            assert reply.text.startswith(safe[-1])
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
        late = number % 4 != 0
        seconds = randomness.uniform(1.2, 3.5) if late else randomness.uniform(0.0, 0.8)
        killed_at, printed = _kill_after(home, seconds)
        text = await _is_whole(running, home, killed_at, printed)
        _sound(home)
        with_text += bool(text)
    assert with_text >= moments // 3


@pytest.mark.timeout(240)
async def test_kill_at_random_moments_loses_at_most_a_second(
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
    _kill_after(home, 2.0, words=True)
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
