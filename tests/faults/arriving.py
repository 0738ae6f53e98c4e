"""Kills while something comes in from outside: an import, a download."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from headstart.home import Home
from tests.faults.outcome import Outcome, sound
from tests.support.hub_server import HubServer, Repo
from tests.support.large_export import write_export

CHATS, SIZE = 1_500, 12_000_000
MODEL = random.Random(3).randbytes(24 << 20)
REPO = "maker/model-GGUF"
# what may be on its way through the network when the program is killed
IN_FLIGHT = 8 << 20
_CONTENTS = """
SELECT chats.id, chats.shown, count(DISTINCT messages.id), count(parts.message_id),
    coalesce(sum(length(parts.text)), 0)
FROM chats LEFT JOIN messages ON messages.chat_id = chats.id
LEFT JOIN parts ON parts.message_id = messages.id GROUP BY chats.id
"""
# by chat: messages on show, all of them, their parts, their characters
Contents = dict[str, tuple[int, int, int, int]]


@dataclass(frozen=True, slots=True)
class Source:
    """An export, and what a home holds that took it undisturbed."""

    path: Path
    expected: Contents


def make_source(folder: Path) -> Source:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "conversations.json"
    write_export(path, CHATS, SIZE)
    whole = Home(folder / "whole")
    subprocess.run(_import(whole, path), check=True, capture_output=True, timeout=120)
    expected = contents(whole)
    assert len(expected) == CHATS
    return Source(path, expected)


def _import(home: Home, source: Path) -> list[str]:
    return [sys.executable, "-m", "headstart", "--home", str(home.path), "import", str(source)]


def contents(home: Home) -> Contents:
    if not home.database.exists():
        return {}
    with closing(sqlite3.connect(home.database)) as connection:
        try:
            found = connection.execute(_CONTENTS).fetchall()
        except sqlite3.OperationalError:
            # killed before there were tables
            return {}
    return {row[0]: tuple(row[1:]) for row in found}


def importing(source: Source, folder: Path, random_: random.Random) -> Outcome:
    """Whole chats or nothing after each of some kills; the last import takes the rest."""
    home = Home(folder)
    committed: Contents = {}
    lost = 0
    kills = random_.choice((1, 2, 3))
    for number in range(kills):
        child = subprocess.Popen(_import(home, source.path), stderr=subprocess.DEVNULL)
        if number == kills - 1:
            # the others may come before anything is there
            _await_chats(home)
        time.sleep(random_.uniform(0.0, 2.2))
        child.kill()
        child.wait()
        found = contents(home)
        lost += sum(row[-1] for chat, row in committed.items() if found.get(chat) != row)
        if any(source.expected[chat] != row for chat, row in found.items()):
            return Outcome(False, _size(found), lost, "a chat is there in part")
        committed = found
    last = subprocess.run(_import(home, source.path), capture_output=True, text=True, timeout=120)
    if last.returncode or contents(home) != source.expected:
        return Outcome(False, _size(committed), lost, last.stdout + last.stderr)
    return Outcome(sound(folder), _size(committed), lost)


def _await_chats(home: Home) -> None:
    """Return when the first chats are there; a busy computer takes its time for a start."""
    until = time.monotonic() + 30
    while not contents(home) and time.monotonic() < until:
        time.sleep(0.02)


def _size(found: Contents) -> int:
    return sum(row[-1] for row in found.values())


@contextmanager
def hub() -> Iterator[HubServer]:
    server = HubServer({REPO: Repo({"model-Q4_K_M.gguf": MODEL})})
    try:
        yield server
    finally:
        server.close()


def downloading(server: HubServer, folder: Path, random_: random.Random) -> Outcome:
    """What had arrived is not fetched again; the file is what the hub has."""
    command = [sys.executable, "-m", "tests.support.download_child", server.endpoint]
    command += [str(folder), REPO]
    server.rate, server.sent = 20e6, 0
    kills = random_.choice((1, 2, 3))
    for _ in range(kills):
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(random_.uniform(0.0, 0.5))
        child.kill()
        child.communicate()
    arrived, server.rate = server.sent, 0
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    said = done.stdout.split()
    path = Path(said[-1]) if said else folder
    twice = max(0, server.sent - len(MODEL) - kills * IN_FLIGHT)
    whole = path.is_file() and path.read_bytes() == MODEL and not done.returncode
    left = list(folder.rglob("*.incomplete"))
    why = "" if whole and not left else f"{done.stdout} {done.stderr} {left}"
    outcome = Outcome(whole and not left, min(arrived, len(MODEL)), twice, why)
    shutil.rmtree(folder / "cache", ignore_errors=True)
    return outcome
