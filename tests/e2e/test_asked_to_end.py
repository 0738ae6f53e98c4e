"""The end of a session, and Ctrl+C: the program ends as when its window is closed."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from headstart.home import Home
from headstart.storage.adapters.starts import StartsFile
from headstart.ui.shell.asked_to_end import when_asked_to_end
from tests.conftest import until
from tests.e2e.write_until_ended import QUESTION
from tests.support.patience import PATIENCE


@pytest.mark.skipif(sys.platform == "win32", reason="Windows closes windows instead")
async def test_the_end_begins_in_the_event_loop_where_no_lock_is_held(qapp: QApplication) -> None:
    """A handler that ended the program itself stood still for ever, now and then: it came while the
    same thread gave work to another one."""
    ended: list[str] = []
    before = signal.getsignal(signal.SIGTERM)
    with when_asked_to_end(lambda: ended.append("end")):
        os.kill(os.getpid(), signal.SIGTERM)
        # Python's handler runs here
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
        assert ended == []
        await until(lambda: ended == ["end"])
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.skipif(sys.platform == "win32", reason="Windows closes windows instead")
def test_what_is_written_then_is_kept_and_nothing_is_called_a_crash(home: Home) -> None:
    program = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("write_until_ended.py")), str(home.path)],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert program.stdout is not None
    with program, program.stdout:
        try:
            assert program.stdout.readline() == "writing\n"
            program.send_signal(signal.SIGTERM)
            assert program.wait(PATIENCE) == 0
        finally:
            program.kill()
    # the next start is an ordinary one
    assert not StartsFile(home.starts).begin()
    with sqlite3.connect(home.database) as database:
        texts = [text for (text,) in database.execute("SELECT text FROM parts ORDER BY rowid")]
        unsent = [text for (text,) in database.execute("SELECT text FROM unsent")]
    database.close()
    assert texts[0] == QUESTION
    assert len(texts[1]) > 20
    assert unsent == ["not sent yet"]
