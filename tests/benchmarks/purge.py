"""Words left of a chat of 4,000 that was deleted for good by a program that was killed at a random
moment of that, after the next start: in any file of the home, the index decoded."""

from __future__ import annotations

import asyncio
import random
import tempfile
from pathlib import Path

from headstart.storage.rescue import owed
from headstart.storage.rescue.owed import Owed
from tests.benchmarks.report import Report, json_path
from tests.support.purging import kill_at, prepare, start_again, words_left

KILLS, SPAN = 30, 0.12


def main() -> None:
    path = json_path(__doc__ or "")
    rng = random.Random(17)
    left = cut = before = 0
    for number in range(KILLS):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            words, _ = prepare(folder, rng.randrange(1 << 30))
            done = kill_at(folder, rng.uniform(0, SPAN))
            begun = owed.load(folder / "headstart.db") != Owed()
            cut += begun
            if asyncio.run(start_again(folder)):
                left += sum(words_left(folder, words).values())
            else:
                # nothing had been removed, and the chat is in the trash
                before += 1
            print(f"  {number + 1}: {'done' if done else 'cut' if begun else 'before'}", flush=True)
    report = Report("deleted for good")
    note = f"{KILLS} kills: {cut} in the middle, {before} before it began"
    report.add("purge_words_left", left, "0", note)
    report.write(path)


if __name__ == "__main__":
    main()
