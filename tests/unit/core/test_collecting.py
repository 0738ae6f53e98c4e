"""The collector of cycles rests while the program starts, and works on the main thread after it."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from headstart.core import collecting
from headstart.ui.kit.collector import CycleCollector


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.enable()
    yield
    gc.unfreeze()
    if not enabled:
        gc.disable()


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


class Round:
    """Garbage that only the collector finds."""

    def __init__(self) -> None:
        self.itself = self


def test_steps_collect_every_generation_and_old_ones_seldom() -> None:
    now = [0.0]
    steps, gone = collecting.Steps(lambda: now[0]), list[float]()
    gc.disable()
    gc.collect()
    kept = Round()
    # it is old before it is garbage
    gc.collect(0)
    gc.collect(1)
    weakref.finalize(kept, lambda: gone.append(now[0]))
    del kept
    for _ in range(2_000):
        now[0] += 1.0
        made = [[number] for number in range(1_000)]
        steps.step()
        del made
        if gone:
            break
    assert gone
    assert not gc.isenabled()


def test_few_objects_are_not_looked_for() -> None:
    gc.disable()
    gc.collect()
    before = gc.get_stats()[0]["collections"]
    collecting.Steps().step()
    assert gc.get_stats()[0]["collections"] == before


async def test_no_thread_collects_what_is_the_windows(qapp: QApplication, qtbot: QtBot) -> None:
    """Beside a thread that makes many objects, the window collects its own garbage."""
    parent, threads, kept = QObject(), set[int](), list[list[int]]()
    CycleCollector(parent)

    def make() -> None:
        kept.extend([number] for number in range(200_000))

    def forget(widget: QWidget) -> None:
        weakref.finalize(widget, lambda: threads.add(threading.get_ident()))
        widget.itself = widget  # type: ignore[attr-defined]

    for _ in range(50):
        forget(QWidget())
    worker = threading.Thread(target=make)
    worker.start()
    worker.join()
    assert not threads
    qtbot.waitUntil(lambda: bool(threads))
    assert threads == {threading.get_ident()}
    parent.deleteLater()
