"""The collector of cycles rests while the program starts, and works after it."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator

import pytest

from headstart.core import collecting


@pytest.fixture(autouse=True)
def collects_again() -> Iterator[None]:
    gc.enable()
    yield
    gc.enable()
    gc.unfreeze()


def test_it_rests_and_works_again() -> None:
    collecting.rest()
    assert not gc.isenabled()
    frozen = gc.get_freeze_count()
    collecting.resume()
    assert gc.isenabled()
    assert gc.get_freeze_count() > frozen


def test_garbage_made_later_is_collected() -> None:
    collecting.rest()
    collecting.resume()
    circle: list[object] = []
    circle.append(circle)
    del circle
    assert gc.collect() >= 1


def test_a_second_end_changes_nothing() -> None:
    """A start ends in its window, and once more when it returns."""
    gc.unfreeze()
    collecting.resume()
    assert gc.get_freeze_count() == 0


def test_it_works_in_whoever_imports_the_program() -> None:
    code = "import gc, headstart.launch; assert gc.isenabled(); assert gc.get_freeze_count()"
    subprocess.run([sys.executable, "-c", code], check=True)
