"""An import that is killed: whole chats or nothing, and the next one goes on."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headstart.home import Home
from tests.support.large_export import write_export

CHATS, SIZE = 1_500, 12_000_000
# messages of a chat that has no second version of a reply
QUERY = """
SELECT chats.id, chats.title, chats.shown, count(messages.id) AS messages,
    (SELECT count(*) FROM parts JOIN messages m ON m.id = parts.message_id
     WHERE m.chat_id = chats.id) AS parts
FROM chats LEFT JOIN messages ON messages.chat_id = chats.id GROUP BY chats.id
"""


def command(home: Home, source: Path) -> list[str]:
    return [sys.executable, "-m", "headstart", "--home", str(home.path), "import", str(source)]


def contents(home: Home) -> dict[str, tuple[int, int, int]]:
    """By chat: messages on show, all of them, their parts."""
    if not home.database.exists():
        return {}
    with sqlite3.connect(home.database) as connection:
        try:
            found = connection.execute(QUERY).fetchall()
        except sqlite3.OperationalError:
            # killed before there were tables
            return {}
    return {row[0]: (row[2], row[3], row[4]) for row in found}


@pytest.mark.parametrize("kills", [4, pytest.param(40, marks=pytest.mark.proof)])
def test_a_killed_import_leaves_whole_chats(kills: int, tmp_path: Path) -> None:
    source = tmp_path / "conversations.json"
    write_export(source, CHATS, SIZE)
    whole = Home(tmp_path / "whole")
    subprocess.run(command(whole, source), check=True, capture_output=True, timeout=120)
    expected = contents(whole)
    assert len(expected) == CHATS
    rng = random.Random(7)
    home = Home(tmp_path / "killed")
    stopped_inside = 0
    for number in range(kills):
        if number % 8 == 0:
            # each time further, then from the beginning again
            home = Home(tmp_path / f"killed-{number}")
        before = len(contents(home))
        program = subprocess.Popen(command(home, source), stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.5, 2.2))
        program.kill()
        program.wait()
        found = contents(home)
        assert len(found) >= before
        assert all(expected[chat] == counts for chat, counts in found.items())
        stopped_inside += 0 < len(found) < CHATS
    assert stopped_inside
    result = subprocess.run(
        command(home, source), check=True, capture_output=True, text=True, timeout=120
    )
    assert contents(home) == expected
    assert f"{len(expected):,}" in result.stdout or "here already" in result.stdout
    assert not list(home.temporary.glob("*")) or len(list(home.temporary.glob("*"))) <= kills
