"""What nobody expected is shown once, with details to copy, and the window goes on."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from headstart.ui.kit.error_window import ErrorWindow
from headstart.ui.shell.unexpected import MOST_SHOWN, Unexpected
from tests.conftest import until

pytestmark = pytest.mark.logs("unexpected")


@pytest.fixture
def parent(qapp: object) -> Iterator[QWidget]:
    widget = QWidget()
    yield widget
    widget.deleteLater()


def _shown(parent: QWidget) -> list[ErrorWindow]:
    return parent.findChildren(ErrorWindow)


async def test_an_exception_of_the_event_loop_is_shown_with_its_trace(parent: QWidget) -> None:
    unexpected = Unexpected(parent)
    unexpected.watch(asyncio.get_running_loop())
    try:

        def fail() -> None:
            raise ZeroDivisionError("the harbour")

        asyncio.get_running_loop().call_soon(fail)
        await until(lambda: _shown(parent))
    finally:
        unexpected.end()
        asyncio.get_running_loop().set_exception_handler(None)
    (window,) = _shown(parent)
    details = window.details.toPlainText()
    assert "ZeroDivisionError: the harbour" in details
    assert "in fail" in details
    assert details.startswith("Headstart ")
    window.copy.click()
    assert QGuiApplication.clipboard().text() == details
    window.close()


async def test_an_exception_of_a_thread_is_shown(parent: QWidget) -> None:
    unexpected = Unexpected(parent)
    unexpected.watch(asyncio.get_running_loop())
    before = threading.excepthook
    try:
        error = ValueError("in a thread")
        threading.excepthook(
            threading.ExceptHookArgs((ValueError, error, None, threading.current_thread()))
        )
        await until(lambda: _shown(parent))
    finally:
        unexpected.end()
        asyncio.get_running_loop().set_exception_handler(None)
    assert "in a thread" in _shown(parent)[0].details.toPlainText()
    assert threading.excepthook is not before


async def test_the_same_is_shown_once_and_many_are_not_all_shown(parent: QWidget) -> None:
    unexpected = Unexpected(parent)
    for _ in range(5):
        unexpected.show("It happened.", "trace\nValueError: one")
    assert len(_shown(parent)) == 1
    for number in range(9):
        unexpected.show("It happened.", f"trace\nValueError: {number}")
    assert len(_shown(parent)) == MOST_SHOWN


async def test_an_interrupt_is_no_error(
    parent: QWidget, capsys: pytest.CaptureFixture[str]
) -> None:
    unexpected = Unexpected(parent)
    unexpected.watch(asyncio.get_running_loop())
    try:
        sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    finally:
        unexpected.end()
        asyncio.get_running_loop().set_exception_handler(None)
    await asyncio.sleep(0.05)
    assert not _shown(parent)
