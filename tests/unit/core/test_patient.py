"""A file that another program reads for a moment is replaced and removed all the same."""

from __future__ import annotations

import ast
import time
from pathlib import Path

import pytest

from headstart.core import patient

APP = Path(__file__).resolve().parents[3] / "app" / "headstart"


def held(number: int) -> OSError:
    """The error of a file that is open, as Windows has it."""
    error = PermissionError(13, "Permission denied")
    error.winerror = number  # type: ignore[attr-defined]
    return error


class Reader:
    """Has a file open for so many tries."""

    def __init__(self, tries: int, number: int = 32) -> None:
        self.left, self.number, self.done = tries, number, 0

    def __call__(self) -> None:
        if self.left:
            self.left -= 1
            raise held(self.number)
        self.done += 1


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)


@pytest.mark.parametrize("number", [5, 32, 33])
def test_it_is_tried_again_until_the_reader_has_gone(tmp_path: Path, number: int) -> None:
    reader = Reader(7, number)
    patient.tried(reader, tmp_path / "a", windows=True)
    assert reader.done == 1


def test_one_that_stays_is_told(tmp_path: Path) -> None:
    now = iter(range(100))
    reader = Reader(1000)
    with pytest.raises(PermissionError):
        patient.tried(reader, tmp_path / "a", windows=True, clock=lambda: float(next(now)))
    assert reader.left > 990


@pytest.mark.parametrize("error", [FileNotFoundError(2, "gone"), OSError(28, "full"), held(112)])
def test_other_problems_are_told_at_once(tmp_path: Path, error: OSError) -> None:
    tries = 0

    def act() -> None:
        nonlocal tries
        tries += 1
        raise error

    with pytest.raises(OSError, match=error.strerror or ""):
        patient.tried(act, tmp_path / "a", windows=True)
    assert tries == 1


def test_other_systems_wait_for_nobody(tmp_path: Path) -> None:
    with pytest.raises(PermissionError):
        patient.tried(Reader(1), tmp_path / "a", windows=False)


def test_a_read_only_target_is_replaced(tmp_path: Path) -> None:
    """Windows refuses it; here the mark is taken away all the same."""
    target = tmp_path / "a"
    target.write_text("old")
    target.chmod(0o444)

    def act() -> None:
        if not target.stat().st_mode & 0o200:
            raise held(5)

    patient.tried(act, target, windows=True)


def test_files_are_replaced_and_removed(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    new.write_text("new")
    old.write_text("old")
    patient.replace(new, old)
    assert old.read_text() == "new"
    patient.remove(old)
    patient.remove(old)
    with pytest.raises(FileNotFoundError):
        patient.remove(old, missing_ok=False)


def test_every_place_is_patient() -> None:
    found = []
    for path in sorted(APP.rglob("*.py")):
        if path.name == "patient.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            owner = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
            # texts are replaced with two arguments, values of structs by their names
            replaces = node.func.attr == "replace" and len(node.args) == 1 and not node.keywords
            of_system = owner == "os" and node.func.attr in ("replace", "remove", "unlink")
            impatient = replaces or of_system or node.func.attr == "unlink"
            if impatient and owner != "patient":
                found.append(f"{path.relative_to(APP)}:{node.lineno}")
    assert found == []
