"""kill -9 at random moments: what was committed is there, and the home opens.

A child says what it committed; whatever it had said must be in a message of the home that is opened
again.
"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from headstart.core.chats.parts import TextPart
from headstart.core.chats.values import Message
from headstart.core.errors import EnvironmentProblem
from headstart.storage.worker import Storage
from tests.faults.arriving import downloading, hub, importing, make_source
from tests.faults.outcome import Outcome, Row, sound
from tests.faults.worker import QUESTIONS, ask, open_storage, prefix_engine, shallow_model

OLD = Path(__file__).parents[1] / "fixtures" / "databases"
# seconds from the beginning of a worker's job to the last moment of a kill
SPAN = {"writing": 0.6, "streaming": 0.6, "migrating": 0.25, "saving": 4.0}
KINDS = (*SPAN, "importing", "downloading")


def killed(kind: str, folder: Path, random_: random.Random) -> list[str]:
    """What the child had committed when it was killed."""
    command = [sys.executable, "-m", "tests.faults.worker", kind, str(folder)]
    seed = str(random_.randrange(1 << 30))
    with subprocess.Popen([*command, seed], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(random_.uniform(0.0, SPAN[kind]))
        child.kill()
        said = child.stdout.read().split("\n")
    # the last line may be cut
    return [json.loads(line) for line in said[:-1] if line]


async def texts_in(folder: Path) -> list[str]:
    """Of all messages, on whatever branch."""
    storage = open_storage(folder)
    try:
        await storage.ready()
        ids = await storage.run(lambda store: [chat.id for chat in store.chats.summaries()])
        found: list[str] = []
        for chat_id in ids:
            for message in await _branch(storage, chat_id):
                texts = [part.text for part in message.parts if isinstance(part, TextPart)]
                found.append("".join(texts))
        return found
    finally:
        storage.close()


async def _branch(storage: Storage, chat_id: str) -> list[Message]:
    return await storage.run(lambda store: store.messages.branch(chat_id))


def check(folder: Path, committed: Sequence[str]) -> Outcome:
    size = sum(map(len, committed))
    try:
        found = asyncio.run(texts_in(folder))
    except EnvironmentProblem as problem:
        return Outcome(False, size, size, str(problem))
    there = "\0".join(found)
    lost = sum(len(text) for text in committed if text not in there)
    return Outcome(sound(folder), size, lost)


def check_saved(folder: Path, expected: Sequence[str]) -> Outcome:
    """What was saved of KV state gives the same replies as none of it, or is a miss."""
    engine = prefix_engine(folder)
    try:
        answers = [ask(engine, number) for number in range(len(QUESTIONS))]
    finally:
        engine.stop()
    texts = [answer.text for answer in answers]
    # tokens that did not have to be prefilled stand for what was committed
    reused = sum(answer.reused for answer in answers)
    return Outcome(texts == list(expected), reused, 0)


def replies_with_nothing_saved(place: Path) -> list[str]:
    """What the questions are answered with where nothing is kept."""
    replies = []
    for number in range(len(QUESTIONS)):
        own = place / f"expected-{number}"
        own.mkdir()
        engine = prefix_engine(own)
        replies.append(ask(engine, number).text)
        engine.stop()
    return replies


def _old_database(folder: Path, random_: random.Random) -> list[str]:
    """A database of a released schema; the texts in it."""
    source = random_.choice(sorted(OLD.glob("*.sql")))
    folder.mkdir(parents=True)
    connection = sqlite3.connect(folder / "headstart.db")
    connection.executescript(source.read_text(encoding="utf-8"))
    connection.close()
    return ["Tell me about rivers.", "Rivers flow.", "And lakes?"]


def attempt(kind: str, expected: Sequence[str], folder: Path, random_: random.Random) -> Outcome:
    """One home, killed once or twice before it is looked at."""
    committed = _old_database(folder, random_) if kind == "migrating" else []
    for _ in range(random_.choice((1, 1, 2))):
        committed += killed(kind, folder, random_)
    if kind == "saving":
        return check_saved(folder, expected)
    outcome = check(folder, committed)
    if outcome.survived and not outcome.lost:
        # and once more, as people do
        return check(folder, committed)
    return outcome


@contextmanager
def attempts(kind: str, place: Path) -> Iterator[Callable[[Path, random.Random], Outcome]]:
    """What kills once, with whatever all attempts of a kind need."""
    if kind == "importing":
        yield partial(importing, make_source(place / "source"))
    elif kind == "downloading":
        with hub() as server:
            yield partial(downloading, server)
    else:
        expected: list[str] = []
        if kind == "saving":
            shallow_model(place)
            expected = replies_with_nothing_saved(place)
        yield partial(attempt, kind, expected)


def run(kind: str, count: int, seed: int, tell: Callable[[str], None]) -> Row:
    row, random_ = Row(), random.Random(f"{kind} {seed}")
    with tempfile.TemporaryDirectory() as place, attempts(kind, Path(place)) as once:
        for number in range(count):
            folder = Path(place, str(number))
            row.add(once(folder, random_), lambda why, number=number: tell(f"{number}: {why}"))  # type: ignore[misc]
            shutil.rmtree(folder, ignore_errors=True)
    return row
