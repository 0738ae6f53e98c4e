"""Everything that may go wrong, by the hundred: `python -m tests.faults --json FILE [KIND ...]`.

One table: tried, survived, characters that had been committed, and characters lost. A KIND is
"kills", "surroundings", "database", "hostile", "borders", "monkey", "soak" or "hangs"; without one
all of them are run, which takes about two hours on 2 cores. With "hangs" the file has
`starts_after_a_hang` too: the share of starts that began everything but what hung.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import qasync

from headstart.launch import make_application
from tests.faults import borders, database, hostile, kills, monkey, soak, surroundings
from tests.faults.outcome import Outcome, Row
from tests.support.hangs import KINDS as KINDS_THAT_BEGIN
from tests.support.hangs import starts_after_a_hang

# of each kind of it
KILLS, SURROUNDINGS, DAMAGES, INPUTS, TURNS = 35, 20, 500, 40, 2_000
# of a quarter of an hour each
MONKEYS = 1

Rows = Iterator[tuple[str, Row]]


def _kills() -> Rows:
    for kind in kills.KINDS:
        yield f"killed while {kind}", kills.run(kind, KILLS, 1, print)


def _surroundings() -> Rows:
    disks = surroundings.mounts_allowed()
    with tempfile.TemporaryDirectory() as place:
        sample = surroundings.make_sample(Path(place, "sample"))
        for kind in surroundings.FAULTS:
            if kind in surroundings.DISK and not disks:
                print(f"{kind}: not tried, a small disk can only be made as root")
                continue
            yield kind.replace("_", " "), surroundings.run(sample, kind, SURROUNDINGS, 1, print)


def _database() -> Rows:
    with tempfile.TemporaryDirectory() as place:
        table = asyncio.run(database.run(DAMAGES, Path(place)))
    for kind, found in table.items():
        bad = found["refused"] + found["silent"]
        yield f"database: {kind}", Row(found["damages"], found["damages"] - bad, 0, found["lost"])


def _hostile() -> Rows:
    make_application()
    for kind in hostile.KINDS:
        yield f"hostile {kind}", hostile.run(kind, INPUTS, 1, print)


def _borders() -> Rows:
    for kind, attempt in borders.KINDS.items():
        yield kind, attempt(INPUTS, print)


def _monkey() -> Rows:
    for seed in range(MONKEYS):
        yield f"a monkey at the window, {seed + 1}", monkey.run(monkey.SECONDS, seed, print)


def _hangs() -> Rows:
    for kind in KINDS_THAT_BEGIN:
        row = Row()
        with tempfile.TemporaryDirectory() as place:
            why = starts_after_a_hang(kind, Path(place))
        row.add(Outcome(not why, 0, 0, why), print)
        yield f"started after a hang: {kind}", row


def _soak() -> Rows:
    loop = qasync.QEventLoop(make_application())
    asyncio.set_event_loop(loop)
    with loop:
        # closed: its threads end with it, and not with the program
        soaked = loop.run_until_complete(soak.run(TURNS, 1, print))
    asyncio.set_event_loop(None)
    print(
        f"soak: {soaked.turns:,} turns, {soaked.stopped} replies stopped; after the warm-up memory "
        f"{soaked.growth:+.1%}, files {soaked.grew(lambda one: one.files):+}, threads "
        f"{soaked.grew(lambda one: one.threads):+}, sequences "
        f"{soaked.grew(lambda one: one.sequences):+}"
    )
    yield "turns of a soak", Row(soaked.turns, soaked.turns - len(soaked.failed))


KINDS: dict[str, Callable[[], Rows]] = {
    "kills": _kills,
    "surroundings": _surroundings,
    "database": _database,
    "hostile": _hostile,
    "borders": _borders,
    "monkey": _monkey,
    "soak": _soak,
    "hangs": _hangs,
}


def _shares(rows: dict[str, Row]) -> dict[str, dict[str, float]]:
    """By kind of what begins by itself, the share of starts after its hang that went well."""
    begins = "started after a hang: "
    found = {
        name.removeprefix(begins): row.survived / row.tried
        for name, row in rows.items()
        if name.startswith(begins)
    }
    return {"starts_after_a_hang": found} if found else {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    rows: dict[str, Row] = {}
    for kind in options.kinds or KINDS:
        began = time.monotonic()
        rows |= dict(KINDS[kind]())
        print(f"{kind}: {time.monotonic() - began:.0f} s", flush=True)
    total = Row()
    for row in rows.values():
        total.join(row)
    print(f"\n{platform.platform()}, {time.strftime('%Y-%m-%d')}")
    print(f"{'':<34}{'tried':>8}{'survived':>10}{'committed':>13}{'text lost':>11}")
    for name, row in {**rows, "all": total}.items():
        print(f"{name:<34}{row.tried:>8,}{row.survived:>10,}{row.committed:>13,}{row.lost:>11,}")
    if options.json is not None:
        figures = {name: [row.tried, row.survived, row.committed, row.lost]
                   for name, row in rows.items()}  # fmt: skip
        options.json.write_text(
            json.dumps({**figures, **_shares(rows)}, indent=1) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
