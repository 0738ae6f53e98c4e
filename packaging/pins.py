"""Pinned packages that are not installed here, against the Pythons that the set-up runs on.

Those are for packaging and for other systems, so no metadata of theirs lies on this computer; pip
asks the package index which of their versions fit. Without a connection it says so and goes on.
`tests/unit/test_pins.py` reads the metadata of those that are installed.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pythons

ROOT = Path(__file__).resolve().parent.parent
# a package may have files for one of these only
SYSTEMS = ("", "win_amd64", "macosx_14_0_arm64")
_SECONDS = 60


def absent() -> dict[str, str]:
    """Names and versions."""
    found = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        name, equal, version = line.partition("==")
        if not equal:
            continue
        try:
            distribution(name)
        except PackageNotFoundError:
            found[name] = version
    return found


def offered(name: str, python: str, system: str) -> set[str]:
    """The versions with a wheel for this Python and system; none as well where nobody answers."""
    command = [
        sys.executable, "-m", "pip", "--disable-pip-version-check", "index", "versions", name,
        "--only-binary", ":all:", "--python-version", python,
        *(["--platform", system] if system else []),
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return set()
    listed = re.search(r"^Available versions: (.+)$", done.stdout, re.MULTILINE)
    return {one.strip() for one in listed[1].split(",")} if listed is not None else set()


def refused(pins: Iterable[tuple[str, str]], python: str) -> list[str] | None:
    """The pins that no system can have with this Python; None where the index did not answer."""
    bad = []
    for name, version in pins:
        versions: set[str] = set()
        for system in SYSTEMS:
            versions |= offered(name, python, system)
            if version in versions:
                break
        else:
            if not versions:
                return None
            bad.append(f"{name} {version}")
    return bad


def main() -> int:
    pins = absent()
    bad = False
    for version in (pythons.OLDEST, pythons.NEWEST):
        python = ".".join(map(str, version))
        found = refused(pins.items(), python)
        if found is None:
            print(
                "Pins for other systems not asked for: no package index can be reached from here."
            )
            return 0
        for one in found:
            print(f"{one} has nothing for Python {python}")
        bad |= bool(found)
    if bad:
        print("Pin the newest version that each of these Pythons has.")
    else:
        print(f"{len(pins)} pins that are not installed here fit {pythons.WANTED}.")
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
