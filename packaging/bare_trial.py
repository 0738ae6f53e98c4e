"""Tries the README's own lines on bare Debians: `make bare-trial`.

Makes a bare Debian 12 and a Debian 13 under build/bare with debootstrap, puts a clone of what is
committed here into each, and runs `packaging/readme_lines.sh` there: as root, and as a user who
gets the command that the set-up names. Mounts and processes are of a namespace and end with it.
Standard library only; needs root, debootstrap, and room on the disk.

    make bare-trial                             # all, some three hours on 2 cores
    make bare-trial ONLY="debian12-root:run"    # one release, account and target
    make bare-trial ARGS="--again --cached"     # in the systems that are there, with kept downloads
"""

from __future__ import annotations

import argparse
import itertools
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import bare

PLACE, RELEASES = bare.PLACE, bare.RELEASES
ACCOUNTS = ("root", "user")
TARGETS = ("run", "test")
_STEP = re.compile(r"^bare: (.+): (ok|failed) in (\d+) s$", re.MULTILINE)
_USER = "someone"


class Row(NamedTuple):
    """One line of the table: the name of the system, its account, the step and its outcome."""

    release: str
    account: str
    step: str
    outcome: str
    seconds: int


def chosen(only: list[str]) -> dict[tuple[str, str], list[str]]:
    """Targets by release and account, for words such as debian12, debian12-root, debian13-user:run.

    Raises ValueError for one that means nothing.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for word in only or RELEASES:
        match = re.fullmatch(r"([a-z0-9]+)(?:-([a-z]+))?(?::([a-z]+))?", word)
        if match is None:
            raise ValueError(word)
        release, account, target = match.groups()
        if (
            release not in RELEASES
            or account not in (None, *ACCOUNTS)
            or target not in (None, *TARGETS)
        ):
            raise ValueError(word)
        for one in [account] if account else ACCOUNTS:
            targets = found.setdefault((release, one), [])
            targets += [each for each in ([target] if target else TARGETS) if each not in targets]
    return {key: sorted(each, key=TARGETS.index) for key, each in found.items()}


def ready(release: str, account: str, again: bool) -> Path:
    """A system with a clean clone of what is committed here; the one that is there if `again`."""
    system = PLACE / f"{release}-{account}"
    if again and system.exists():
        return system
    bare.copied(release, system)
    bare.clone(system / _home(account) / "headstart")
    return system


def kept(release: str, account: str) -> Path:
    """Downloads and compiled wheels from one trial to the next, owned by the account."""
    folder = PLACE / f"{release}-cache"
    folder.mkdir(parents=True, exist_ok=True)
    # the first user of a bare Debian; pip does not read a cache of somebody else's
    owner = "0:0" if account == "root" else "1000:1000"
    subprocess.run(["chown", "-R", owner, str(folder)], check=True)
    return folder


def tried(release: str, account: str, targets: list[str], again: bool, cached: bool) -> list[Row]:
    """Run the README's lines in a system; a row for each step."""
    system = ready(release, account, again)
    name = f"{release}-{account}"
    print(f"bare: {name}: {', '.join(f'make {one}' for one in targets)}", flush=True)
    script = f"/{_home(account)}/headstart/packaging/readme_lines.sh"
    inside = ["sh", script, "root" if account == "root" else _USER, *targets]
    folders = {kept(release, account): f"{_home(account)}/.cache"} if cached else {}
    log = PLACE / f"{name}.log"
    began = time.monotonic()
    with log.open("w") as out:
        code = bare.run(system, inside, bare.environment(system), out, folders)
    said = log.read_text(errors="replace")
    rows = [
        Row(release, account, step, outcome, int(seconds))
        for step, outcome, seconds in _STEP.findall(said)
    ]
    if code and not any(row.outcome == "failed" for row in rows):
        last = said.strip().splitlines()[-1:] or ["nothing was printed"]
        rows.append(Row(release, account, last[0], "failed", int(time.monotonic() - began)))
    for row in rows:
        print(f"bare: {name}: {row.step}: {row.outcome} in {row.seconds} s", flush=True)
    if code:
        print("\n".join(f"    {line}" for line in said.splitlines()[-25:]))
        print(f"bare: all of it is in {log.relative_to(bare.ROOT)}", flush=True)
    return rows


def table(rows: list[Row]) -> str:
    width = max((len(row.step) for row in rows), default=4)
    lines = [f"{'system':<14} {'step':<{width}} {'outcome':<8} seconds"]
    for (release, account), group in itertools.groupby(rows, lambda row: row[:2]):
        lines += [
            f"{f'{release}-{account}':<14} {row.step:<{width}} {row.outcome:<8} {row.seconds:>7}"
            for row in group
        ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="make bare-trial")
    parser.add_argument(
        "only", nargs="*", help="such as debian12, debian12-root, debian13-user:run"
    )
    parser.add_argument("--again", action="store_true", help="in the systems that are there")
    parser.add_argument("--cached", action="store_true", help="keep downloads and compiled wheels")
    parser.add_argument(
        "--where-possible", action="store_true", help="say so and succeed where it is not"
    )
    options = parser.parse_args()
    try:
        wanted = chosen(options.only)
    except ValueError as problem:
        parser.error(
            f"{problem} is none of {', '.join(RELEASES)} with -root or -user, :run or :test"
        )
    lacks = bare.missing()
    if lacks:
        print(f"Not tried on bare Debians: this needs {', '.join(lacks)}.")
        return 0 if options.where_possible else 1
    PLACE.mkdir(parents=True, exist_ok=True)
    if bare.changed():
        print("bare: what is not committed here is not tried", flush=True)
    rows: list[Row] = []
    for (release, account), targets in wanted.items():
        rows += tried(release, account, targets, options.again, options.cached)
    print(table(rows))
    return int(any(row.outcome == "failed" for row in rows))


def _home(account: str) -> str:
    """The account's home, without the slash in front."""
    return "root" if account == "root" else f"home/{_USER}"


if __name__ == "__main__":
    sys.exit(main())
