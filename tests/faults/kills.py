"""kill -9 at random moments: what was committed is there, and the home opens.

`python -m tests.faults.kills --count 40 --json FILE`: so many kills of each kind. The child says
what it committed; whatever it had said must be in a message of the home that is opened again.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from headstart.core.errors import EnvironmentProblem
from headstart.core.parts import TextPart
from headstart.core.values import Message
from headstart.storage.worker import Storage
from tests.faults.worker import QUESTIONS, ask, open_storage, prefix_engine

OLD = Path(__file__).parents[1] / "fixtures" / "databases"
# seconds from the beginning of the work to the last moment of a kill
SPAN = {"writing": 0.6, "streaming": 0.6, "migrating": 0.25, "saving": 4.0}


@dataclass(frozen=True, slots=True)
class Outcome:
    """`committed`: characters that the child had said; `lost`: those of them that are not there any
    more."""

    survived: bool
    committed: int
    lost: int
    why: str = ""


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
    return Outcome(_sound(folder), size, lost)


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


def replies_with_nothing_saved(folder: Path) -> list[str]:
    """What the questions are answered with where nothing is kept."""
    replies = []
    for number in range(len(QUESTIONS)):
        own = folder / str(number)
        own.mkdir(parents=True)
        engine = prefix_engine(own)
        replies.append(ask(engine, number).text)
        engine.stop()
    return replies


def _sound(folder: Path) -> bool:
    connection = sqlite3.connect(folder / "headstart.db")
    try:
        return bool(connection.execute("PRAGMA integrity_check").fetchone() == ("ok",))
    finally:
        connection.close()


def _old_database(folder: Path, random_: random.Random) -> list[str]:
    """A database of a released schema; the texts in it."""
    source = random_.choice(sorted(OLD.glob("*.sql")))
    folder.mkdir(parents=True)
    connection = sqlite3.connect(folder / "headstart.db")
    connection.executescript(source.read_text(encoding="utf-8"))
    connection.close()
    return ["Tell me about rivers.", "Rivers flow.", "And lakes?"]


def attempt(kind: str, folder: Path, random_: random.Random, expected: Sequence[str]) -> Outcome:
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


def run(kinds: Sequence[str], count: int, seed: int, tell: Callable[[str], None]) -> dict[str, int]:
    figures: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as place:
        for kind in kinds:
            random_ = random.Random(f"{kind} {seed}")
            survived = committed = lost = 0
            saving = kind == "saving"
            expected = replies_with_nothing_saved(Path(place, "expected")) if saving else []
            for number in range(count):
                folder = Path(place, kind, str(number))
                outcome = attempt(kind, folder, random_, expected)
                survived += outcome.survived
                committed += outcome.committed
                lost += outcome.lost
                if outcome.why or outcome.lost or not outcome.survived:
                    tell(f"{kind} {number}: {outcome}")
                shutil.rmtree(folder)
            figures |= {
                f"kill_{kind}_tried": count,
                f"kill_{kind}_survived": survived,
                f"kill_{kind}_committed": committed,
                f"kill_{kind}_lost": lost,
            }
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    figures = run(list(SPAN), options.count, options.seed, print)
    names = ("tried", "survived", "committed", "lost")
    print(
        f"\n{'killed while':<14}"
        + "".join(f"{name:>11}" for name in names)
        + "  (characters; of saved state, tokens reused)"
    )
    for kind in SPAN:
        print(f"{kind:<14}" + "".join(f"{figures[f'kill_{kind}_{name}']:>11,}" for name in names))
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
