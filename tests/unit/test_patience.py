"""Tests wait for events, with one patience for all of them, and measure nothing."""

from __future__ import annotations

import ast
import importlib
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.conftest import TEST_SECONDS
from tests.support.patience import LIMITS, PATIENCE, until, wait_for

TESTS = Path(__file__).parents[1]
FOLDERS = ("unit", "ui", "e2e", "packages", "support", "models")
# methods and functions whose first or second argument is a number of seconds to wait at most
_WAITS = {"wait", "join", "wait_for", "wait_until", "until", "result", "communicate"}
_CLOCKS = {"monotonic", "perf_counter", "time"}
# what a limit of the program is about: the limit is given to it, and is what is tested
ALLOWED = {
    # a server's silence that the program ends
    "unit/engine/test_remote_problems.py: timeout=1",
    # a long count, in `make proof` only
    "unit/extraction/test_reading.py: timeout(1800)",
    # a rate that a slow computer keeps as well
    "unit/hub/test_download_cases.py: a time is asserted",
}


def found_in(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            name = node.func.id if isinstance(node.func, ast.Name) else name
            for keyword in node.keywords:
                if keyword.arg == "timeout" and (numbers := _numbers([keyword.value])):
                    yield node.lineno, f"timeout={numbers[0]}"
            numbers = _numbers(node.args[:2])
            if numbers and name in {*_WAITS, "timeout", "waitUntil", "waitSignal"}:
                yield node.lineno, f"{name}({numbers[0]})"
        elif isinstance(node, ast.Assert):
            # a lower limit holds on any computer
            for one in ast.walk(node.test):
                if isinstance(one, ast.Compare) and _is_upper(one):
                    yield node.lineno, "a time is asserted"


def _numbers(nodes: Sequence[ast.expr]) -> list[float]:
    values = [one.value for one in nodes if isinstance(one, ast.Constant)]
    return [one for one in values if isinstance(one, int | float) and not isinstance(one, bool)]


def _is_upper(compare: ast.Compare) -> bool:
    """True for a clock's reading that has to be less than something."""
    sides = [compare.left, *compare.comparators]
    for number, operator in enumerate(compare.ops):
        left, right = sides[number], sides[number + 1]
        less = isinstance(operator, ast.Lt | ast.LtE)
        if less and _reads_clock(left) and not isinstance(right, ast.Name):
            return True
        if isinstance(operator, ast.Gt | ast.GtE) and _reads_clock(right):
            return True
    return False


def _reads_clock(node: ast.expr) -> bool:
    return any(
        isinstance(one, ast.Call)
        and isinstance(one.func, ast.Attribute)
        and one.func.attr in _CLOCKS
        and isinstance(one.func.value, ast.Name)
        and one.func.value.id == "time"
        for one in ast.walk(node)
    )


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_test_has_a_patience_of_its_own(folder: str) -> None:
    wrong = []
    for path in sorted((TESTS / folder).rglob("*.py")):
        name = path.relative_to(TESTS).as_posix()
        for line, what in found_in(path):
            if f"{name}: {what}" not in ALLOWED:
                wrong.append(f"{name}:{line}: {what}")
    assert wrong == []


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("event.wait(5)", 1),
        ("event.wait(PATIENCE)", 0),
        ("until(lambda: x, 60)", 1),
        ("run(command, timeout=120)", 1),
        ("assert time.monotonic() - began < 2", 1),
        ("assert 2 > time.perf_counter() - began", 1),
        ("assert time.monotonic() - began > 0.5", 0),
    ],
)
def test_what_the_rule_finds(tmp_path: Path, line: str, count: int) -> None:
    (tmp_path / "one.py").write_text(line)
    assert len(list(found_in(tmp_path / "one.py"))) == count


@pytest.mark.parametrize("name", LIMITS)
def test_the_program_is_not_hurried_in_tests(name: str) -> None:
    module, _dot, constant = name.rpartition(".")
    assert getattr(importlib.import_module(module), constant) == PATIENCE


def test_a_hang_ends_after_the_patience_and_says_where() -> None:
    project = tomllib.loads((TESTS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    options = project["tool"]["pytest"]["ini_options"]
    limits = [PATIENCE, TEST_SECONDS, options["timeout"], options["faulthandler_timeout"]]
    assert limits == sorted(set(limits))


async def test_both_waits_end_with_the_event() -> None:
    left = [1, 2, 3]
    assert wait_for(lambda: not left or left.pop() == 1)
    left = [1, 2, 3]
    await until(lambda: not left or left.pop() == 1)
    assert left == []
